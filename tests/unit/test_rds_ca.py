"""The authorities that vouch for the database's server."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

BUNDLE = Path(__file__).parents[2] / "layers/core/rds-ca/global-bundle.pem"
CERTIFICATES = x509.load_pem_x509_certificates(BUNDLE.read_bytes())
LOOKED_AT = datetime(2026, 11, 30, tzinfo=UTC)
"""When the bundle was last compared with what AWS publishes. Move it on after doing so again."""


def _name(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def test_it_holds_three_roots_for_each_region() -> None:
    names = [_name(certificate) for certificate in CERTIFICATES]
    assert len(set(names)) == len(names) == 3 * 27
    regions = {name.split()[2] for name in names}
    assert {
        f"Amazon RDS {region} Root CA {key} G1" for region in regions for key in ("RSA2048", "RSA4096", "ECC384")
    } == set(names)
    assert {"us-east-1", "eu-central-1", "eu-west-1", "ap-southeast-2"} <= regions


@pytest.mark.parametrize("certificate", CERTIFICATES, ids=_name)
def test_each_is_a_root_that_signed_itself_and_stays_valid_for_years(certificate: x509.Certificate) -> None:
    certificate.verify_directly_issued_by(certificate)
    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    years = certificate.not_valid_after_utc.year - LOOKED_AT.year
    assert certificate.not_valid_before_utc < LOOKED_AT
    assert years > 1, (
        f"{_name(certificate)} expires soon: see layers/core/rds-ca/README.md for where to get a new bundle"
    )


def test_tls_loads_every_one_of_them() -> None:
    context = ssl.create_default_context(cafile=str(BUNDLE))
    assert context.cert_store_stats()["x509_ca"] == len(CERTIFICATES)
