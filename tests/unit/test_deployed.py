from __future__ import annotations

from pathlib import Path

from infra.deployed import assignments, next_steps

STACK = {"ApiUrl": "https://a1.execute-api.eu-west-1.amazonaws.com/", "BucketName": "docs"}


def test_a_stack_with_a_pool_and_a_key_takes_three_more_commands() -> None:
    stack = STACK | {"AnthropicApiKeySecretArn": "arn:aws:secretsmanager:x:y:secret:z", "UserPoolId": "p"}

    key, upload, ask = next_steps(stack)

    assert key == (
        "aws secretsmanager put-secret-value --secret-id arn:aws:secretsmanager:x:y:secret:z"
        ' --secret-string "$ANTHROPIC_API_KEY"'
    )
    assert upload == "aws s3 cp eval/handbook/expenses.md s3://docs/handbook/expenses.md"
    assert ask == (
        "curl -s https://a1.execute-api.eu-west-1.amazonaws.com/ask -H 'content-type: application/json'"
        ' -H "authorization: Bearer $(make -s token EMAIL=you@example.com)"'
        """ -d '{"question": "What is the meal limit when travelling?"}'"""
    )


def test_a_stack_without_key_and_pool_needs_neither_command() -> None:
    upload, ask = next_steps(STACK)

    assert upload.startswith("aws s3 cp ")
    assert "authorization" not in ask


def test_an_embedder_and_a_reranker_with_a_key_get_their_own() -> None:
    keys = {"EmbedderApiKeySecretArn": "arn:e", "RerankerApiKeySecretArn": "arn:r"}
    first, second, *_ = next_steps(STACK | keys)

    assert first == 'aws secretsmanager put-secret-value --secret-id arn:e --secret-string "$EMBEDDER_API_KEY"'
    assert second == 'aws secretsmanager put-secret-value --secret-id arn:r --secret-string "$RERANKER_API_KEY"'


def test_a_shell_gets_a_variable_for_each_output_that_is_there() -> None:
    stack = STACK | {"QueueUrl": "https://sqs/q", "BucketName": "a b", "Other": "x"}

    assert list(assignments(stack)) == [
        "API=https://a1.execute-api.eu-west-1.amazonaws.com",
        "BUCKET='a b'",
        "QUEUE=https://sqs/q",
    ]


def test_the_readme_shows_the_very_lines() -> None:
    stack = {
        "AnthropicApiKeySecretArn": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:Anthropic-x1",
        "BucketName": "citewell-documents-x2",
        "ApiUrl": "https://x3.execute-api.eu-west-1.amazonaws.com",
        "UserPoolId": "eu-west-1_x4",
    }
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")

    assert "".join(f"  {line}\n" for line in next_steps(stack)) in readme
