"""What RDS puts before Postgres, put before a local one: verified TLS, and IAM tokens in place of passwords.

    certificate = certificate_in(folder)                      # infra.local.certificates
    server = Server(host="127.0.0.1", port=5432, user="postgres", password=None)
    with DatabaseFront(server, chain=certificate.chain, secret_of=secret_of, may_connect=may_connect) as front:
        psycopg.connect(host=front.host, port=front.port, sslmode="verify-full", sslrootcert=certificate.authority, ...)

``secret_of(access_key_id, session_token)`` gives the secret access key, or None for credentials that nobody has;
``may_connect(access_key_id, user)`` says whether its owner may log in as that role. The log tells what is wrong with
a token that is refused (`TokenRefused`); the client hears what it would hear from RDS.

A connection without TLS is refused. Whoever logs in as a member of the role ``rds_iam`` must give a token, everybody
else the password that Postgres knows: RDS' pg_hba.conf begins with ``hostssl all +rds_iam all pam``. Membership through
other roles counts, even that which Postgres gives to the maker of a role. A superuser is no member, and neither is who
was granted ``rds_iam`` WITH ADMIN TRUE, INHERIT FALSE, SET FALSE: so a local owner can be given the right to grant it
that RDS' master user has without any membership. A request to cancel a statement carries no login and passes, with or
without TLS.

After a good token the front itself logs in as the role. Postgres knows a password for it by then, derived from the
superuser's and set when Postgres first refuses it: no file holds it, and nobody without the superuser's password can
derive it. So the login roles have no password that anybody could use instead of a token.

In the emulator this module stands in an environment without the product, so it imports nothing of it.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import hashlib
import hmac
import logging
import secrets
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl, quote, urlsplit

if TYPE_CHECKING:
    from psycopg2.sql import Composable

HOST = "localhost"
TOKEN_SECONDS = 900
IAM_ROLE = "rds_iam"

SecretOf = Callable[[str, str], str | None]
MayConnect = Callable[[str, str], bool]

logger = logging.getLogger("database")

_SKEW_SECONDS = 300
_HANDSHAKE_SECONDS = 30.0
_STARTUP_BYTES = 10_000  # as Postgres limits it
_PASSWORD_BYTES = 65_536
_CHUNK = 65_536

_PROTOCOL_MAJOR = 3
_CANCEL_REQUEST, _SSL_REQUEST, _GSS_REQUEST = 80877102, 80877103, 80877104
_OK, _CLEARTEXT, _SASL, _SASL_CONTINUE, _SASL_FINAL = 0, 3, 10, 11, 12
_SCRAM = b"SCRAM-SHA-256"
_INVALID_AUTHORIZATION, _INVALID_PASSWORD = "28000", "28P01"
_PROTOCOL_VIOLATION, _CANNOT_CONNECT_NOW = "08P01", "57P03"

_IS_MEMBER = """
WITH RECURSIVE members (id) AS (
    SELECT granted.member
    FROM pg_auth_members AS granted JOIN pg_roles AS iam ON iam.oid = granted.roleid
    WHERE iam.rolname = %s AND (granted.inherit_option OR granted.set_option OR NOT granted.admin_option)
    UNION
    SELECT granted.member FROM pg_auth_members AS granted JOIN members ON members.id = granted.roleid
)
SELECT true FROM members JOIN pg_roles AS role ON role.oid = members.id WHERE role.rolname = %s AND NOT role.rolsuper
"""


class TokenRefused(Exception):
    """The message says what is wrong with the token, and never holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A Postgres without TLS, and a superuser of it. ``password`` is None where it asks nobody for one."""

    host: str
    port: int
    user: str
    password: str | None


class DatabaseFront:
    """Serves in a thread of its own between ``start`` and ``stop``, or within a ``with`` block.

    host, port: where clients connect, and what tokens are signed for. A free port is chosen for 0.
    """

    host = HOST

    def __init__(
        self,
        server: Server,
        *,
        chain: Path,
        secret_of: SecretOf,
        may_connect: MayConnect,
        region: str = "us-east-1",
        port: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``chain``: the certificate to present, for `HOST`, with its private key. ``clock``: seconds since 1970."""
        self.port = port
        self._server = server
        self._secret_of = secret_of
        self._may_connect = may_connect
        self._region = region
        self._clock = clock
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(chain)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="database", daemon=True)
        self._listening = threading.Event()
        self._failure: OSError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None

    def start(self) -> None:
        """Returns when clients can connect. Raises OSError when the port is taken."""
        self._thread.start()
        self._listening.wait()
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Ends all connections."""
        if self._loop and self._ended:
            with contextlib.suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        try:
            listener = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
            self.port = int(listener.sockets[0].getsockname()[1])
        except OSError as error:
            self._failure = error
            return
        finally:
            self._listening.set()
        await self._ended.wait()
        listener.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Peer(reader, writer)
        try:
            async with asyncio.timeout(_HANDSHAKE_SECONDS):
                backend = await self._log_in(client)
            if backend is not None:
                await _splice(client, backend)
        except _Refused as refused:
            with contextlib.suppress(OSError):
                await client.send(_error(refused.code, str(refused)))
        except (OSError, TimeoutError, EOFError, ssl.SSLError) as error:
            logger.debug("a connection ended: %s", error)
        finally:
            client.close()

    async def _log_in(self, client: _Peer) -> _Peer | None:
        """The backend on which ``client`` is logged in, or goes on to log in itself; None when it wanted no session."""
        startup, encrypted = await self._startup(client)
        (code,) = struct.unpack_from("!I", startup, 4)
        if code == _CANCEL_REQUEST:
            backend = await self._backend()
            await backend.send(startup)
            backend.close()
            return None
        if code >> 16 != _PROTOCOL_MAJOR:
            raise _Refused(_PROTOCOL_VIOLATION, "unsupported frontend protocol")
        options = _options(startup)
        user = options.get("user", "")
        if not encrypted:
            database = options.get("database", user)
            raise _Refused(
                _INVALID_AUTHORIZATION,
                f'no pg_hba.conf entry for host "127.0.0.1", user "{user}", database "{database}", no encryption',
            )
        if not await asyncio.to_thread(self._takes_tokens, user):
            backend = await self._backend()
            await backend.send(startup)
            return backend
        await client.send(_message(b"R", struct.pack("!I", _CLEARTEXT)))
        kind, password = await client.receive(at_most=_PASSWORD_BYTES)
        if kind != b"p":
            raise _Refused(_PROTOCOL_VIOLATION, "expected a password")
        try:
            self._check(password.rstrip(b"\0"), user)
        except TokenRefused as refused:
            logger.warning("no login as %s: %s", user, refused)
            raise _Refused(_INVALID_AUTHORIZATION, f'PAM authentication failed for user "{user}"') from refused
        backend = await self._backend_as(user, startup)
        await client.send(_message(b"R", struct.pack("!I", _OK)))
        return backend

    async def _startup(self, client: _Peer) -> tuple[bytes, bool]:
        """The first packet that isn't about encryption, and whether it came encrypted."""
        encrypted = False
        while True:
            packet = await client.receive_startup()
            (code,) = struct.unpack_from("!I", packet, 4)
            if code == _SSL_REQUEST and not encrypted:
                await client.start_tls(self._tls)
                encrypted = True
            elif code == _GSS_REQUEST and not encrypted:
                await client.send(b"N")
            else:
                return packet, encrypted

    def _check(self, token: bytes, user: str) -> None:
        access_key_id = check_token(
            token.decode("ascii", errors="replace"),
            host=self.host,
            port=self.port,
            user=user,
            region=self._region,
            secret_of=self._secret_of,
            now=self._clock(),
        )
        if not self._may_connect(access_key_id, user):
            raise TokenRefused("its owner isn't allowed rds-db:connect as this role")

    async def _backend(self) -> _Peer:
        return _Peer(*await asyncio.open_connection(self._server.host, self._server.port))

    async def _backend_as(self, user: str, startup: bytes) -> _Peer:
        """A backend on which ``user`` is logged in. Raises _Refused with what Postgres has against it."""
        password = self._password_of(user)
        for attempt in (1, 2):
            backend = await self._backend()
            try:
                await backend.send(startup)
                await _authenticate(backend, password)
            except _Refused as refused:
                backend.close()
                if refused.code != _INVALID_PASSWORD or attempt == 2:
                    raise
                await asyncio.to_thread(self._set_password, user, password)
            else:
                return backend
        raise AssertionError("unreachable")

    def _password_of(self, user: str) -> str:
        key = (self._server.password or "").encode()
        return hmac.new(key, f"login of {user}".encode(), hashlib.sha256).hexdigest()

    def _takes_tokens(self, user: str) -> bool:
        return bool(self._administrate(_IS_MEMBER, [IAM_ROLE, user]))

    def _set_password(self, user: str, password: str) -> None:
        from psycopg2 import sql

        alter = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(user), sql.Literal(password))
        # One at a time: two sessions that alter a role at once fail with "tuple concurrently updated".
        self._administrate("SELECT true FROM pg_advisory_xact_lock(hashtext('citewell database front'))", [], alter)

    def _administrate(self, query: str, values: list[str], then: Composable | None = None) -> object:
        """The one value that ``query`` finds, or None; ``then`` is executed in the same transaction."""
        import psycopg2

        server = {each.name: getattr(self._server, each.name) for each in fields(Server)}
        try:
            connection = psycopg2.connect(**server, dbname="postgres", connect_timeout=10)
            try:
                with connection, connection.cursor() as cursor:
                    cursor.execute(query, values)
                    row = cursor.fetchone()
                    if then is not None:
                        cursor.execute(then)
                    return row[0] if row else None
            finally:
                connection.close()
        except psycopg2.Error as error:
            logger.warning("the superuser could not do his part: %s", error)
            raise _Refused(_CANNOT_CONNECT_NOW, "the database system is starting up") from error


