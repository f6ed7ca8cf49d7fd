"""``up``, ``down``, ``reindex``, ``status``, ``token`` and ``destroy``: the local cloud's whole life."""

from __future__ import annotations

import shlex
import sys
import textwrap
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from infra.bundling import BundlingError, build
from infra.local import deploying, emulator, handbook, unprivileged
from infra.local.choices import Choices, choices
from infra.local.console import say, step
from infra.local.emulator import Emulator
from infra.local.errors import AnswerError, DeployError, LocalCloudError, NotRunningError
from infra.local.postgres import EmbeddedPostgres
from infra.local.services import Api, Aws, drained, fill_secret, reindex, wait_until_drained
from infra.local.state import DEFAULT_FOLDER, Cloud, Deployment, Stack, State, free_ports, is_free
from infra.lockfile import LockError
from infra.model import ModelError
from infra.options import Target
from infra.sign_in import SignInError, id_token

REINDEX_SECONDS = 3600.0
NOT_RUNNING = "The local stack is not running: make up"
USER = "you@example.com"
"""Whom `up` signs in where the API wants a token."""
EXAMPLE = "CONTRIBUTING.md"  # to upload; not the README, whose examples would become answerable


def up(state: State, environment: Mapping[str, str], *, secure: bool = False) -> None:
    """Starts what isn't running, deploys what changed, loads the handbook, asks, and says how to go on.

    ``secure``: IAM is enforced, everything goes over TLS, and the API wants a token. Raises LocalCloudError.
    """
    began = time.monotonic()
    deploying.require_node()
    chosen = choices(environment, secure=secure)
    with state.alone():
        _prepare(chosen)
        running = _start(state, secure=secure)
        deployment, deployed = _deploy(state, running, chosen)
        stack = _describe(state, running, deployment)
        aws, api = Aws(stack), Api(stack)
        for output, key in chosen.keys.items():
            fill_secret(aws, deployment.outputs[output], key)
        _load(aws, api, deployment, deployed=deployed)
        failure = _ask(api)
    _say_how_to_go_on(stack, state)
    say(f"\nUp in {time.monotonic() - began:.0f} s.")
    if failure:
        raise AnswerError(f"The stack is up, but the question was not answered: {failure}\nLog: {state.functions_log}")


def down(state: State) -> None:
    """Stops everything; what the bucket and the index hold stays in the state folder. Raises LocalCloudError."""
    with state.alone():
        stopped = emulator.stop(state)
        cloud = state.cloud()
        postgres = EmbeddedPostgres.running(state.postgres, password=cloud.postgres_password if cloud else None)
        if postgres is not None:
            postgres.stop()
        state.forget_deployment()
        state.forget_stack()
    if stopped or postgres is not None:
        say(f"Stopped. Bucket and index are kept in {_short(state.folder)}.")
    else:
        say("Nothing was running.")


def destroy(state: State) -> None:
    """Has CloudFormation delete the stack, as its removal policies say, and goes on running. Raises LocalCloudError."""
    with state.alone():
        running = emulator.running(state)
        if running is None or state.deployment() is None:
            raise NotRunningError(NOT_RUNNING)
        with step("Deleting the stack"):
            deploying.destroy(running, state=state)
        state.forget_deployment()
        state.forget_stack()


def print_token(state: State) -> None:
    """Signs in anew and prints the token, good for an hour. Raises LocalCloudError."""
    aws, _, _ = _attach(state)
    if aws.stack.token is None:
        raise LocalCloudError("The API asks for no token: it does after `up --secure`.")
    print(aws.stack.token)


def reindex_all(state: State) -> None:
    """Has ingest look at everything the bucket holds, and waits for it. Raises LocalCloudError."""
    with state.alone():
        aws, _, deployment = _attach(state)
        with step("Indexing what the bucket holds"):
            count = reindex(aws, deployment)
            done = wait_until_drained(aws, deployment, seconds=REINDEX_SECONDS)
        if not done:
            raise LocalCloudError(f"Indexing still goes on after {REINDEX_SECONDS / 60:.0f} minutes; leave it at work.")
        say(f"{count} keys were looked at. What became of one: GET /documents/KEY")


