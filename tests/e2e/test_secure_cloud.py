"""The stack where IAM is enforced, everything goes over TLS and the API is for holders of a token.

The tests share one cloud, and the last one deletes its stack.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import psycopg
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from infra.local.commands import USER
from infra.local.postgres import EmbeddedPostgres
from infra.local.state import ROOT
from infra.sign_in import id_token
from tests.e2e.conftest import LocalCloud, command_after, local_cloud, paste

QUESTION = {"question": "What is the meal limit when travelling?"}
PASSWORD = "Correct-horse-battery-1"
TREE = (
    *("infra", "functions", "layers", "migrations", "eval"),
    *("cdk.json", "pyproject.toml", "requirements.lock", "package.json", "package-lock.json", "README.md"),
)


@pytest.fixture(scope="module")
def secure() -> Iterator[LocalCloud]:
    with local_cloud({"CITEWELL_REMOVAL_POLICY": "destroy"}, secure=True) as cloud:
        yield cloud


def _outputs(cloud: LocalCloud) -> dict[str, str]:
    return cloud.deployment.outputs


def _client(cloud: LocalCloud, service: str, key: str = "", secret: str = "", token: str | None = None) -> Any:
    """Of the account's root, or of who has these credentials."""
    stack = cloud.stack
    return boto3.Session(
        aws_access_key_id=key or stack.access_key_id,
        aws_secret_access_key=secret or stack.secret_access_key,
        aws_session_token=token,
        region_name=stack.region,
    ).client(  # type: ignore[call-overload]  # the service is chosen by name
        service,
        endpoint_url=stack.endpoint_url,
        verify=stack.ca_bundle,
        config=Config(retries={"total_max_attempts": 1}, proxies={}),
    )


def _token_of(cloud: LocalCloud, email: str, *, client: str | None = None) -> str:
    """Of a user, who is made when there is none of this address."""
    password = PASSWORD
    if email == USER:
        settings = cloud.state.cloud()
        assert settings is not None
        password = settings.user_password
    outputs = _outputs(cloud)
    pool_client = client or outputs["UserPoolClientId"]
    return id_token(
        cloud.aws.users, pool=outputs["UserPoolId"], pool_client=pool_client, email=email, password=password
    )


# --- who is let in -------------------------------------------------------------------------------------------------


def test_a_holder_of_a_token_uploads_and_is_answered(secure: LocalCloud) -> None:
    version = secure.upload("e2e/lighthouse.md", "# Lighthouse\n\nThe lighthouse keeper rests on the ninth of May.")
    assert secure.settled("e2e/lighthouse.md", version=version)["status"] == "READY"

    answer = secure.post("/ask", {"question": "When does the lighthouse keeper rest?"})

    assert answer.status_code == 200
    assert "ninth of May" in answer.json()["answer"]
    assert [citation["source"] for citation in answer.json()["citations"]] == ["e2e/lighthouse.md"]


def test_the_printed_lines_work_when_pasted(secure: LocalCloud) -> None:
    for line in (line.strip() for line in secure.printed.splitlines() if line.startswith("  ")):
        if line.startswith(("curl", "AWS_ACCESS_KEY_ID")):
            paste(line)
    assert "citations" in paste(command_after(secure.printed, "Ask:"))
    secure.eventually(lambda: secure.api.document("CONTRIBUTING.md"), "the file is seen by ingest")


def test_all_of_it_stands_behind_tls_alone(secure: LocalCloud) -> None:
    stack = secure.stack
    for url in (stack.api_url, stack.endpoint_url):
        assert url.startswith("https://")
        with pytest.raises(httpx.HTTPError):
            httpx.get(url.replace("https://", "http://"), trust_env=False)
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            httpx.get(url, trust_env=False)


