from __future__ import annotations

from infra.local.choices import choices


def test_nothing_set_needs_no_key() -> None:
    chosen = choices({"PATH": "/usr/bin", "ANTHROPIC_API_KEY": " "})

    assert chosen.context == {"target": "local", "auth": "none", "generator": "extractive"}
    assert chosen.keys == {}


def test_a_key_chooses_claude_and_stands_in_no_option() -> None:
    chosen = choices({"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"})

    assert chosen.context == {
        "target": "local",
        "auth": "none",
        "generator": "claude",
        "anthropicBaseUrl": "http://127.0.0.1:8080",
    }
    assert chosen.keys == {"AnthropicApiKeySecretArn": "sk-test"}
    assert "sk-test" not in repr(chosen)


def test_options_of_claude_are_left_out_without_its_key() -> None:
    chosen = choices({"ANTHROPIC_BASE_URL": "https://gateway.example", "CITEWELL_MODEL": "claude-haiku-4-5"})

    assert chosen.context == {"target": "local", "auth": "none", "generator": "extractive"}


def test_an_openai_compatible_embedder_with_its_key() -> None:
    chosen = choices(
        {
            "CITEWELL_EMBEDDER": "openai",
            "CITEWELL_EMBEDDER_URL": "http://localhost:11434/v1",
            "CITEWELL_EMBEDDER_MODEL": "some-model",
            "CITEWELL_EMBEDDER_DIMENSIONS": "768",
            "CITEWELL_MIN_SCORE": "0.5",
            "OPENAI_API_KEY": "sk-embed",
        }
    )

    assert chosen.context == {
        "target": "local",
        "auth": "none",
        "generator": "extractive",
        "embedder": "openai",
        "embedderUrl": "http://localhost:11434/v1",
        "embedderModel": "some-model",
        "embedderDimensions": "768",
        "minScore": "0.5",
    }
    assert chosen.keys == {"EmbedderApiKeySecretArn": "sk-embed"}


def test_an_openai_key_alone_changes_nothing() -> None:
    assert choices({"OPENAI_API_KEY": "sk-embed"}).keys == {}
