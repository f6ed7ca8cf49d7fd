"""The stack as it stands in the account: ``python -m infra.deployed`` prints the lines to go on with after a deploy.

``eval "$(python -m infra.deployed --shell)"`` sets shell variables instead, for the commands of docs/operating.md.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping

from infra.app import STACK_NAME

QUESTION = """'{"question": "What is the meal limit when travelling?"}'"""


VARIABLES = {
    "ApiUrl": "API",
    "BucketName": "BUCKET",
    "QueueUrl": "QUEUE",
    "DeadLetterQueueUrl": "DEAD_LETTERS",
    "DatabaseInstance": "DATABASE",
    "AnthropicApiKeySecretArn": "ANTHROPIC_SECRET",
    "EmbedderApiKeySecretArn": "EMBEDDER_SECRET",
    "RerankerApiKeySecretArn": "RERANKER_SECRET",
    "UserPoolId": "USER_POOL",
    "UserPoolClientId": "USER_POOL_CLIENT",
}
"""The stack's outputs, and what shell commands call them."""


class NotDeployedError(Exception):
    """The stack can't be looked at; the message says why."""


def outputs(stack_name: str = STACK_NAME) -> dict[str, str]:
    """The stack's outputs. Raises NotDeployedError."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        [stack] = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    except (BotoCoreError, ClientError) as error:
        raise NotDeployedError(f"the stack {stack_name} can't be looked at: {error}") from error
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}


def next_steps(stack: Mapping[str, str]) -> Iterator[str]:
    """Commands to paste, in order, for a stack with these outputs."""
    for output, key in (
        ("EmbedderApiKeySecretArn", "$EMBEDDER_API_KEY"),
        ("RerankerApiKeySecretArn", "$RERANKER_API_KEY"),
        ("AnthropicApiKeySecretArn", "$ANTHROPIC_API_KEY"),
    ):
        if output in stack:
            secret = shlex.quote(stack[output])
            yield f'aws secretsmanager put-secret-value --secret-id {secret} --secret-string "{key}"'
    yield f"aws s3 cp eval/handbook/expenses.md s3://{stack['BucketName']}/handbook/expenses.md"
    token = ' -H "authorization: Bearer $(make -s token EMAIL=you@example.com)"' if "UserPoolId" in stack else ""
    yield f"curl -s {stack['ApiUrl'].rstrip('/')}/ask -H 'content-type: application/json'{token} -d {QUESTION}"


def assignments(stack: Mapping[str, str]) -> Iterator[str]:
    """Lines for a shell to evaluate, one a variable that the stack has a value for."""
    for output, variable in VARIABLES.items():
        if output in stack:
            yield f"{variable}={shlex.quote(stack[output].rstrip('/'))}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.deployed", description="Says how to go on after a deploy.")
    parser.add_argument("--shell", action="store_true", help="print variables for a shell to evaluate instead")
    shell = parser.parse_args().shell
    try:
        stack = outputs()
    except NotDeployedError as error:
        print(f"citewell: {error}", file=sys.stderr)
        return 1
    if shell:
        print(*assignments(stack), sep="\n")
    else:
        print("\nGo on with:", *next_steps(stack), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
