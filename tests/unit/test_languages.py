"""Which language a text is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.languages import LANGUAGES, language_of, named


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The fee is due on the first of the month, and late payment costs 15 EUR.", "english"),
        ("Die Gebühr ist am Ersten des Monats fällig, und für verspätete Zahlung werden 15 EUR berechnet.", "german"),
        ("Les frais sont dus le premier du mois, et un retard de paiement coûte 15 euros.", "french"),
        ("La cuota se paga el primer día del mes y el retraso cuesta 15 euros para los padres.", "spanish"),
        ("A taxa vence no primeiro dia do mês e o atraso não é cobrado das famílias com desconto.", "portuguese"),
        ("La quota è dovuta il primo del mese e il ritardo costa 15 euro per le famiglie della scuola.", "italian"),
        ("De bijdrage is op de eerste van de maand verschuldigd en te late betaling kost 15 euro.", "dutch"),
        ("Avgiften ska betalas den första i månaden och för sen betalning kostar det 15 euro.", "swedish"),
        ("Gebyret skal betales den første i måneden, og det koster også 15 euro efter fristen.", "danish"),
        ("Gebyret skal betales den første i måneden, og det koster også 15 euro etter fristen.", "norwegian"),
        ("Плата вносится до первого числа месяца, и за просрочку она повышается на 15 евро.", "russian"),
        ("يجب دفع الرسوم في أول يوم من الشهر", "arabic"),
        ("Τα δίδακτρα πληρώνονται την πρώτη του μήνα", "greek"),
        ("फ़ीस महीने की पहली तारीख को देय है", "hindi"),
        ("学费应于每月一日缴纳。", "english"),
        ("def parse(value): return value.strip()", "english"),
        ("Opłata jest należna pierwszego dnia miesiąca", "english"),
        ("4711 0815", "simple"),
        ("", "simple"),
        ("\U0001f600", "simple"),
    ],
)
def test_a_text_s_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie hoch ist die Gebühr?", "german"),
        ("What is the late fee?", "english"),
        ("¿Cuál es la cuota?", "spanish"),
        ("Quel est le montant des frais ?", "french"),
        ("Сколько стоит обучение?", "russian"),
        ("VPN Zugang", "english"),
    ],
)
def test_a_question_s_language(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    ("tag", "language"),
    [("de", "german"), ("pt-BR", "portuguese"), ("EN_us", "english"), ("zh-Hans", "english"), ("pl", "simple")],
)
def test_a_named_language(tag: str, language: str) -> None:
    assert named(tag) == language


@pytest.mark.parametrize("tag", [None, ""])
def test_no_tag_names_no_language(tag: str | None) -> None:
    assert named(tag) is None


@given(st.text())
def test_every_text_has_a_language_that_is_listed(text: str) -> None:
    assert language_of(text) in LANGUAGES