def _decoded(part: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return value


def _encoded(value: bytes | dict[str, Any]) -> str:
    data = json.dumps(value).encode() if isinstance(value, dict) else value
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _signed_by_somebody_else(cloud: LocalCloud) -> str:
    header, claims, _ = _token_of(cloud, USER).split(".")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    signature = key.sign(f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{header}.{claims}.{_encoded(signature)}"


def _without_a_signature(cloud: LocalCloud) -> str:
    header, claims, _ = _token_of(cloud, USER).split(".")
    return f"{_encoded({**_decoded(header), 'alg': 'none'})}.{claims}."


def _with_other_claims(cloud: LocalCloud) -> str:
    header, claims, signature = _token_of(cloud, USER).split(".")
    return f"{header}.{_encoded({**_decoded(claims), 'cognito:groups': ['hr']})}.{signature}"


def _for_another_audience(cloud: LocalCloud) -> str:
    """Of the right pool, but of another of its clients."""
    made = cloud.aws.users.create_user_pool_client(
        UserPoolId=_outputs(cloud)["UserPoolId"],
        ClientName="another",
        ExplicitAuthFlows=["ALLOW_ADMIN_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"],
    )
    return _token_of(cloud, USER, client=made["UserPoolClient"]["ClientId"])


def _expired(cloud: LocalCloud) -> str:
    """Signed by the pool, for the API's client, which for a moment is one whose tokens last a second."""
    users, outputs = cloud.aws.users, _outputs(cloud)
    which = {"UserPoolId": outputs["UserPoolId"], "ClientId": outputs["UserPoolClientId"]}
    before = users.describe_user_pool_client(**which)["UserPoolClient"]
    kept = {name: before[name] for name in ("ExplicitAuthFlows", "ReadAttributes", "WriteAttributes") if name in before}
    units = {"IdToken": "seconds", "AccessToken": "seconds", "RefreshToken": "days"}
    users.update_user_pool_client(**which, **kept, IdTokenValidity=1, AccessTokenValidity=1, TokenValidityUnits=units)
    token = _token_of(cloud, USER)
    lasting = {name: before[name] for name in ("IdTokenValidity", "AccessTokenValidity", "TokenValidityUnits")}
    users.update_user_pool_client(**which, **kept, **lasting)
    time.sleep(max(0.0, _decoded(token.split(".")[1])["exp"] + 1 - time.time()))
    return token


@pytest.mark.parametrize(
    "make_token",
    [
        pytest.param(lambda _cloud: "", id="no token"),
        pytest.param(lambda _cloud: "not.a.token", id="no token at all"),
        pytest.param(_expired, id="expired"),
        pytest.param(_signed_by_somebody_else, id="foreign signature"),
        pytest.param(_without_a_signature, id="no signature"),
        pytest.param(_with_other_claims, id="changed claims"),
        pytest.param(_for_another_audience, id="wrong audience"),
    ],
)
def test_who_has_no_good_token_is_refused_everywhere(
    secure: LocalCloud, make_token: Callable[[LocalCloud], str]
) -> None:
    token = make_token(secure)

    for response in (
        secure.post("/ask", QUESTION, token=token),
        secure.post("/search", QUESTION, token=token),
        secure.get("/documents/handbook/expenses.md", token=token),
        secure.get("/health", token=token),
    ):
        assert response.status_code == 401
        assert "meal" not in response.text
    assert secure.get("/health", token=_token_of(secure, USER)).status_code == 200


def test_a_document_for_a_group_is_for_that_group_alone(secure: LocalCloud) -> None:
    users, pool = secure.aws.users, _outputs(secure)["UserPoolId"]
    _token_of(secure, "hr@example.com")  # makes the user
    users.create_group(UserPoolId=pool, GroupName="hr")
    users.admin_add_user_to_group(UserPoolId=pool, Username="hr@example.com", GroupName="hr")
    member, other = _token_of(secure, "hr@example.com"), _token_of(secure, USER)
    text = "# Salary bands\n\nSalary band seven begins at 71,300 EUR a year."
    secure.upload("e2e/salaries.md", text, groups="hr")

    def shown_to(token: str) -> bool:
        return secure.get("/documents/e2e/salaries.md", token=token).status_code == 200

    def is_ready() -> bool:
        found = secure.get("/documents/e2e/salaries.md", token=member)
        return found.status_code == 200 and found.json()["status"] == "READY"

    # The group sees the document as soon as it is known whom it is for, which is before it answers.
    secure.eventually(is_ready, "e2e/salaries.md answers the group")
    assert shown_to(member)
    question = {"question": "Where does salary band seven begin?"}
    assert "71,300" in secure.post("/ask", question, token=member).json()["answer"]
    assert not shown_to(other)
    assert "71,300" not in secure.post("/ask", question, token=other).text
    found = secure.post("/search", question, token=other).json()["passages"]
    assert "e2e/salaries.md" not in {passage["source"] for passage in found}


# --- what each role may --------------------------------------------------------------------------------------------


def _function(cloud: LocalCloud, name: str) -> dict[str, Any]:
    """The configuration of ``functions/<name>`` as it is deployed."""
    pages = cloud.aws.functions.get_paginator("list_functions").paginate()
    [found] = [
        function
        for page in pages
        for function in page["Functions"]
        if function["Handler"] == f"functions.{name}.handler.handler"
    ]
    return dict(found)


def _start_anew(cloud: LocalCloud, function: dict[str, Any]) -> None:
    """Ends the function's processes: what they hold open was opened with the rights of before."""
    cloud.aws.functions.update_function_configuration(
        FunctionName=function["FunctionName"], Environment={"Variables": function["Environment"]["Variables"]}
    )


@contextlib.contextmanager
def _without(cloud: LocalCloud, name: str, actions: set[str]) -> Iterator[None]:
    """Within the block the function's role isn't allowed ``actions``."""
    iam, function = _client(cloud, "iam"), _function(cloud, name)
    role = function["Role"].rsplit("/", 1)[-1]
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    before = {each: iam.get_role_policy(RoleName=role, PolicyName=each)["PolicyDocument"] for each in names}
    granted = 0
    for each, document in before.items():
        statements = []
        for statement in document["Statement"]:
            given = [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]
            granted += len(actions.intersection(given))
            if left := [action for action in given if action not in actions]:
                statements.append({**statement, "Action": left})
        _put(iam, role, each, {**document, "Statement": statements})
    assert granted == len(actions), f"{name} is granted {granted} of {sorted(actions)}"
    _start_anew(cloud, function)
    try:
        yield
    finally:
        for each, document in before.items():
            _put(iam, role, each, document)
        _start_anew(cloud, function)


def _put(iam: Any, role: str, name: str, document: dict[str, Any]) -> None:
    if document["Statement"]:
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
    else:
        iam.delete_role_policy(RoleName=role, PolicyName=name)


@pytest.mark.parametrize(
    ("function", "actions"),
    [
        pytest.param("ingest", {"s3:GetObject", "s3:GetObjectVersion"}, id="ingest without reading objects"),
        pytest.param("ingest", {"rds-db:connect"}, id="ingest without the database"),
        pytest.param("ingest", {"lambda:InvokeFunction"}, id="ingest without the embedder"),
    ],
)
def test_without_one_grant_of_ingest_nothing_is_indexed(
    secure: LocalCloud, function: str, actions: set[str], request: pytest.FixtureRequest
) -> None:
    key = f"e2e/{request.node.callspec.id.replace(' ', '-')}.md"
    text = f"# Grants\n\nThe grant of {sorted(actions)[0]} is what this page of {key} depends on."
    with _without(secure, function, actions):
        secure.upload(key, text)

        def failed() -> bool:
            log = secure.state.functions_log.read_text(errors="replace")
            return any(key in line and "attempt failed" in line for line in log.splitlines())

        secure.eventually(failed, f"an attempt at {key} has failed")
    assert (secure.api.document(key) or {}).get("status") != "READY"

    version = secure.upload(key, text)
    assert secure.settled(key, version=version)["status"] == "READY"


@pytest.mark.parametrize(
    ("function", "actions", "method", "path", "status"),
    [
        pytest.param("ask", {"rds-db:connect"}, "POST", "/ask", 503, id="ask without the database"),
        pytest.param("ask", {"lambda:InvokeFunction"}, "POST", "/ask", 500, id="ask without the embedder"),
        pytest.param(
            *("documents", {"rds-db:connect"}, "GET", "/documents/handbook/expenses.md", 503),
            id="documents without the database",
        ),
    ],
)
def test_without_one_grant_a_function_of_the_api_says_that_it_cannot(
    secure: LocalCloud, function: str, actions: set[str], method: str, path: str, status: int
) -> None:
    def call() -> httpx.Response:
        return secure.post(path, QUESTION) if method == "POST" else secure.get(path)

    with _without(secure, function, actions):
        refused = call()
    assert refused.status_code == status
    assert refused.headers["content-type"].startswith("application/problem+json")
    assert "rds-db" not in refused.text
    assert call().status_code == 200


def test_a_function_can_do_nothing_that_another_is_for(secure: LocalCloud) -> None:
    """The documents function's role, borrowed."""
    key, secret, token = _borrowed(secure, _function(secure, "documents")["Role"])
    master_secret = _function(secure, "migrate")["Environment"]["Variables"]["CITEWELL_DATABASE_SECRET_ARN"]
    embed = _function(secure, "embed")["FunctionName"]
    document = {"Bucket": secure.stack.bucket, "Key": "handbook/expenses.md"}

    attempts: list[tuple[Callable[[], object], str]] = [
        (lambda: _client(secure, "s3", key, secret, token).get_object(**document), "AccessDenied"),
        (
            lambda: _client(secure, "secretsmanager", key, secret, token).get_secret_value(SecretId=master_secret),
            "AccessDenied",
        ),
        (lambda: _client(secure, "lambda", key, secret, token).invoke(FunctionName=embed), "AccessDenied"),
        (lambda: _client(secure, "s3", key, "guessed", token).get_object(**document), "SignatureDoesNotMatch"),
        (lambda: _client(secure, "s3", "AKIAIOSFODNN7EXAMPLE", "guessed").get_object(**document), "InvalidAccessKeyId"),
    ]
    for attempt, code in attempts:
        with pytest.raises(ClientError, match=code):
            attempt()


def _borrowed(cloud: LocalCloud, role: str) -> tuple[str, str, str]:
    """Credentials of a function's role."""
    iam, name = _client(cloud, "iam"), role.rsplit("/", 1)[-1]
    before = iam.get_role(RoleName=name)["Role"]["AssumeRolePolicyDocument"]
    anyone = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    for_anyone = {**before, "Statement": [*before["Statement"], anyone]}
    iam.update_assume_role_policy(RoleName=name, PolicyDocument=json.dumps(for_anyone))
    try:
        given = _client(cloud, "sts").assume_role(RoleArn=role, RoleSessionName="borrowed")["Credentials"]
    finally:
        iam.update_assume_role_policy(RoleName=name, PolicyDocument=json.dumps(before))
    return given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]


# --- changing it ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _copied_tree(tmp_path: Path, *, health: str) -> Iterator[Path]:
    """The sources, with another answer of GET /health. What was bundled and installed is linked, not made again."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, tree / name)
    (tree / "node_modules").symlink_to(ROOT / "node_modules")
    (tree / "build").mkdir()
    for shared in ("emulator", "model"):
        (tree / "build" / shared).symlink_to(ROOT / "build" / shared)
    shutil.copytree(ROOT / "build/local", tree / "build/local", copy_function=os.link)
    handler = tree / "functions/documents/handler.py"
    before, after = 'respond({"status": "ok"})', f'respond({{"status": "{health}"}})'
    code = handler.read_text(encoding="utf-8")
    assert code.count(before) == 1
    handler.write_text(code.replace(before, after), encoding="utf-8")
    yield tree
    shutil.rmtree(tree)


def _health(cloud: LocalCloud) -> Any:
    return cloud.get("/health").json()["status"]


def test_a_changed_version_takes_over_and_finds_the_index(secure: LocalCloud, tmp_path: Path) -> None:
    version = secure.upload("e2e/before.md", "# Before\n\nThe heron census of spring counted 412 birds.")
    secure.settled("e2e/before.md", version=version)
    assert _health(secure) == "ok"

    with _copied_tree(tmp_path, health="changed") as tree:
        secure.up(secure.variables, sources=tree)

        assert _health(secure) == "changed"
    assert "412" in secure.post("/ask", {"question": "How many birds did the heron census count?"}).json()["answer"]
    document = secure.api.document("e2e/before.md")
    assert document is not None
    assert (document["status"], document["result"], document["embedded"]) == ("READY", "UNCHANGED", 0)


def test_a_failing_migration_says_why_and_leaves_the_old_version_answering(secure: LocalCloud, tmp_path: Path) -> None:
    secure.up(secure.variables)
    assert _health(secure) == "ok"
    deployed = secure.deployment
    number = 1 + max(int(path.name[:4]) for path in (ROOT / "migrations").glob("*.sql"))

    with _copied_tree(tmp_path, health="never to be seen") as tree:
        name = f"{number:04}_that_fails"
        (tree / f"migrations/{name}.sql").write_text("CREATE TABLE half_way (id int);\nSELECT 1 / 0;\n")
        done = secure.run("up", secure.variables, sources=tree)

    assert done.returncode == 1
    assert name in done.stderr
    assert str(secure.state.deploy_log) in done.stderr
    assert secure.deployment == deployed
    assert _health(secure) == "ok"
    assert secure.post("/ask", QUESTION).json()["citations"]
    version = secure.upload("e2e/after-the-failure.md", "# After\n\nThe otter ledger is kept in drawer thirty-one.")
    assert secure.settled("e2e/after-the-failure.md", version=version)["status"] == "READY"
    with _superuser(secure, "citewell") as connection:
        assert connection.execute("SELECT to_regclass('half_way')").fetchone() == (None,)
    # And the good version deploys again.
    assert "The stack is deployed as it should be." in secure.up(secure.variables)


@contextlib.contextmanager
def _superuser(cloud: LocalCloud, database: str) -> Iterator[psycopg.Connection[Any]]:
    settings = cloud.state.cloud()
    assert settings is not None
    server = EmbeddedPostgres.running(cloud.state.postgres, password=settings.postgres_password)
    assert server is not None
    with psycopg.connect(server.url_of(database), autocommit=True) as connection:
        yield connection


def test_destroying_the_stack_leaves_nothing(secure: LocalCloud) -> None:
    """Last in this file: there is nothing left for another test."""
    left: dict[str, Callable[[], list[Any]]] = {
        "functions": lambda: _client(secure, "lambda").list_functions()["Functions"],
        "layers": lambda: _client(secure, "lambda").list_layers()["Layers"],
        "mappings": lambda: _client(secure, "lambda").list_event_source_mappings()["EventSourceMappings"],
        "queues": lambda: _client(secure, "sqs").list_queues().get("QueueUrls", []),
        "secrets": lambda: _client(secure, "secretsmanager").list_secrets()["SecretList"],
        "databases": lambda: _client(secure, "rds").describe_db_instances()["DBInstances"],
        "APIs": lambda: _client(secure, "apigatewayv2").get_apis()["Items"],
        "user pools": lambda: _client(secure, "cognito-idp").list_user_pools(MaxResults=60)["UserPools"],
        "alarms": lambda: _client(secure, "cloudwatch").describe_alarms()["MetricAlarms"],
        "dashboards": lambda: _client(secure, "cloudwatch").list_dashboards()["DashboardEntries"],
        "buckets": lambda: _named(_client(secure, "s3").list_buckets()["Buckets"], "Name"),
        "roles": lambda: _named(_client(secure, "iam").list_roles()["Roles"], "RoleName"),
        "logs": lambda: _named(_client(secure, "logs").describe_log_groups()["logGroups"], "logGroupName"),
    }
    # Else the question would be put wrongly.
    for what in ("functions", "queues", "secrets", "databases", "APIs", "user pools", "buckets", "roles"):
        assert left[what](), what
    stack = secure.stack
    done = secure.run("destroy")

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    secure.state.save_stack(stack)  # the emulator runs on, to be looked at
    assert {what: found for what, look in left.items() if (found := look())} == {}
    with _superuser(secure, "postgres") as connection:
        query = "SELECT datname FROM pg_database WHERE starts_with(datname, 'citewell')"
        assert connection.execute(query).fetchall() == []
        query = "SELECT rolname FROM pg_roles WHERE starts_with(rolname, 'citewell')"
        assert connection.execute(query).fetchall() == []
    assert [path for path in secure.state.objects.rglob("*.md") if path.is_file()] == []
    secure.state.forget_stack()


def _named(found: list[dict[str, Any]], name: str) -> list[str]:
    """Those that belong to the stack, not to the CDK's bootstrap or the emulator."""
    return [each[name] for each in found if "citewell" in each[name].lower()]
