"""An authority of this machine alone, and the certificate that it vouches for.

    made = certificate_in(folder)
    made.authority    what a client trusts: --cacert, sslrootcert
    made.chain        what a server presents, its private key included

The authority's own key is thrown away once it has signed: whoever trusts it trusts this one certificate.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAMES = ("localhost", "127.0.0.1")
"""What the servers of this machine are called by their clients."""

VALID = timedelta(days=365)
RENEWED_BEFORE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM. Only the owner may read ``chain``: it holds the private key."""

    authority: Path
    chain: Path


def certificate_in(folder: Path, *, names: tuple[str, ...] = NAMES) -> Certificate:
    """The folder's certificate for ``names``; another one is made where there is none, or it ends soon."""
    made = Certificate(folder / "ca.pem", folder / "server.pem")
    if not _is_good(made, names):
        folder.mkdir(parents=True, exist_ok=True)
        authority, chain = _issue(names)
        _write(made.chain, chain)
        _write(made.authority, authority)
    return made


def _is_good(made: Certificate, names: tuple[str, ...]) -> bool:
    try:
        authority = x509.load_pem_x509_certificate(made.authority.read_bytes())
        served = x509.load_pem_x509_certificate(made.chain.read_bytes())
        # One of the two may be left from another time: they are written one after the other.
        served.verify_directly_issued_by(authority)
        found = served.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception:  # whatever makes it unreadable, another one is the remedy
        return False
    return list(found) == _alternative_names(names) and served.not_valid_after_utc > datetime.now(UTC) + RENEWED_BEFORE


def _issue(names: tuple[str, ...]) -> tuple[bytes, bytes]:
    """(the authority's certificate, the server's certificate and key), in PEM."""
    authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Citewell local authority")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    identifier = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    authority = (
        _builder(issuer, issuer, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(identifier, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    server = (
        _builder(issuer, subject, server_key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternative_names(names)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(server_key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    key = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return authority.public_bytes(Encoding.PEM), server.public_bytes(Encoding.PEM) + key


def _builder(issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # clocks differ
        .not_valid_after(now + VALID)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative_names(names: tuple[str, ...]) -> list[x509.GeneralName]:
    return [_address(name) or x509.DNSName(name) for name in names]


def _address(name: str) -> x509.IPAddress | None:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return None


def _write(path: Path, content: bytes) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(content)
    unfinished.replace(path)