def status(state: State) -> None:
    """Says what runs and where. Raises NotRunningError when the stack doesn't."""
    aws, api, deployment = _attach(state)
    say(f"API       {aws.stack.api_url} ({'healthy' if api.is_healthy() else 'not healthy'})")
    say(f"bucket    s3://{aws.stack.bucket} at {aws.stack.endpoint_url}")
    say(f"ingest    {'idle' if drained(aws, deployment) else 'at work'}")
    logs = (state.functions_log, state.emulator_log, state.deploy_log, state.postgres / "server.log")
    say(f"logs      {', '.join(map(_short, logs))}")


# --- up, step by step ------------------------------------------------------------------------------------------


def _prepare(chosen: Choices) -> None:
    with step("Preparing the emulator's environment"):
        emulator.install()
    with step("Building the functions for this machine", talks=True):
        try:
            build(
                Target.LOCAL,
                local_embedder=chosen.context.get("embedder", "local") == "local",
                local_reranker=chosen.context.get("reranker") == "local",
            )
        except (BundlingError, LockError, ModelError) as error:
            raise DeployError(str(error)) from error


def _start(state: State, *, secure: bool) -> Emulator:
    """Postgres and the emulator. Both are there, or both are started: the emulator knows the server by its port."""
    cloud = state.cloud() or Cloud.new()
    cloud.secure = secure
    state.save_cloud(cloud)
    postgres = EmbeddedPostgres.running(state.postgres)
    running = emulator.running(state)
    if postgres is not None and running is not None:
        say(f"Postgres and the AWS emulator are running, ports {postgres.port} and {running.port}.")
        return running
    emulator.stop(state)
    state.forget_deployment()
    deploying.forget_assets(state)
    for name in ("postgres_port", "emulator_port"):
        if (name == "emulator_port" or postgres is None) and not is_free(getattr(cloud, name)):
            say(f"Port {getattr(cloud, name)} is taken by something else; another one is used from now on.")
            setattr(cloud, name, free_ports(1)[0])
    state.save_cloud(cloud)
    if postgres is None:
        with step("Starting Postgres"):
            EmbeddedPostgres.start(
                unprivileged.reachable_folder(state.postgres),
                port=cloud.postgres_port,
                password=cloud.postgres_password,
                detached=True,
            )
    with step("Starting the AWS emulator"):
        return emulator.start(state, cloud)


def _deploy(state: State, running: Emulator, chosen: Choices) -> tuple[Deployment, bool]:
    """What is deployed, and whether it was deployed just now."""
    digest = deploying.digest_of(chosen.context)
    before = state.deployment()
    if before is not None and before.emulator != running.pid:
        before = None
    if before is not None and before.digest == digest:
        say("The stack is deployed as it should be.")
        return before, False
    with step("Synthesising the CDK app"):
        assembly = deploying.synthesise(chosen.context, digest=digest, state=state)
    try:
        with step("Deploying the stack"):
            deployment = deploying.deploy(assembly, digest=digest, emulator=running, state=state)
    except DeployError:
        # A failed update rolls back, and what was deployed goes on. What a failed first deploy leaves behind could
        # stand in the way of the next; the data is elsewhere.
        if before is None:
            emulator.stop(state)
        raise
    state.save_deployment(deployment)
    return deployment, True


def _describe(state: State, running: Emulator, deployment: Deployment) -> Stack:
    api_id = str(urlsplit(deployment.outputs["ApiUrl"]).hostname).split(".")[0]
    stack = Stack(
        api_url=f"{running.url}/_aws/execute-api/{api_id}",
        bucket=deployment.outputs["BucketName"],
        endpoint_url=running.url,
        ca_bundle=str(running.authority) if running.authority else None,
    )
    if "UserPoolId" in deployment.outputs:
        stack = replace(stack, token=_sign_in(Aws(stack), deployment, state))
    state.save_stack(stack)
    return stack


