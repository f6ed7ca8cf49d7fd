from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell.errors import ConfigurationError
from citewell.settings import Settings, settings_table

README = Path(__file__).parents[2] / "README.md"


def test_defaults_apply_where_nothing_is_set() -> None:
    settings = Settings.from_environment({})
    assert (settings.top_k, settings.candidates, settings.rrf_k) == (5, 30, 60)
    assert settings.min_score is None


def test_values_are_read_as_their_kind() -> None:
    settings = Settings.from_environment(
        {"CITEWELL_TOP_K": " 7 ", "CITEWELL_MIN_SCORE": "0.5", "CITEWELL_CONTACT": "office@example.com"}
    )
    assert (settings.top_k, settings.min_score, settings.contact) == (7, 0.5, "office@example.com")


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.from_environment({"CITEWELL_MIN_SCORE": "", "CITEWELL_TOP_K": " "}) == Settings()


def test_other_peoples_variables_are_left_alone() -> None:
    assert Settings.from_environment({"PATH": "/bin", "AWS_REGION": "eu-west-1"}) == Settings()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CITEWELL_TOP_K", "many", "CITEWELL_TOP_K must be a number, not 'many'"),
        ("CITEWELL_TOP_K", "0", "CITEWELL_TOP_K must be between 1 and 20, not 0"),
        ("CITEWELL_TOP_K", "21", "CITEWELL_TOP_K must be between 1 and 20, not 21"),
        ("CITEWELL_MIN_SCORE", "nan", "CITEWELL_MIN_SCORE must be between -1 and 1, not nan"),
        ("CITEWELL_MAX_OBJECT_BYTES", "0", "CITEWELL_MAX_OBJECT_BYTES must be between 1 and any size, not 0"),
        (
            "CITEWELL_EMBEDDER",
            "magic",
            "CITEWELL_EMBEDDER must be one of local, function, openai, voyage, bedrock, not 'magic'",
        ),
        ("CITEWELL_MINSCORE", "0.5", "unknown setting CITEWELL_MINSCORE: see the settings table in the README"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Settings.from_environment({variable: value})
    assert str(refused.value) == message


def test_a_missing_setting_says_what_it_is_for() -> None:
    with pytest.raises(ConfigurationError, match="^CITEWELL_BUCKET is not set: the bucket the documents stand in$"):
        Settings().require("bucket")


def test_the_readme_documents_exactly_these_settings() -> None:
    rows = re.findall(r"^\| `(CITEWELL_\w+)` \| ?`?([^`|]*?)`? ?\| (.+?) \|$", README.read_text("utf-8"), re.MULTILINE)
    assert rows == settings_table()
