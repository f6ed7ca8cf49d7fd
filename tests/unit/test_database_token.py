"""Tokens that boto3 makes for RDS, as the local database's front checks them."""

from __future__ import annotations

import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from infra.local.database_tls import TokenRefused, check_token

KEY, SECRET, SESSION = "ASIAREADER", "the-secret", "session/token+with=signs"


def _made(session: str | None = None) -> str:
    client = boto3.Session(
        aws_access_key_id=KEY, aws_secret_access_key=SECRET, aws_session_token=session, region_name="us-east-1"
    ).client("rds")
    return str(client.generate_db_auth_token(DBHostname="localhost", Port=5432, DBUsername="citewell_reader"))


TOKEN, ROLE_TOKEN, STRANGERS_TOKEN = _made(), _made(SESSION), _made("another session")
# When the first was made, as it says itself, is now: a run may reach the tests long after they were collected.
[_DATE] = parse_qs(urlsplit(f"https://{TOKEN}").query)["X-Amz-Date"]
NOW = datetime.datetime.strptime(_DATE, "%Y%m%dT%H%M%S%z").timestamp()


def _check(token: str, **other: Any) -> str:
    def secret_of(key: str, session: str) -> str | None:
        return SECRET if key == KEY and session in ("", SESSION) else None

    wanted = {"host": "localhost", "port": 5432, "user": "citewell_reader", "region": "us-east-1", "now": NOW}
    return check_token(token, secret_of=secret_of, **{**wanted, **other})


def test_a_token_is_its_signers() -> None:
    assert _check(TOKEN) == KEY


def test_a_token_of_a_role_brings_the_session_along() -> None:
    assert _check(ROLE_TOKEN) == KEY
    with pytest.raises(TokenRefused, match="nobody's"):
        _check(STRANGERS_TOKEN)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"host": "database"}, "another host or port"),
        ({"port": 5433}, "another host or port"),
        ({"user": "citewell_writer"}, "another user"),
        ({"region": "eu-west-1"}, "something else"),
        ({"now": NOW + 901}, "expired"),
        ({"now": NOW - 400}, "in the future"),
    ],
)
def test_a_token_is_for_one_login_and_fifteen_minutes(other: dict[str, Any], reason: str) -> None:
    with pytest.raises(TokenRefused, match=reason):
        _check(TOKEN, **other)


@given(st.integers(0, len(TOKEN) - 1), st.characters(codec="utf-8"))
def test_a_token_with_another_character_anywhere_is_refused(position: int, character: str) -> None:
    # A host name and a percent sign's digits are the same in capitals.
    assume(character.lower() != TOKEN[position].lower())

    with pytest.raises(TokenRefused):
        _check(TOKEN[:position] + character + TOKEN[position + 1 :])


@given(st.text())
def test_what_is_no_token_is_refused_and_nothing_worse(text: str) -> None:
    with pytest.raises(TokenRefused):
        _check(text)