def _sign_in(aws: Aws, deployment: Deployment, state: State) -> str:
    cloud = state.cloud()
    assert cloud is not None  # the emulator that this deployment is in was started from it
    outputs = deployment.outputs
    try:
        return id_token(
            aws.users,
            pool=outputs["UserPoolId"],
            pool_client=outputs["UserPoolClientId"],
            email=USER,
            password=cloud.user_password,
        )
    except SignInError as error:
        raise LocalCloudError(f"Nobody could sign in to the stack's user pool: {error}") from error


def _load(aws: Aws, api: Api, deployment: Deployment, *, deployed: bool) -> None:
    with step("Loading the sample handbook"):
        if deployed:
            # Messages don't survive the emulator, so what was on its way when it ended is looked at now; and a
            # release that reads or cuts documents otherwise makes all of them stale.
            reindex(aws, deployment)
        changed = handbook.load(aws)
        idle = handbook.wait_until_ready(aws, api, deployment)
    say(f"The handbook's {len(list(handbook.pages()))} documents are ready, {len(changed)} of them new or changed.")
    if not idle:
        say("Ingest still looks at the rest of the bucket: `python -m infra.local status` tells when it is idle.")


def _ask(api: Api) -> LocalCloudError | None:
    """Shows the answer; returns why there is none."""
    try:
        with step(f"Asking: {handbook.QUESTION}"):
            answer = api.ask(handbook.QUESTION)
    except LocalCloudError as error:
        return error
    _show(answer)
    return None


def _attach(state: State) -> tuple[Aws, Api, Deployment]:
    stack, deployment = state.stack(), state.deployment()
    if stack is None or deployment is None or emulator.running(state) is None:
        raise NotRunningError(NOT_RUNNING)
    if stack.token:  # that one may have expired
        stack = replace(stack, token=_sign_in(Aws(stack), deployment, state))
    return Aws(stack), Api(stack), deployment


# --- what the person reads -------------------------------------------------------------------------------------


def _show(answer: Mapping[str, Any]) -> None:
    say()
    say(textwrap.fill(answer["answer"], width=100))
    if reason := answer.get("reason"):
        say(f"({reason})")
    say()
    for citation in answer["citations"]:
        page = f"page {citation['page']}" if citation["page"] else ""
        where = ", ".join(filter(None, (citation["source"], page, citation["section"])))
        say(f"  [{citation['n']}] {where} (score {citation['score']:.2f})")


def _say_how_to_go_on(stack: Stack, state: State) -> None:
    keys = f"AWS_ACCESS_KEY_ID={stack.access_key_id} AWS_SECRET_ACCESS_KEY={stack.secret_access_key}"
    aws = f"{_program('aws')} --endpoint-url {stack.endpoint_url} --region {stack.region}"
    curl = "curl -s"
    if stack.ca_bundle:
        authority = shlex.quote(_short(Path(stack.ca_bundle)))
        aws, curl = f"{aws} --ca-bundle {authority}", f"{curl} --cacert {authority}"
    if stack.token:
        elsewhere = "" if state.folder == DEFAULT_FOLDER else f" --state {shlex.quote(_short(state.folder))}"
        curl += f' -H "authorization: Bearer $({_program("python")} -m infra.local token{elsewhere})"'
    target = f"s3://{stack.bucket}/{EXAMPLE}"
    say("\nAsk:")
    say(f"""  {curl} {stack.api_url}/ask -d '{{"question": "How many days of leave do I get?"}}'""")
    say("Upload a file of yours (here: one of this project's own):")
    say(f"  {keys} {aws} s3 cp {EXAMPLE} {target}")
    say("See what became of it, and what was read out of it:")
    say(f"  {curl} {stack.api_url}/documents/{quote(EXAMPLE)}")
    say(f"  {curl} {stack.api_url}/documents/{quote(EXAMPLE)}/chunks")
    say(f"The same for programs: {_short(state.folder / 'stack.json')}. Stop with: make down")


def _program(name: str) -> str:
    return shlex.quote(_short(Path(sys.executable).with_name(name)))


def _short(path: Path) -> str:
    """``path`` as seen from the working directory, where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
