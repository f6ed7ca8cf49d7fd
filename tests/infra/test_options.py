"""A wrong choice fails at synth, with a message that names the key and says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from citewell.core.keys import Tenancy
from citewell.core.refusing import RefusalFit
from citewell.edges import local_embedder, local_reranker
from infra.app import check_destination
from infra.model import MODEL_SHA256, RERANKER_SHA256
from infra.options import (
    Auth,
    DatabaseClass,
    Egress,
    EmbedderChoice,
    GeneratorChoice,
    OcrChoice,
    OptionError,
    Options,
    Removal,
    RerankerChoice,
    Target,
    option_keys,
)
from tests.infra.conftest import Synthesise

_FIT = '{"model_id": "m", "coverage_weight": 0.2, "threshold": 0.4}'
HOSTED = {"embedder": "openai", "embedderModel": "m", "embedderDimensions": "8", "minScore": "0.5"}
BEDROCK = {
    **HOSTED,
    "embedder": "bedrock",
    "embedderModel": "amazon.titan-embed-text-v2:0",
    "embedderDimensions": "512",
}
COHERE = {"reranker": "cohere", "rerankerModel": "rerank-v3.5"}
CLAUDE_ON_BEDROCK = {"generator": "bedrock", "model": "eu.anthropic.claude-haiku-4-5-20251001-v1:0"}


def test_without_a_context_the_defaults_are_chosen() -> None:
    assert Options.from_context({}) == Options()


def test_cdk_json_shows_every_key_with_its_default() -> None:
    context = json.loads((Path(__file__).parents[2] / "cdk.json").read_text(encoding="utf-8"))["context"]
    ours = {key: value for key, value in context.items() if not key.startswith("@")}
    assert tuple(ours) == option_keys()
    assert Options.from_context(context) == Options()


def test_every_key_is_read() -> None:
    context = {
        "target": "local",
        "embedder": "openai",
        "embedderModel": "text-embedding-3-small",
        "embedderDimensions": "1536",
        "embedderUrl": "https://embeddings.example.com/v1/",
        "embedderSendDimensions": "true",
        "embedderBatchSize": "10",
        "embedderMaxTokens": "2048",
        "reranker": "tei",
        "rerankerModel": "bge-reranker-base",
        "rerankerUrl": "https://rerank.example.com/",
        "rerankCandidates": "30",
        "rerankSeconds": "1.5",
        "generator": "claude",
        "model": "claude-sonnet-5",
        "anthropicBaseUrl": "http://127.0.0.1:8080",
        "contact": " people@example.com ",
        "refusalFit": '{"model_id": "text-embedding-3-small", "coverage_weight": 0.2, "threshold": 0.4}',
        "minScore": "",  # instead of a fit
        "auth": "jwt",
        "allowAnonymous": "false",
        "jwtIssuer": "https://login.example.com/",
        "jwtAudience": "citewell, intranet,citewell",
        "tenantClaim": "org",
        "groupsClaim": "https://example.com/groups",
        "corsOrigins": "https://intranet.example.com,http://localhost:3000",
        "tenancy": "prefix",
        "bucketName": "company-documents",
        "ingestMemory": "3008",
        "extractSeconds": "120",
        "ocr": "tesseract",
        "ocrLanguages": "eng+deu",
        "ocrLayer": "",  # this machine brings its own
        "databaseClass": "m7g.large",
        "databaseStorage": "100",
        "databaseMultiAz": "true",
        "databaseSnapshot": "rds:citewell-2026-11-30-04-00",
        "egress": "nat",
        "alarmEmail": "operations@example.com",
        "tracing": "true",
        "logQuestions": "true",
        "replaceIndex": "true",
        "removalPolicy": "destroy",
    }
    assert tuple(context) == option_keys()
    assert Options.from_context(context) == Options(
        target=Target.LOCAL,
        embedder=EmbedderChoice.OPENAI,
        embedder_model="text-embedding-3-small",
        embedder_dimensions=1536,
        embedder_url="https://embeddings.example.com/v1",
        embedder_send_dimensions=True,
        embedder_batch_size=10,
        embedder_max_tokens=2048,
        reranker=RerankerChoice.TEI,
        reranker_model="bge-reranker-base",
        reranker_url="https://rerank.example.com",
        rerank_candidates=30,
        rerank_seconds=1.5,
        generator=GeneratorChoice.CLAUDE,
        model="claude-sonnet-5",
        anthropic_base_url="http://127.0.0.1:8080",
        contact="people@example.com",
        refusal_fit=RefusalFit("text-embedding-3-small", coverage_weight=0.2, threshold=0.4),
        auth=Auth.JWT,
        allow_anonymous=False,
        jwt_issuer="https://login.example.com/",
        jwt_audience=("citewell", "intranet"),
        tenant_claim="org",
        groups_claim="https://example.com/groups",
        cors_origins=("https://intranet.example.com", "http://localhost:3000"),
        tenancy=Tenancy.PREFIX,
        bucket_name="company-documents",
        ingest_memory=3008,
        extract_seconds=120,
        ocr=OcrChoice.TESSERACT,
        ocr_languages="eng+deu",
        database_class=DatabaseClass.M7G_LARGE,
        database_storage=100,
        database_multi_az=True,
        database_snapshot="rds:citewell-2026-11-30-04-00",
        egress=Egress.NAT,
        alarm_email="operations@example.com",
        tracing=True,
        log_questions=True,
        replace_index=True,
        removal_policy=Removal.DESTROY,
    )


def test_ocr_on_lambda_takes_a_layer_with_the_program_and_on_this_machine_none() -> None:
    layer = "arn:aws:lambda:eu-west-1:111122223333:layer:tesseract:1"
    assert Options.from_context({"ocr": "tesseract", "ocrLayer": layer}).ocr_layer == layer
    for context, message in (
        ({"ocr": "tesseract"}, "ocr=tesseract needs ocrLayer"),
        ({"ocrLayer": layer}, "ocr=none reads no pictures: leave ocrLayer out"),
        ({"ocrLanguages": "deu"}, "ocr=none reads no pictures: leave ocrLanguages out"),
        ({"ocr": "tesseract", "ocrLayer": layer, "target": "local"}, "leave ocrLayer out"),
        ({"ocr": "tesseract", "ocrLayer": "tesseract:1"}, "ocrLayer"),
        ({"ocr": "tesseract", "ocrLayer": layer, "ocrLanguages": "eng; rm"}, "ocrLanguages"),
    ):
        with pytest.raises(OptionError, match=message):
            Options.from_context(context)


def test_values_may_come_as_text_or_as_json() -> None:
    as_json = {**HOSTED, "embedderDimensions": 8, "minScore": 0.5, "replaceIndex": False}
    assert Options.from_context(as_json) == Options.from_context({**HOSTED, "replaceIndex": "false"})
    fitted = {**HOSTED, "minScore": "", "refusalFit": _FIT}
    assert Options.from_context({**fitted, "refusalFit": json.loads(_FIT)}) == Options.from_context(fitted)


def test_what_the_cdk_itself_puts_into_the_context_is_left_alone() -> None:
    context = {"@aws-cdk/core:stackRelativeExports": True, "aws:cdk:version-reporting": False}
    assert Options.from_context(context) == Options()


def test_the_index_is_made_for_the_local_embedders_own_id() -> None:
    options = Options()
    assert options.embedder_id == local_embedder.model_id(MODEL_SHA256)
    assert options.vector_dimensions == local_embedder.DIMENSIONS


def test_a_reranker_is_called_by_what_it_reports() -> None:
    assert Options().reranker_id is None
    assert Options.from_context({"reranker": "local"}).reranker_id == local_reranker.model_id(RERANKER_SHA256)
    assert Options.from_context(COHERE).reranker_id == "rerank-v3.5"


def test_the_index_is_made_for_the_hosted_embedders_model() -> None:
    options = Options.from_context(HOSTED)
    assert (options.embedder_id, options.vector_dimensions) == ("m", 8)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"embeder": "local"}, "unknown option embeder: did you mean embedder?"),
        ({"colour": "red"}, "unknown option colour: there are target, embedder, "),
        ({"target": "azure"}, "target must be one of aws, local, not 'azure'"),
        ({"embedder": "Local"}, "embedder must be one of local, openai, voyage, bedrock, not 'Local'"),
        ({"generator": "gpt"}, "generator must be one of claude, bedrock, extractive, not 'gpt'"),
        ({"tenancy": "both"}, "tenancy must be one of single, prefix, not 'both'"),
        ({"removalPolicy": "snapshot"}, "removalPolicy must be one of retain, destroy, not 'snapshot'"),
        ({"replaceIndex": "yes"}, "replaceIndex must be true or false, not 'yes'"),
        ({"minScore": "high"}, "minScore must be a number, not 'high'"),
        ({"minScore": "1.5"}, "minScore must be between -1 and 1, not 1.5"),
        ({"minScore": "nan"}, "minScore must be between -1 and 1, not nan"),
        ({**HOSTED, "embedderDimensions": "0"}, "embedderDimensions must be between 1 and 2000, not 0"),
        ({**HOSTED, "embedderDimensions": "3072"}, "embedderDimensions must be between 1 and 2000, not 3072"),
        ({**HOSTED, "embedderDimensions": "1.5"}, "embedderDimensions must be a whole number, not 1.5"),
        ({"contact": 7}, "contact must be text, not 7"),
        ({"contact": "  "}, "contact must be text, not '  '"),
        ({"embedderModel": "m"}, "embedder=local brings its own model: leave embedderModel out"),
        ({"embedderUrl": "https://e.example.com"}, "embedder=local brings its own model: leave embedderUrl out"),
        ({"embedder": "openai"}, "embedder=openai needs embedderModel"),
        ({"embedder": "openai", "embedderModel": "m"}, "embedder=openai needs embedderDimensions"),
        ({**HOSTED, "minScore": ""}, "embedder=openai needs refusalFit or minScore"),
        ({**HOSTED, "refusalFit": _FIT}, "refusalFit and minScore both say when to refuse"),
        ({"refusalFit": _FIT}, "the refusal fit was made for the embedder m, and questions are embedded by bge-"),
        ({"refusalFit": "refusal.json"}, "refusalFit: not a refusal fit"),
        ({"refusalFit": {"model_id": "m"}}, "refusalFit: not a refusal fit"),
        ({**HOSTED, "embedder": "voyage", "embedderSendDimensions": True}, "embedder=voyage always asks for"),
        ({**BEDROCK, "embedderUrl": "https://e.example.com"}, "embedder=bedrock calls Bedrock in the stack's own"),
        ({"embedderBatchSize": 8}, "embedder=local brings its own model: leave embedderBatchSize out"),
        ({**BEDROCK, "embedderModel": "m"}, "embedder=bedrock: m is no model of Amazon Bedrock"),
        (
            {**BEDROCK, "embedderModel": "cohere.command-r-v1:0"},
            "embedder=bedrock: cohere.command-r-v1:0 is no embedding",
        ),
        (
            {**BEDROCK, "embedderDimensions": "384"},
            "embedder=bedrock: amazon.titan-embed-text-v2:0 makes vectors of 256 or",
        ),
        ({"reranker": "voyage"}, "reranker must be one of none, local, cohere, jina, tei, not 'voyage'"),
        ({"rerankerModel": "m"}, "reranker=none reads nothing: leave rerankerModel out, or choose a reranker"),
        ({"rerankCandidates": 10}, "reranker=none reads nothing: leave rerankCandidates out"),
        ({"reranker": "local", "rerankerModel": "m"}, "reranker=local brings its own model: leave rerankerModel out"),
        ({"reranker": "local", "rerankerUrl": "https://r.example.com"}, "reranker=local brings its own model"),
        ({"reranker": "cohere"}, "reranker=cohere needs rerankerModel"),
        ({"reranker": "tei", "rerankerModel": "m"}, "reranker=tei needs rerankerUrl"),
        ({"reranker": "local", "rerankCandidates": "1"}, "rerankCandidates must be between 2 and 100, not 1"),
        ({"reranker": "local", "rerankSeconds": "11"}, "rerankSeconds must be between 0.1 and 10, not 11"),
        ({**COHERE, "rerankerUrl": "http://r.example.com"}, "rerankerUrl must be an https:// address"),
        ({**COHERE, "rerankerUrl": "https://localhost"}, "rerankerUrl is an address of this machine"),
        (
            {**COHERE, "egress": "none", **CLAUDE_ON_BEDROCK},
            "egress=none can't reach reranker=cohere: choose local or none",
        ),
        ({"generator": "bedrock"}, "generator=bedrock needs model"),
        ({"generator": "bedrock", "model": "claude-haiku-4-5"}, "generator=bedrock: claude-haiku-4-5 is no model of"),
        ({"generator": "bedrock", "model": "amazon.nova-pro-v1:0"}, "generator=bedrock asks Claude, which amazon.nova"),
        (
            {"generator": "bedrock", "model": "m", "anthropicBaseUrl": "https://e.example.com"},
            "generator=bedrock calls",
        ),
        ({"auth": "none"}, "auth=none lets anyone on the internet ask: say so twice, with allowAnonymous=true"),
        ({"allowAnonymous": True}, "allowAnonymous=true contradicts auth=jwt"),
        ({"auth": "iam", "allowAnonymous": True}, "allowAnonymous=true contradicts auth=iam"),
        ({"auth": "none", "allowAnonymous": True, "tenancy": "prefix"}, "tenancy=prefix with auth=none: only a token"),
        ({"auth": "none", "target": "local", "tenancy": "prefix"}, "tenancy=prefix with auth=none: only a token"),
        ({"auth": "iam", "tenancy": "prefix"}, "tenancy=prefix with auth=iam: only a token"),
        ({"auth": "iam", "jwtAudience": "a"}, "auth=iam reads no tokens: leave jwtAudience out"),
        (
            {"jwtIssuer": "https://login.example.com"},
            "jwtIssuer and jwtAudience belong together: jwtAudience is missing",
        ),
        ({"jwtAudience": "a"}, "jwtIssuer and jwtAudience belong together: jwtIssuer is missing"),
        ({"jwtIssuer": "http://login.example.com", "jwtAudience": "a"}, "jwtIssuer must be an https:// address"),
        ({"jwtAudience": "a,,b"}, "jwtAudience must be a comma separated list, not 'a,,b'"),
        ({"tenantClaim": "org"}, "tenantClaim and groupsClaim are those of another issuer's tokens: set jwtIssuer"),
        ({"tenantClaim": "a b"}, "tenantClaim must look like custom:tenant, not 'a b'"),
        ({"corsOrigins": "*"}, "corsOrigins must list origins such as https://intranet.example.com, not '*'"),
        ({"corsOrigins": "https://a.example.com/"}, "corsOrigins must list origins"),
        ({"corsOrigins": "http://a.example.com"}, "corsOrigins must list origins"),
        ({"bucketName": "arn:aws:s3:::docs"}, "bucketName must look like my-documents"),
        ({"bucketName": "10.0.0.1"}, "bucketName must look like my-documents"),
        ({"databaseClass": "db.t4g.micro"}, "databaseClass must be one of t4g.micro, "),
        *(
            (
                {"corsOrigins": origin},
                f"corsOrigins must list origins such as https://intranet.example.com, not {origin!r}",
            )
            for origin in (
                "https://*",
                "https://*.example.com",
                "https://me@a.example.com",
                "https://me:secret@a.example.com",
                "https://a.example.com:443",
                "http://localhost:80",
                "https://a.example.com:",
                "https://a.example.com:99999",
                "https://a.example.com:x",
                "https://a.example.com:0",
                "https://a.example.com:08443",
                "https://A.example.com",
                "https://a..example.com",
                "https://a b.example.com",
                "https://a.example.com?",
            )
        ),
        ({"contact": "x" * 351}, "contact must be no longer than 350 bytes, not 351"),
        ({"contact": "学" * 117}, "contact must be no longer than 350 bytes, not 351"),
        ({"anthropicBaseUrl": "https://e.example.com:99999"}, "anthropicBaseUrl must be an https:// address"),
        ({**HOSTED, "embedderUrl": "https://e.example.com:x"}, "embedderUrl must be an https:// address"),
        ({"anthropicBaseUrl": "http://localhost:1234"}, "anthropicBaseUrl is an address of this machine, which AWS"),
        ({"anthropicBaseUrl": "https://127.0.0.1"}, "anthropicBaseUrl is an address of this machine, which AWS"),
        ({**HOSTED, "embedderUrl": "http://[::1]:1234"}, "embedderUrl is an address of this machine, which AWS"),
        ({"jwtIssuer": "http://localhost:1", "jwtAudience": "a"}, "jwtIssuer is an address of this machine, which AWS"),
        *(
            (
                {"jwtIssuer": f"https://login.example.com/.well-known/openid-configuration{end}", "jwtAudience": "a"},
                "jwtIssuer is what stands before /.well-known/openid-configuration: leave that out",
            )
            for end in ("", "/")
        ),
        *(
            (
                {**HOSTED, "embedder": "voyage", "embedderDimensions": dimensions},
                "embedderDimensions must be one of 256, 512, 1024 for embedder=voyage",
            )
            for dimensions in (8, 1000, 1536)
        ),
        ({"ingestMemory": "512"}, "ingestMemory must be between 1024 and 10240, not 512"),
        ({"extractSeconds": "300"}, "extractSeconds must be between 5 and 240, not 300"),
        ({"databaseStorage": "10"}, "databaseStorage must be between 20 and 16384, not 10"),
        ({"databaseSnapshot": "2026"}, "databaseSnapshot must look like rds:citewell-2026-11-30-04-00, not '2026'"),
        ({"egress": "vpn"}, "egress must be one of ipv6, nat, none, not 'vpn'"),
        ({"egress": "none"}, "egress=none can't reach generator=claude: choose bedrock or extractive"),
        ({**HOSTED, "egress": "none", "generator": "extractive"}, "egress=none can't reach embedder=openai"),
        ({"alarmEmail": "operations"}, "alarmEmail must look like operations@example.com, not 'operations'"),
        ({"generator": "extractive", "model": "m"}, "generator=extractive calls no model: leave model out"),
    ],
    ids=str,
)
def test_a_choice_that_cannot_be_deployed_is_refused(context: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        Options.from_context(context)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("context", "egress"),
    [
        ({}, Egress.IPV6),
        ({"generator": "extractive"}, Egress.IPV6),
        ({"anthropicBaseUrl": "https://gateway.example.com"}, Egress.NAT),
        (CLAUDE_ON_BEDROCK, Egress.NAT),
        (HOSTED, Egress.NAT),
        (BEDROCK, Egress.NAT),
        ({**HOSTED, "egress": "ipv6"}, Egress.IPV6),
        ({"egress": "nat"}, Egress.NAT),
        ({**BEDROCK, "generator": "extractive", "egress": "none"}, Egress.NONE),
        ({**HOSTED, "target": "local"}, Egress.IPV6),
        ({"reranker": "local"}, Egress.IPV6),
        (COHERE, Egress.NAT),
        ({**COHERE, "egress": "ipv6"}, Egress.IPV6),
        ({"reranker": "local", "egress": "none", "generator": "extractive"}, Egress.NONE),
    ],
    ids=str,
)
def test_the_way_out_is_the_cheapest_that_is_known_to_reach_the_providers(
    context: dict[str, object], egress: Egress
) -> None:
    assert Options.from_context(context).resolved_egress is egress


def test_anyone_may_ask_when_that_was_said_twice_and_on_this_machine_when_it_was_said_once() -> None:
    assert Options.from_context({"auth": "none", "allowAnonymous": "true"}).auth is Auth.NONE
    assert Options.from_context({"auth": "none", "target": "local"}).auth is Auth.NONE


@pytest.mark.parametrize(
    "url",
    [
        "http://gateway.example.com",
        "ftp://127.0.0.1",
        "gateway.example.com",
        "https://",
        "https://user:secret@gateway.example.com",
        "https://gateway.example.com/?key=secret",
        "https://[::1",
        "https://:443",
        "https://gateway.example.com:0",
        "https://gateway.example.com:65536",
        "https://gateway.example.com:-1",
        "https://gateway.example.com:https",
        "https://gateway .example.com",
        "https://gate\nway.example.com",
    ],
)
def test_keys_and_documents_only_travel_over_tls(url: str) -> None:
    with pytest.raises(OptionError, match="anthropicBaseUrl must"):
        Options.from_context({"anthropicBaseUrl": url})


@pytest.mark.parametrize("url", ["http://localhost:1234", "http://127.0.0.1:1234/v1", "http://[::1]:1234"])
def test_a_server_on_this_machine_needs_no_tls(url: str) -> None:
    assert Options.from_context({"target": "local", "anthropicBaseUrl": url}).anthropic_base_url == url


@pytest.mark.parametrize(
    "origin",
    [
        "https://a.example.com:8443",
        "http://localhost",
        "http://localhost:3000",
        "http://[::1]:3000",
        "https://intranet",
    ],
)
def test_origins_are_taken_as_browsers_send_them(origin: str) -> None:
    assert Options.from_context({"corsOrigins": origin}).cors_origins == (origin,)


def test_a_text_may_be_as_long_as_all_of_them_together_fit_a_functions_environment() -> None:
    assert Options.from_context({"contact": "x" * 350}).contact == "x" * 350


@pytest.mark.parametrize("dimensions", [256, 512, 1024])
def test_voyage_makes_vectors_of_these_dimensions(dimensions: int) -> None:
    options = Options.from_context({**HOSTED, "embedder": "voyage", "embedderDimensions": dimensions})
    assert options.vector_dimensions == dimensions


# --- where it is deployed to ---


@pytest.mark.parametrize(
    "endpoint", [None, "", "https://sts.eu-central-1.amazonaws.com", "http://localhost.example.com:4566", "localhost"]
)
def test_a_local_stack_is_not_deployed_to_an_account(endpoint: str | None) -> None:
    environment = {} if endpoint is None else {"AWS_ENDPOINT_URL": endpoint}
    with pytest.raises(OptionError, match="target=local is for the cloud on this machine"):
        check_destination(Options(target=Target.LOCAL), environment)
    check_destination(Options(), environment)


def test_a_local_stack_is_deployed_to_this_machine() -> None:
    check_destination(Options(target=Target.LOCAL), {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})


def test_the_app_says_so_before_it_builds_anything() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    context = json.dumps({"target": "local", "auth": "none"})
    refused = subprocess.run(
        [sys.executable, "-m", "infra.app"],
        env=environment | {"CDK_CONTEXT_JSON": context},
        capture_output=True,
        text=True,
        timeout=300,  # against hanging: a busy machine takes a minute to import the CDK
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith("citewell: target=local is for the cloud on this machine")


@pytest.mark.parametrize(("chosen", "at_most"), [("20", 100), ("13107", 65_535), ("13108", 65_536), ("16384", 65_536)])
def test_storage_grows_to_five_times_what_was_chosen_but_not_beyond_what_rds_allows(
    synthesise: Synthesise, chosen: str, at_most: int
) -> None:
    _, database = synthesise(Options.from_context({"databaseStorage": chosen})).only("AWS::RDS::DBInstance")
    assert (database["AllocatedStorage"], database["MaxAllocatedStorage"]) == (chosen, at_most)
