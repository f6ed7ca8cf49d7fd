"""The stack as it stands in the account: ``python -m infra.deployed`` prints the lines to go on with after a deploy."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping

from infra.app import STACK_NAME

QUESTION = """'{"question": "What is the meal limit when travelling?"}'"""


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
        ("AnthropicApiKeySecretArn", "$ANTHROPIC_API_KEY"),
    ):
        if output in stack:
            secret = shlex.quote(stack[output])
            yield f'aws secretsmanager put-secret-value --secret-id {secret} --secret-string "{key}"'
    yield f"aws s3 cp eval/handbook/expenses.md s3://{stack['BucketName']}/handbook/expenses.md"
    token = ' -H "authorization: Bearer $(make -s token EMAIL=you@example.com)"' if "UserPoolId" in stack else ""
    yield f"curl -s {stack['ApiUrl'].rstrip('/')}/ask -H 'content-type: application/json'{token} -d {QUESTION}"


def main() -> int:
    try:
        lines = list(next_steps(outputs()))
    except NotDeployedError as error:
        print(f"citewell: {error}", file=sys.stderr)
        return 1
    print("\nGo on with:", *lines, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