# --- tokens ----------------------------------------------------------------------------------------------------


def check_token(token: str, *, host: str, port: int, user: str, region: str, secret_of: SecretOf, now: float) -> str:
    """The access key id that signed ``token`` for this host, port and user, not longer ago than it is good for.

    A token is a signed request without its scheme: boto3's ``generate_db_auth_token``; the signature is Signature
    Version 4 (https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html). ``now`` is in seconds since
    1970. Raises TokenRefused.
    """
    try:
        address = urlsplit(f"//{token}")
        pairs = parse_qsl(address.query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise TokenRefused("it is no token") from None
    values = dict(pairs)
    if len(values) != len(pairs):
        raise TokenRefused("it says something twice")
    if address.netloc.lower() != f"{host}:{port}" or address.path not in ("", "/"):
        raise TokenRefused("it is for another host or port")
    if values.get("Action") != "connect" or values.get("DBUser") != user:
        raise TokenRefused("it is for another user")
    access_key_id, scope = _scope(values, region)
    _check_time(values, now)
    secret = secret_of(access_key_id, values.get("X-Amz-Security-Token", ""))
    if secret is None:
        raise TokenRefused("its credentials are nobody's, or have ended")
    signature = _signature(values, host=address.netloc.lower(), secret=secret, scope=scope)
    if not hmac.compare_digest(signature.encode(), values.get("X-Amz-Signature", "").encode()):
        raise TokenRefused("its signature is wrong")
    return access_key_id


def _scope(values: dict[str, str], region: str) -> tuple[str, str]:
    """(access key id, credential scope)."""
    access_key_id, _, scope = values.get("X-Amz-Credential", "").partition("/")
    date = values.get("X-Amz-Date", "")[:8]
    signed_how = (values.get("X-Amz-Algorithm"), values.get("X-Amz-SignedHeaders"))
    if scope != f"{date}/{region}/rds-db/aws4_request" or signed_how != ("AWS4-HMAC-SHA256", "host"):
        raise TokenRefused("it is signed for something else")
    return access_key_id, scope


def _check_time(values: dict[str, str], now: float) -> None:
    try:
        signed = datetime.datetime.strptime(f"{values['X-Amz-Date']}+0000", "%Y%m%dT%H%M%SZ%z").timestamp()
        seconds = int(values["X-Amz-Expires"])
    except (KeyError, ValueError):
        raise TokenRefused("it doesn't say how long it is good") from None
    if not 0 < seconds <= TOKEN_SECONDS or now >= signed + seconds:
        raise TokenRefused("it has expired")
    if signed > now + _SKEW_SECONDS:
        raise TokenRefused("it was signed in the future")


def _signature(values: dict[str, str], *, host: str, secret: str, scope: str) -> str:
    query = sorted(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in values.items()
        if name != "X-Amz-Signature"
    )
    empty = hashlib.sha256(b"").hexdigest()
    request = "\n".join(("GET", "/", "&".join(query), f"host:{host}", "", "host", empty))
    hashed = hashlib.sha256(request.encode()).hexdigest()
    to_sign = "\n".join(("AWS4-HMAC-SHA256", values["X-Amz-Date"], scope, hashed))
    key = f"AWS4{secret}".encode()
    for part in (*scope.split("/"), to_sign):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


# --- Postgres' protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html -------------------


class _Refused(Exception):
    """Ends a login with SQLSTATE ``code`` and this message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Peer:
    """One end of a connection, message by message. Raises EOFError (asyncio.IncompleteReadError) when it hangs up."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def receive(self, *, at_most: int = _CHUNK) -> tuple[bytes, bytes]:
        """(type, content) of the next message."""
        kind, length = struct.unpack("!cI", await self.reader.readexactly(5))
        if not 4 <= length <= at_most:
            raise _Refused(_PROTOCOL_VIOLATION, "invalid message length")
        return kind, await self.reader.readexactly(length - 4)

    async def receive_startup(self) -> bytes:
        """The next message of those that have no type, its length included."""
        head = await self.reader.readexactly(8)
        (length,) = struct.unpack_from("!I", head)
        if not 8 <= length <= _STARTUP_BYTES:
            raise _Refused(_PROTOCOL_VIOLATION, "invalid length of startup packet")
        return head + await self.reader.readexactly(length - 8)

    async def start_tls(self, context: ssl.SSLContext) -> None:
        """Agrees to TLS, and begins it."""
        # Bytes that came with the request would pass for encrypted ones (CVE-2021-23214).
        early = asyncio.ensure_future(self.reader.read(1))
        await asyncio.sleep(0)
        if early.done():
            raise _Refused(_PROTOCOL_VIOLATION, "received unencrypted data after SSL request")
        early.cancel()
        # Nothing is awaited between the two, so what the client now says meets TLS and not this reader.
        self.writer.write(b"S")
        await self.writer.start_tls(context)

    def close(self) -> None:
        self.writer.close()


async def _splice(client: _Peer, backend: _Peer) -> None:
    """Passes on what either says until one of them ends."""

    async def pump(source: _Peer, target: _Peer) -> None:
        try:
            while data := await source.reader.read(_CHUNK):
                await target.send(data)
        except (OSError, ssl.SSLError) as error:
            logger.debug("a connection ended: %s", error)
        finally:
            target.close()

    try:
        await asyncio.gather(pump(client, backend), pump(backend, client))
    finally:
        backend.close()


async def _authenticate(backend: _Peer, password: str) -> None:
    """Answers what the backend asks until it is content. Raises _Refused with its reason."""
    scram: _Scram | None = None
    while True:
        kind, content = await backend.receive()
        if kind == b"E":
            raise _refusal(content)
        if kind != b"R":
            raise _Refused(_PROTOCOL_VIOLATION, "the server said something else than how to log in")
        (request,) = struct.unpack_from("!I", content)
        said = content[4:]
        if request == _OK:
            return
        if request == _CLEARTEXT:
            await backend.send(_message(b"p", password.encode() + b"\0"))
        elif request == _SASL and _SCRAM in said.split(b"\0"):
            scram = _Scram(password)
            first = scram.first()
            await backend.send(_message(b"p", _SCRAM + b"\0" + struct.pack("!I", len(first)) + first))
        elif request == _SASL_CONTINUE and scram:
            await backend.send(_message(b"p", scram.final(said)))
        elif request != _SASL_FINAL:
            raise _Refused(_INVALID_AUTHORIZATION, "the server wants another kind of login than SCRAM-SHA-256")


class _Scram:
    """The client's half of SCRAM-SHA-256 without channel binding (RFC 7677); the server's proof isn't looked at."""

    def __init__(self, password: str) -> None:
        self._password = password
        self._bare = f"n=,r={secrets.token_urlsafe(18)}"

    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def final(self, challenge: bytes) -> bytes:
        said = dict(part.split("=", 1) for part in challenge.decode().split(","))
        salted = hashlib.pbkdf2_hmac("sha256", self._password.encode(), base64.b64decode(said["s"]), int(said["i"]))
        without_proof = f"c=biws,r={said['r']}"
        signed = ",".join((self._bare, challenge.decode(), without_proof)).encode()
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        signature = hmac.digest(hashlib.sha256(client_key).digest(), signed, "sha256")
        proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()


def _options(startup: bytes) -> dict[str, str]:
    words = startup[8:].decode(errors="replace").split("\0")
    return dict(zip(words[::2], words[1::2], strict=False))


def _message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content


def _error(code: str, message: str) -> bytes:
    fields = {"S": "FATAL", "V": "FATAL", "C": code, "M": message}
    return _message(b"E", b"".join(f"{name}{value}\0".encode() for name, value in fields.items()) + b"\0")


def _refusal(content: bytes) -> _Refused:
    fields = {part[:1]: part[1:].decode(errors="replace") for part in content.split(b"\0") if part}
    return _Refused(fields.get(b"C", _PROTOCOL_VIOLATION), fields.get(b"M", "the server refused the login"))
