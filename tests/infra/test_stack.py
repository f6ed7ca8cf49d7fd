"""What must be true of the deployed resources, whatever the template looks like."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from citewell.checks import CHECK_SECONDS
from citewell.core.keys import Tenancy
from citewell.core.values import TextKind
from citewell.edges import (
    aws,
    bedrock_embedder,
    deployed_functions,
    function_embedder,
    postgres,
    postgres_chunk_store,
    retrying,
    s3_object_store,
    secrets,
)
from citewell.edges.postgres_roles import READER, WRITER
from citewell.edges.secrets import NOT_SET
from citewell.usecases.check_deployment import ATTEMPTS, BUSY_ATTEMPTS, LOOK_SECONDS, PAUSE_SECONDS
from infra.bundling import RDS_CA_PATH
from infra.capacity import capacity_of
from infra.options import Auth, DatabaseClass, Egress, EmbedderChoice, GeneratorChoice, OcrChoice, Options, Removal
from infra.verification import made_from
from tests.infra.conftest import Synthesise, SynthesiseInto, bundles_of
from tests.infra.templates import Json, Template, as_list, references

HOSTED = Options(
    embedder=EmbedderChoice.OPENAI,
    embedder_model="text-embedding-3-small",
    embedder_dimensions=1536,
    embedder_url="https://embeddings.example.com/v1",
    generator=GeneratorChoice.EXTRACTIVE,
    contact="people@example.com",
    min_score=0.42,
    tenancy=Tenancy.PREFIX,
    replace_index=True,
    removal_policy=Removal.DESTROY,
)
USES_THE_SCHEMA = ("ask", "documents", "ingest")
BOTH = pytest.mark.parametrize("options", [Options(), HOSTED], ids=["default", "hosted"])


# --- database ---


def test_the_database_is_private_encrypted_backed_up_and_demands_tls(template: Template) -> None:
    name, database = template.only("AWS::RDS::DBInstance")
    assert database["PubliclyAccessible"] is False
    assert database["StorageEncrypted"] is True
    assert database["BackupRetentionPeriod"] >= 7
    _, subnets = template.only("AWS::RDS::DBSubnetGroup")
    assert all("DatabaseSubnet" in each["Ref"] for each in subnets["SubnetIds"])
    _, parameters = template.only("AWS::RDS::DBParameterGroup")
    assert parameters["Parameters"]["rds.force_ssl"] == "1"
    assert parameters["Family"] == "postgres17"
    assert list(references(database["DBParameterGroupName"])) == list(template.of_type("AWS::RDS::DBParameterGroup"))
    assert template.resources[name]["DeletionPolicy"] == "Snapshot"


def test_the_databases_log_holds_slow_statements_with_the_request_but_no_value_and_no_row(template: Template) -> None:
    _, group = template.only("AWS::RDS::DBParameterGroup")
    assert (
        group["Parameters"].items()
        >= {
            "log_destination": "csvlog",
            "log_statement": "none",
            "log_min_duration_statement": "2000",
            "log_parameter_max_length": "0",
            "log_min_error_statement": "panic",
            "log_error_verbosity": "terse",
        }.items()
    )


def test_the_databases_size_is_chosen(synthesise: Synthesise, template: Template) -> None:
    _, small = template.only("AWS::RDS::DBInstance")
    chosen = Options(database_class=DatabaseClass.M7G_LARGE, database_storage=50, database_multi_az=True)
    _, large = synthesise(chosen).only("AWS::RDS::DBInstance")
    keys = ("DBInstanceClass", "AllocatedStorage", "MaxAllocatedStorage", "MultiAZ")
    assert [small[key] for key in keys] == ["db.t4g.micro", "20", 100, False]
    assert [large[key] for key in keys] == ["db.m7g.large", "50", 250, True]


def test_a_database_is_made_from_a_snapshot_and_otherwise_the_same(synthesise: Synthesise, template: Template) -> None:
    name, restored = synthesise(Options(database_snapshot="rds:citewell-2026-11-30-04-00")).only("AWS::RDS::DBInstance")
    same, fresh = template.only("AWS::RDS::DBInstance")
    # What a snapshot knows by itself can't be said beside it.
    told_by_the_snapshot = {"DBName", "MasterUsername", "StorageEncrypted"}
    assert name == same
    assert restored == {
        **{key: value for key, value in fresh.items() if key not in told_by_the_snapshot},
        "DBSnapshotIdentifier": "rds:citewell-2026-11-30-04-00",
    }


def test_nobody_chooses_a_password_of_the_database(template: Template) -> None:
    name, database = template.only("AWS::RDS::DBInstance")
    assert database["ManageMasterUserPassword"] is True
    assert database["EnableIAMDatabaseAuthentication"] is True
    assert "MasterUserPassword" not in database
    assert template.outputs["DatabaseSecretArn"]["Value"] == {"Fn::GetAtt": [name, "MasterUserSecret.SecretArn"]}


def test_only_the_migration_logs_in_as_the_owner(template: Template) -> None:
    users = {name: template.settings(name).database_user for name in (*USES_THE_SCHEMA, "migrate")}
    assert users == {"ask": READER, "documents": READER, "ingest": WRITER, "migrate": None}
    for name, role in users.items():
        logins = [
            statement["Resource"]
            for statement in template.statements_of(_role(template, name))
            if statement["Action"] == "rds-db:connect"
        ]
        if role is None:
            assert logins == []
            continue
        [login] = logins
        path = login["Fn::Join"][1]
        assert path[-2:] == [{"Fn::GetAtt": [*template.of_type("AWS::RDS::DBInstance"), "DbiResourceId"]}, f"/{role}"]


@BOTH
def test_every_connection_to_the_database_is_over_verified_tls(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    for name in (*USES_THE_SCHEMA, "migrate"):
        assert template.settings(name).database_ca == RDS_CA_PATH


def test_by_default_destroying_the_stack_keeps_documents_and_a_snapshot(template: Template) -> None:
    name, database = template.only("AWS::RDS::DBInstance")
    assert database["DeletionProtection"] is True
    assert template.resources[name]["DeletionPolicy"] == "Snapshot"
    [bucket] = template.of_type("AWS::S3::Bucket").values()
    assert bucket["DeletionPolicy"] == "Retain"


def test_the_removal_option_leaves_nothing(synthesise: Synthesise) -> None:
    template = synthesise(HOSTED)
    _, database = template.only("AWS::RDS::DBInstance")
    assert database["DeletionProtection"] is False
    for name, resource in template.resources.items():
        assert resource.get("DeletionPolicy", "Delete") == "Delete", name
    assert template.of_type("Custom::S3AutoDeleteObjects")


# --- bucket and queue ---


def test_the_bucket_is_versioned_encrypted_and_private(template: Template) -> None:
    _, bucket = template.only("AWS::S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4


def test_bucket_and_queues_refuse_plain_http(template: Template) -> None:
    guarded = set()
    for kind in ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy"):
        for policy in template.of_type(kind).values():
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
                if statement["Effect"] == "Deny" and _refuses_plain_http(statement):
                    guarded |= set(references(policy["Properties"].get("Queues", policy["Properties"].get("Bucket"))))
    assert guarded == template.of_type("AWS::S3::Bucket").keys() | template.of_type("AWS::SQS::Queue").keys()


def test_every_kind_of_change_to_an_object_reaches_the_queue(template: Template) -> None:
    _, notifications = template.only("Custom::S3BucketNotifications")
    configured = notifications["NotificationConfiguration"]["QueueConfigurations"]
    assert {event for each in configured for event in each["Events"]} == {
        "s3:ObjectCreated:*",
        "s3:ObjectRemoved:*",
        "s3:LifecycleExpiration:*",
    }
    assert {name for each in configured for name in references(each["QueueArn"])} == {_ingestion_queue(template)}


def test_only_our_bucket_may_send_to_the_queue(template: Template) -> None:
    [bucket] = template.of_type("AWS::S3::Bucket")
    [allowed] = [
        statement
        for policy in template.of_type("AWS::SQS::QueuePolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    assert allowed["Principal"] == {"Service": "s3.amazonaws.com"}
    assert list(references(allowed["Condition"]["ArnLike"]["aws:SourceArn"])) == [bucket]


def test_a_message_is_not_handed_out_again_while_it_is_worked_on(template: Template) -> None:
    _, ingest = template.functions()["ingest"]
    queue = template.resources[_ingestion_queue(template)]["Properties"]
    assert queue["VisibilityTimeout"] >= 6 * ingest["Timeout"]
    assert queue["SqsManagedSseEnabled"] is True


def test_ingest_knows_after_how_many_receives_a_message_is_given_up(template: Template) -> None:
    redrive = template.resources[_ingestion_queue(template)]["Properties"]["RedrivePolicy"]
    assert redrive["maxReceiveCount"] == template.settings("ingest").max_receives == 5


@pytest.mark.parametrize("memory", [1024, 1769, 10_240])
def test_what_reads_a_document_runs_out_of_memory_before_its_function_does(synthesise: Synthesise, memory: int) -> None:
    chosen = synthesise(Options(ingest_memory=memory, extract_seconds=120))
    _, ingest = chosen.functions()["ingest"]
    settings = chosen.settings("ingest")
    assert ingest["MemorySize"] == memory
    assert 256 <= settings.extract_memory_mb <= memory - 700
    assert settings.extract_seconds == 120


def test_with_ocr_ingest_has_the_layer_that_brings_tesseract(synthesise: Synthesise) -> None:
    layer = "arn:aws:lambda:eu-west-1:111122223333:layer:tesseract:1"
    chosen = synthesise(Options(ocr=OcrChoice.TESSERACT, ocr_languages="eng+deu", ocr_layer=layer))
    assert layer in chosen.functions()["ingest"][1]["Layers"]
    assert (chosen.settings("ingest").ocr, chosen.settings("ingest").ocr_languages) == ("tesseract", "eng+deu")
    assert layer not in chosen.functions()["ask"][1]["Layers"]


def test_documents_are_given_up_long_before_ingests_time_is(template: Template) -> None:
    _, ingest = template.functions()["ingest"]
    assert template.settings("ingest").extract_seconds <= ingest["Timeout"] / 5


def test_one_bad_message_does_not_fail_its_batch(template: Template) -> None:
    _, mapping = template.only("AWS::Lambda::EventSourceMapping")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert list(references(mapping["EventSourceArn"])) == [_ingestion_queue(template)]


# --- functions ---


def test_every_function_is_a_handler_that_exists(template: Template) -> None:
    assert template.functions().keys() == {"ingest", "ask", "documents", "embed", "migrate", "verify"}
    for name, (_, function) in template.functions().items():
        assert function["Handler"] == f"functions.{name}.handler.handler"
        module, attribute = function["Handler"].rsplit(".", 1)
        assert callable(getattr(importlib.import_module(module), attribute))


def test_functions_run_on_graviton_except_the_model(template: Template) -> None:
    for name, (_, function) in template.functions().items():
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["x86_64" if name in ("embed", "rerank") else "arm64"]
        for layer in function["Layers"]:
            compatible = template.resources[layer["Ref"]]["Properties"]["CompatibleArchitectures"]
            assert set(function["Architectures"]) <= set(compatible)


@BOTH
def test_every_variable_of_every_function_is_a_valid_setting(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    for name, (_, function) in template.functions().items():
        variables = function.get("Environment", {"Variables": {}})["Variables"]
        assert all(variable.startswith("CITEWELL_") for variable in variables)
        template.settings(name)  # raises for an unknown one


def test_the_stack_embeds_with_its_own_function(template: Template) -> None:
    embed, _ = template.functions()["embed"]
    assert template.settings("embed").embedder == "local"
    for name in ("ingest", "ask"):
        settings = template.settings(name)
        assert (settings.embedder, settings.embed_function) == ("function", embed)
        assert {"Ref": embed} == _variables(template, name)["CITEWELL_EMBED_FUNCTION"]


def test_options_reach_the_functions(synthesise: Synthesise) -> None:
    template = synthesise(HOSTED)
    assert "embed" not in template.functions()
    for name in ("ingest", "ask"):
        settings = template.settings(name)
        assert settings.embedder == "openai"
        assert settings.embedder_model == "text-embedding-3-small"
        assert settings.embedder_dimensions == 1536
        assert settings.embedder_url == "https://embeddings.example.com/v1"
        assert settings.embedder_api_key_secret_arn is not None
        assert settings.tenancy == "prefix"
    ask = template.settings("ask")
    assert (ask.generator, ask.contact, ask.min_score) == ("extractive", "people@example.com", 0.42)
    assert ask.anthropic_api_key_secret_arn is None


def test_what_is_away_is_reported_before_the_function_is_cut_off_and_that_before_the_gateway_gives_up(
    template: Template,
) -> None:
    asked = retrying.EMBEDDING_PATIENCE[TextKind.QUERY].seconds
    longest_waits = {
        "database": postgres.CONNECT_SECONDS + postgres_chunk_store.STATEMENT_SECONDS,
        "function": function_embedder.PATIENCE[TextKind.QUERY].seconds
        + aws.CONNECT_SECONDS
        + function_embedder.READ_SECONDS,
        "openai, voyage": asked + secrets.LONGEST_SECONDS,
        "bedrock": asked + aws.CONNECT_SECONDS + bedrock_embedder.READ_SECONDS,
    }
    for name in ("ask", "documents"):
        _, function = template.functions()[name]
        assert max(longest_waits.values()) < function["Timeout"] < 30


@pytest.mark.parametrize("database_class", [DatabaseClass.T4G_MICRO, DatabaseClass.M7G_LARGE])
def test_copies_of_the_functions_are_those_that_the_database_has_connections_for(
    database_class: DatabaseClass, synthesise: Synthesise
) -> None:
    template = synthesise(Options(database_class=database_class))
    _, mapping = template.only("AWS::Lambda::EventSourceMapping")
    functions = template.functions()
    ask, documents = (functions[name][1]["ReservedConcurrentExecutions"] for name in ("ask", "documents"))
    ingest = mapping["ScalingConfig"]["MaximumConcurrency"]
    capacity = capacity_of(database_class)
    assert (ingest, ask, documents) == (capacity.ingest, capacity.ask, capacity.documents)


@BOTH
def test_every_log_expires(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    groups = template.of_type("AWS::Logs::LogGroup")
    assert all(group["Properties"]["RetentionInDays"] == 30 for group in groups.values())
    unlogged = {
        name
        for name, function in template.of_type("AWS::Lambda::Function").items()
        if function["Properties"].get("LoggingConfig", {}).get("LogGroup", {}).get("Ref") not in groups
    }
    # The CDK's own function that empties the bucket runs once, when the stack is destroyed.
    assert all(name.startswith("CustomS3AutoDeleteObjects") for name in unlogged)
    assert not unlogged or options is HOSTED


# --- migration ---


@BOTH
def test_nothing_that_uses_the_schema_serves_before_it_is_migrated(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    schema, _ = template.only("Custom::CitewellSchema")
    for name in USES_THE_SCHEMA:
        assert schema in template.waits_for(template.functions()[name][0])
    mapping, _ = template.only("AWS::Lambda::EventSourceMapping")
    assert schema in template.waits_for(mapping)


def test_the_migration_waits_for_all_it_needs(template: Template) -> None:
    schema, _ = template.only("Custom::CitewellSchema")
    needed = template.waits_for(schema)
    for kind in (
        "AWS::RDS::DBInstance",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::Route",
        "AWS::EC2::SubnetRouteTableAssociation",
    ):
        assert template.of_type(kind).keys() <= needed, kind


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(), {"EmbedderDimensions": "384", "ReplaceIndex": "false"}),
        (
            HOSTED,
            {
                "EmbedderModel": "text-embedding-3-small",
                "EmbedderDimensions": "1536",
                "ReplaceIndex": "true",
            },
        ),
    ],
    ids=["default", "hosted"],
)
def test_the_migration_is_told_which_index_to_make(
    options: Options, expected: dict[str, str], synthesise: Synthesise
) -> None:
    _, schema = synthesise(options).only("Custom::CitewellSchema")
    assert schema["Migrations"] == "digest of functions/migrate"
    assert schema["Release"] == "digest of layers/core", "the roles' rights come with citewell itself"
    assert schema["EmbedderModel"] == options.embedder_id
    assert schema["Tenancy"] == options.tenancy
    assert expected.items() <= schema.items()


def test_a_database_from_a_snapshot_is_migrated(template: Template) -> None:
    _, schema = template.only("Custom::CitewellSchema")
    assert schema["Database"] == {"Fn::GetAtt": [*template.of_type("AWS::RDS::DBInstance"), "DbiResourceId"]}


def test_a_hung_migration_fails_the_deploy_within_minutes(template: Template) -> None:
    _, migrate = template.functions()["migrate"]
    _, schema = template.only("Custom::CitewellSchema")
    assert migrate["Timeout"] < int(schema["ServiceTimeout"]) <= 900


# --- verification ---


@BOTH
def test_the_functions_are_asked_whether_they_work_when_everything_stands(
    options: Options, synthesise: Synthesise
) -> None:
    template = synthesise(options)
    verification, asked = template.only("Custom::CitewellVerification")
    assert asked["Functions"].keys() == set(USES_THE_SCHEMA)
    needed = template.waits_for(verification)
    assert template.of_type("Custom::CitewellSchema").keys() <= needed
    for name in USES_THE_SCHEMA:
        logical_id, function = template.functions()[name]
        told = asked["Functions"][name]
        assert told["Name"] == {"Ref": logical_id}
        assert told["Settings"] == function["Environment"]["Variables"]
        assert logical_id in needed
        policies = [
            each
            for each, policy in template.of_type("AWS::IAM::Policy").items()
            if _role(template, name) in references(policy["Properties"]["Roles"])
        ]
        assert policies
        assert set(policies) <= needed


def test_they_are_asked_when_nothing_is_left_that_could_fail(synthesise: Synthesise) -> None:
    template = synthesise(Options(alarm_email="operations@example.com", tracing=True))
    verification, _ = template.only("Custom::CitewellVerification")
    needed = template.waits_for(verification) | {verification}
    later = {name: each["Type"] for name, each in template.resources.items() if name not in needed}
    assert set(later.values()) <= {"AWS::CDK::Metadata"}, later


def _asked_with(template: Template) -> Json:
    return template.only("Custom::CitewellVerification")[1]


def test_an_unchanged_deploy_asks_nobody(synthesise_into: SynthesiseInto, template: Template, tmp_path: Path) -> None:
    assert _asked_with(synthesise_into(tmp_path, Options())) == _asked_with(template)


def test_the_functions_are_asked_again_when_only_the_one_they_call_changes(
    synthesise_into: SynthesiseInto, template: Template, tmp_path: Path
) -> None:
    after = _asked_with(synthesise_into(tmp_path, Options(), changed="functions/embed"))
    assert after != _asked_with(template)
    assert after["Functions"] == _asked_with(template)["Functions"]


@pytest.mark.parametrize(
    "changed",
    [
        {"egress": Egress.NAT},
        {"auth": Auth.IAM},
        {"jwt_issuer": "https://login.example.com", "jwt_audience": ("citewell",)},
        {"tracing": True},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_functions_are_asked_again_when_an_option_changes(
    synthesise: Synthesise, template: Template, changed: dict[str, Any]
) -> None:
    assert _asked_with(synthesise(Options(**changed)))["MadeFrom"] != _asked_with(template)["MadeFrom"]


@pytest.mark.parametrize(
    "changed",
    [
        "functions/embed",
        "functions/documents",
        "functions/verify",
        "layers/parsers",
        "layers/inference",
        "layers/embedder",
        "layers/tokenizer",
    ],
)
def test_any_bundle_that_changes_makes_another_deployment(changed: str, tmp_path: Path) -> None:
    before = made_from(Options(), bundles_of(Options(), tmp_path / "before"))
    assert before == made_from(Options(), bundles_of(Options(), tmp_path / "same"))
    assert before != made_from(Options(), bundles_of(Options(), tmp_path / "after", changed=changed))


def test_a_role_that_the_infrastructures_code_gives_makes_another_deployment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "ingestion.py"
    code.write_text("allow('s3:GetObject')", encoding="utf-8")
    monkeypatch.setattr("infra.verification.INFRASTRUCTURE", (code,))
    bundles = bundles_of(Options(), tmp_path / "bundles")
    before = made_from(Options(), bundles)
    code.write_text("allow('s3:GetObject', 's3:ListBucket')", encoding="utf-8")
    assert made_from(Options(), bundles) != before


def test_every_check_is_answered_while_the_deploy_waits_for_it() -> None:
    hosted = retrying.EMBEDDING_PATIENCE[TextKind.PASSAGE].seconds + secrets.LONGEST_SECONDS
    own = function_embedder.PATIENCE[TextKind.PASSAGE].seconds + aws.CONNECT_SECONDS + function_embedder.READ_SECONDS
    bedrock = (
        retrying.EMBEDDING_PATIENCE[TextKind.PASSAGE].seconds + aws.CONNECT_SECONDS + bedrock_embedder.READ_SECONDS
    )
    bucket = 2 * s3_object_store.HASTE.longest_seconds
    database = postgres.CONNECT_SECONDS + postgres_chunk_store.STATEMENT_SECONDS
    begun = CHECK_SECONDS - LOOK_SECONDS
    assert begun + max(hosted, own, bedrock, bucket, database) < deployed_functions.READ_SECONDS


def test_a_hung_function_fails_the_deploy_within_minutes(template: Template) -> None:
    _, verify = template.functions()["verify"]
    _, verification = template.only("Custom::CitewellVerification")
    longest = len(USES_THE_SCHEMA) * deployed_functions.READ_SECONDS
    pauses = (BUSY_ATTEMPTS - 1) * PAUSE_SECONDS
    assert ATTEMPTS * longest + pauses < verify["Timeout"] < int(verification["ServiceTimeout"]) <= 900


# --- permissions ---


@BOTH
def test_no_role_may_do_everything_of_a_kind(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    for role in template.of_type("AWS::IAM::Role"):
        for statement in template.statements_of(role):
            assert not [action for action in as_list(statement["Action"]) if action == "*" or action.endswith(":*")]


NETWORK_ACTION = re.compile(r"ec2:\w+(NetworkInterfaces?|Subnets|PrivateIpAddresses)")


def test_only_lambdas_own_network_actions_have_no_resource(template: Template) -> None:
    for role in template.of_type("AWS::IAM::Role"):
        for statement in template.statements_of(role):
            if "*" in as_list(statement["Resource"]):
                assert all(
                    re.match(r"ec2:\w+(NetworkInterfaces?|Subnets|PrivateIpAddresses)$", each)
                    for each in statement["Action"]
                )


def test_every_function_has_a_role_of_its_own(template: Template) -> None:
    roles = [function["Role"]["Fn::GetAtt"][0] for _, function in template.functions().values()]
    assert len(set(roles)) == len(roles)


LOGGING = {"logs:CreateLogStream", "logs:PutLogEvents"}
QUEUE = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
}
READING = {"s3:GetBucketVersioning", "s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket"}


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("ingest", LOGGING | QUEUE | READING | {"rds-db:connect", "lambda:InvokeFunction", "sqs:SendMessage"}),
        ("ask", LOGGING | {"rds-db:connect", "secretsmanager:GetSecretValue", "lambda:InvokeFunction"}),
        ("documents", LOGGING | {"rds-db:connect"}),
        ("migrate", LOGGING | {"secretsmanager:GetSecretValue"}),
        ("verify", LOGGING | {"lambda:InvokeFunction"}),
        ("embed", LOGGING),
    ],
)
def test_a_function_may_do_what_it_does_and_no_more(name: str, allowed: set[str], template: Template) -> None:
    assert {action for action in _actions(template, name) if not action.startswith("ec2:")} == allowed


@pytest.mark.parametrize("name", ["ask", "documents", "ingest", "migrate"])
def test_a_function_reads_only_the_secrets_it_is_told_of(name: str, template: Template) -> None:
    readable = [
        reference
        for statement in template.statements_of(_role(template, name))
        if "secretsmanager:GetSecretValue" in as_list(statement["Action"])
        for reference in references(statement["Resource"])
    ]
    told = [
        reference
        for variable, value in _variables(template, name).items()
        if variable.endswith("_SECRET_ARN")
        for reference in references(value)
    ]
    assert sorted(readable) == sorted(told)


# --- secrets, outputs ---


@pytest.mark.parametrize(
    ("options", "output", "function"),
    [(Options(), "AnthropicApiKeySecretArn", "ask"), (HOSTED, "EmbedderApiKeySecretArn", "ingest")],
    ids=["claude", "hosted embedder"],
)
def test_an_api_key_is_a_secret_that_says_it_was_never_filled(
    options: Options, output: str, function: str, synthesise: Synthesise
) -> None:
    template = synthesise(options)
    [secret] = references(template.outputs[output]["Value"])
    assert template.resources[secret]["Properties"]["SecretString"] == NOT_SET
    assert {"Ref": secret} in _variables(template, function).values()


def test_there_is_no_secret_for_a_provider_that_is_not_used(synthesise: Synthesise) -> None:
    common = {"ApiUrl", "BucketName", "QueueUrl", "DeadLetterQueueUrl", "DatabaseInstance", "DatabaseSecretArn"}
    common |= {"UserPoolId", "UserPoolClientId"}
    assert synthesise(Options()).outputs.keys() == common | {"AnthropicApiKeySecretArn"}
    assert synthesise(HOSTED).outputs.keys() == common | {"EmbedderApiKeySecretArn"}


# --- the template as such ---


@BOTH
def test_the_template_is_not_circular(options: Options, synthesise: Synthesise) -> None:
    # Synth doesn't notice; CloudFormation does, at the start of a deploy.
    template = synthesise(options)
    for name in template.resources:
        assert name not in template.waits_for(name)


IGNORED_RULES = {
    "W3005": "a dependency that is also a reference: the CDK writes both",
    "W3691": "Postgres 17 without a minor version is what RDS resolves to its newest one",
}


@BOTH
def test_cfn_lint_has_nothing_to_say(options: Options, synthesise: Synthesise) -> None:
    command = [str(Path(sys.executable).with_name("cfn-lint")), "--ignore-checks", *IGNORED_RULES]
    command += ["--template", str(synthesise(options).path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (found.returncode, found.stdout) == (0, "")


def _refuses_plain_http(statement: Json) -> bool:
    return bool(statement.get("Condition", {}).get("Bool", {}).get("aws:SecureTransport") == "false")


def _ingestion_queue(template: Template) -> str:
    [name] = [
        name for name, each in template.of_type("AWS::SQS::Queue").items() if "RedrivePolicy" in each["Properties"]
    ]
    return name


def _variables(template: Template, name: str) -> Json:
    variables: Json = template.functions()[name][1]["Environment"]["Variables"]
    return variables


def _role(template: Template, name: str) -> str:
    return str(template.functions()[name][1]["Role"]["Fn::GetAtt"][0])


def _actions(template: Template, name: str) -> set[str]:
    statements = template.statements_of(_role(template, name))
    return {action for statement in statements for action in as_list(statement["Action"])}
