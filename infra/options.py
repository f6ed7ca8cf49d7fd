"""What a deployment can choose: the keys of the CDK context (``cdk.json``, or ``-c key=value``), read and checked once.

CloudFormation would find a wrong choice minutes into a deploy, and a function not before its first user. Here it
fails at synth, with a message that names the key and says what to do. An empty value counts as unset, so that
``cdk.json`` can show every key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Self

from citewell.core.keys import Tenancy
from citewell.core.refusing import RefusalFit, fit_for
from citewell.edges import bedrock_embedder, local_embedder, local_reranker
from citewell.edges.bedrock import bedrock_model
from citewell.errors import ConfigurationError
from infra import memory
from infra.context import (
    OptionError,
    choice,
    fraction,
    is_on_this_machine,
    names,
    origins,
    shaped,
    switch,
    text,
    url,
    whole_number,
)
from infra.model import MODEL_SHA256, RERANKER_SHA256

__all__ = [
    "Auth",
    "DatabaseClass",
    "Egress",
    "EmbedderChoice",
    "GeneratorChoice",
    "OcrChoice",
    "OptionError",
    "Options",
    "Removal",
    "RerankerChoice",
    "Target",
    "option_keys",
]


class Target(StrEnum):
    """Where the bundles run: Lambda, or the interpreter and platform of this machine."""

    AWS = "aws"
    LOCAL = "local"


class EmbedderChoice(StrEnum):
    LOCAL = "local"
    OPENAI = "openai"
    VOYAGE = "voyage"
    BEDROCK = "bedrock"


class RerankerChoice(StrEnum):
    NONE = "none"
    LOCAL = "local"
    COHERE = "cohere"
    JINA = "jina"
    TEI = "tei"


class OcrChoice(StrEnum):
    """What reads pages that hold no text but a picture of it."""

    NONE = "none"
    TESSERACT = "tesseract"


class GeneratorChoice(StrEnum):
    CLAUDE = "claude"
    BEDROCK = "bedrock"
    EXTRACTIVE = "extractive"


class Egress(StrEnum):
    """How functions leave the network: over IPv6 (free), through a NAT gateway, or not at all."""

    IPV6 = "ipv6"
    NAT = "nat"
    NONE = "none"


class Auth(StrEnum):
    """Who may call the API: holders of a token, AWS principals, or anyone."""

    JWT = "jwt"
    IAM = "iam"
    NONE = "none"


class Removal(StrEnum):
    """What `cdk destroy` does with documents and index: keeps the bucket and a last snapshot, or deletes both."""

    RETAIN = "retain"
    DESTROY = "destroy"


class DatabaseClass(StrEnum):
    """The Graviton instance classes whose memory and price are known here, smallest first."""

    T4G_MICRO = "t4g.micro"
    T4G_SMALL = "t4g.small"
    T4G_MEDIUM = "t4g.medium"
    T4G_LARGE = "t4g.large"
    M7G_LARGE = "m7g.large"
    M7G_XLARGE = "m7g.xlarge"
    R7G_LARGE = "r7g.large"
    R7G_XLARGE = "r7g.xlarge"


TENANT_CLAIM = "custom:tenant"
GROUPS_CLAIM = "cognito:groups"
"""As a Cognito pool's tokens have them."""

EXTRACT_SECONDS = 60
"""Five documents that take as long fit into ingest's time-out; nine in ten real ones take less than a second."""

MIN_STORAGE_GIB = 20
"""RDS's own minimum for gp3."""

VOYAGE_DIMENSIONS = (256, 512, 1024)
"""What its models make when asked; they make 2048, too, which is more than the index holds."""

_DISCOVERY = "/.well-known/openid-configuration"
_BUCKET_NAME = r"(?!xn--|sthree-|\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_SNAPSHOT = r"(arn:aws[\w-]*:rds:[\w-]+:\d{12}:snapshot:)?(rds:)?[A-Za-z][A-Za-z0-9-]{0,254}"
_LAYER = r"arn:aws[\w-]*:lambda:[\w-]+:\d{12}:layer:[\w-]+:\d+"
_LANGUAGES = r"[\w/]+(\+[\w/]+)*"
_EMAIL = r"[^@\s,]+@[^@\s,]+\.[^@\s,]+"
_CLAIM = r"[\w:./-]{1,256}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A deployment's choices. Made by :meth:`from_context`; raises OptionError when two of them contradict."""

    target: Target = Target.AWS
    embedder: EmbedderChoice = EmbedderChoice.LOCAL
    embedder_model: str | None = None
    embedder_dimensions: int | None = None
    embedder_url: str | None = None
    embedder_send_dimensions: bool = False
    embedder_batch_size: int | None = None
    embedder_max_tokens: int | None = None
    reranker: RerankerChoice = RerankerChoice.NONE
    reranker_model: str | None = None
    reranker_url: str | None = None
    rerank_candidates: int | None = None
    rerank_seconds: float | None = None
    generator: GeneratorChoice = GeneratorChoice.CLAUDE
    model: str | None = None
    anthropic_base_url: str | None = None
    contact: str | None = None
    refusal_fit: RefusalFit | None = None
    min_score: float | None = None
    auth: Auth = Auth.JWT
    allow_anonymous: bool = False
    jwt_issuer: str | None = None
    jwt_audience: tuple[str, ...] = ()
    tenant_claim: str = TENANT_CLAIM
    groups_claim: str = GROUPS_CLAIM
    cors_origins: tuple[str, ...] = ()
    tenancy: Tenancy = Tenancy.SINGLE
    bucket_name: str | None = None
    ingest_memory: int = memory.INGEST
    extract_seconds: int = EXTRACT_SECONDS
    ocr: OcrChoice = OcrChoice.NONE
    ocr_languages: str | None = None
    ocr_layer: str | None = None
    database_class: DatabaseClass = DatabaseClass.T4G_MICRO
    database_storage: int = MIN_STORAGE_GIB
    database_multi_az: bool = False
    database_snapshot: str | None = None
    egress: Egress | None = None
    alarm_email: str | None = None
    tracing: bool = False
    log_questions: bool = False
    replace_index: bool = False
    removal_policy: Removal = Removal.RETAIN

    def __post_init__(self) -> None:
        self._check_embedder()
        self._check_refusal()
        self._check_reranker()
        self._check_ocr()
        self._check_generator()
        self._check_auth()
        self._check_egress()
        self._check_reach()

    def _check_embedder(self) -> None:
        identity: dict[str, object] = {
            "embedderModel": self.embedder_model,
            "embedderDimensions": self.embedder_dimensions,
        }
        http: dict[str, object] = {
            "embedderUrl": self.embedder_url,
            "embedderSendDimensions": self.embedder_send_dimensions or None,
        }
        limits: dict[str, object] = {
            "embedderBatchSize": self.embedder_batch_size,
            "embedderMaxTokens": self.embedder_max_tokens,
        }
        if self.embedder is EmbedderChoice.LOCAL:
            _refuse(identity | http | limits, "embedder=local brings its own model: leave {key} out")
            return
        needs = f"embedder={self.embedder} needs {{key}}: no value fits every model"
        _demand(identity, needs)
        if self.embedder is EmbedderChoice.VOYAGE:
            sent = {"embedderSendDimensions": http["embedderSendDimensions"]}
            _refuse(sent, "embedder=voyage always asks for embedderDimensions: leave {key} out")
            if self.embedder_dimensions not in VOYAGE_DIMENSIONS:
                known = ", ".join(map(str, VOYAGE_DIMENSIONS))
                raise OptionError(f"embedderDimensions must be one of {known} for embedder=voyage")
        if self.embedder is EmbedderChoice.BEDROCK:
            _refuse(http, "embedder=bedrock calls Bedrock in the stack's own region: leave {key} out")
            assert self.embedder_model is not None
            assert self.embedder_dimensions is not None
            try:
                bedrock_embedder.family_of(self.embedder_model, dimensions=self.embedder_dimensions)
            except ConfigurationError as error:
                raise OptionError(f"embedder=bedrock: {error}") from error

    def _check_refusal(self) -> None:
        if self.refusal_fit is not None and self.min_score is not None:
            raise OptionError("refusalFit and minScore both say when to refuse: leave one out")
        try:
            fit_for(self.embedder_id, fit=self.refusal_fit, min_score=self.min_score)
        except ConfigurationError as error:
            needed = f"embedder={self.embedder} needs refusalFit or minScore: " if self.refusal_fit is None else ""
            raise OptionError(f"{needed}{error}") from error

    def _check_reranker(self) -> None:
        api: dict[str, object] = {"rerankerModel": self.reranker_model, "rerankerUrl": self.reranker_url}
        limits: dict[str, object] = {"rerankCandidates": self.rerank_candidates, "rerankSeconds": self.rerank_seconds}
        if self.reranker is RerankerChoice.NONE:
            _refuse(api | limits, "reranker=none reads nothing: leave {key} out, or choose a reranker")
        elif self.reranker is RerankerChoice.LOCAL:
            _refuse(api, "reranker=local brings its own model: leave {key} out")
        elif self.reranker is RerankerChoice.TEI:
            _demand(api, "reranker=tei needs {key}: the server is yours, and so is the model that it runs")
        else:
            _demand({"rerankerModel": self.reranker_model}, f"reranker={self.reranker} needs {{key}}")

    def _check_ocr(self) -> None:
        layer: dict[str, object] = {"ocrLayer": self.ocr_layer}
        if self.ocr is OcrChoice.NONE:
            _refuse(layer | {"ocrLanguages": self.ocr_languages}, "ocr=none reads no pictures: leave {key} out")
        elif self.target is Target.LOCAL:
            _refuse(layer, "ocr=tesseract takes this machine's own Tesseract: leave {key} out")
        else:
            _demand(layer, "ocr=tesseract needs {key}: a layer for arm64 with the program in /opt/bin; Lambda has none")

    def _check_generator(self) -> None:
        claude = {"anthropicBaseUrl": self.anthropic_base_url}
        if self.generator is GeneratorChoice.EXTRACTIVE:
            _refuse(
                {"model": self.model, **claude},
                "generator=extractive calls no model: leave {key} out, or set generator=claude",
            )
        if self.generator is GeneratorChoice.BEDROCK:
            _refuse(claude, "generator=bedrock calls Bedrock in the stack's own region: leave {key} out")
            _demand({"model": self.model}, "generator=bedrock needs {key}: a model or inference profile of your region")
            assert self.model is not None
            try:
                foundation = bedrock_model(self.model).foundation
            except ConfigurationError as error:
                raise OptionError(f"generator=bedrock: {error}") from error
            if not foundation.startswith("anthropic."):
                raise OptionError(f"generator=bedrock asks Claude, which {self.model} isn't")

    def _check_auth(self) -> None:
        issuer = {"jwtIssuer": self.jwt_issuer, "jwtAudience": self.jwt_audience or None}
        if self.auth is not Auth.JWT:
            _refuse(issuer, f"auth={self.auth} reads no tokens: leave {{key}} out, or set auth=jwt")
            if self.tenancy is Tenancy.PREFIX:
                raise OptionError(
                    f"tenancy=prefix with auth={self.auth}: only a token says whose documents a caller may see; "
                    "set auth=jwt"
                )
        elif self.jwt_issuer and self.jwt_issuer.rstrip("/").endswith(_DISCOVERY):
            raise OptionError(f"jwtIssuer is what stands before {_DISCOVERY}: leave that out")
        elif any(issuer.values()):
            _demand(issuer, "jwtIssuer and jwtAudience belong together: {key} is missing")
        if self.jwt_issuer is None and (self.tenant_claim, self.groups_claim) != (TENANT_CLAIM, GROUPS_CLAIM):
            raise OptionError(
                "tenantClaim and groupsClaim are those of another issuer's tokens: set jwtIssuer, or leave "
                f"{TENANT_CLAIM} and {GROUPS_CLAIM}, which the stack's own pool writes"
            )
        if self.auth is Auth.NONE and self.target is Target.AWS and not self.allow_anonymous:
            raise OptionError(
                "auth=none lets anyone on the internet ask: say so twice, with allowAnonymous=true, or choose auth=jwt"
            )
        if self.allow_anonymous and self.auth is not Auth.NONE:
            raise OptionError(f"allowAnonymous=true contradicts auth={self.auth}: leave it out, or set auth=none")

    def _check_egress(self) -> None:
        if self.egress is not Egress.NONE:
            return
        if self.embedder not in (EmbedderChoice.LOCAL, EmbedderChoice.BEDROCK):
            raise OptionError(f"egress=none can't reach embedder={self.embedder}: choose local or bedrock")
        if self.reranker not in (RerankerChoice.NONE, RerankerChoice.LOCAL):
            raise OptionError(f"egress=none can't reach reranker={self.reranker}: choose local or none")
        if self.generator is GeneratorChoice.CLAUDE:
            raise OptionError("egress=none can't reach generator=claude: choose bedrock or extractive")

    def _check_reach(self) -> None:
        named = {
            "embedderUrl": self.embedder_url,
            "rerankerUrl": self.reranker_url,
            "anthropicBaseUrl": self.anthropic_base_url,
            "jwtIssuer": self.jwt_issuer,
        }
        for key, address in named.items():
            if self.target is Target.AWS and address and is_on_this_machine(address):
                raise OptionError(f"{key} is an address of this machine, which AWS can't reach: choose another")

    @property
    def embedder_id(self) -> str:
        """The ``model_id`` that the chosen embedder reports, and that the index is made for."""
        if self.embedder is EmbedderChoice.BEDROCK and self.embedder_model:
            return bedrock_model(self.embedder_model).foundation
        return self.embedder_model or local_embedder.model_id(MODEL_SHA256)

    @property
    def vector_dimensions(self) -> int:
        return self.embedder_dimensions or local_embedder.DIMENSIONS

    @property
    def reranker_id(self) -> str | None:
        """The ``model_id`` that the chosen reranker reports; None without one."""
        if self.reranker is RerankerChoice.LOCAL:
            return local_reranker.model_id(RERANKER_SHA256)
        return self.reranker_model

    @property
    def resolved_egress(self) -> Egress:
        """``egress``, or the cheapest way out that is known to reach every provider that was chosen.

        Anthropic publishes IPv6 addresses; of Bedrock, Voyage, rerankers and servers named by URL it isn't known.
        """
        if self.egress is not None:
            return self.egress
        known = (
            self.embedder is EmbedderChoice.LOCAL
            and self.reranker in (RerankerChoice.NONE, RerankerChoice.LOCAL)
            and (
                self.generator is GeneratorChoice.EXTRACTIVE
                or (self.generator is GeneratorChoice.CLAUDE and self.anthropic_base_url is None)
            )
        )
        # Locally nothing leaves the machine.
        return Egress.IPV6 if known or self.target is Target.LOCAL else Egress.NAT

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> Self:
        """Read the app's context. Raises OptionError for a key nobody reads and for a value nobody can use."""
        _refuse_unknown(context)
        given = {key: value for key, value in context.items() if value not in (None, "")}
        embedder_url, anthropic_base_url = url(given, "embedderUrl"), url(given, "anthropicBaseUrl")
        reranker_url = url(given, "rerankerUrl")
        return cls(
            target=choice(given, "target", Target.AWS),
            embedder=choice(given, "embedder", EmbedderChoice.LOCAL),
            embedder_model=text(given, "embedderModel"),
            embedder_dimensions=whole_number(given, "embedderDimensions", at_least=1, at_most=2000),
            embedder_url=embedder_url.rstrip("/") if embedder_url else None,
            embedder_send_dimensions=switch(given, "embedderSendDimensions"),
            embedder_batch_size=whole_number(given, "embedderBatchSize", at_least=1, at_most=2048),
            embedder_max_tokens=whole_number(given, "embedderMaxTokens", at_least=128, at_most=1_000_000),
            reranker=choice(given, "reranker", RerankerChoice.NONE),
            reranker_model=text(given, "rerankerModel"),
            reranker_url=reranker_url.rstrip("/") if reranker_url else None,
            rerank_candidates=whole_number(given, "rerankCandidates", at_least=2, at_most=100),
            rerank_seconds=fraction(given, "rerankSeconds", at_least=0.1, at_most=10),
            generator=choice(given, "generator", GeneratorChoice.CLAUDE),
            model=text(given, "model"),
            anthropic_base_url=anthropic_base_url.rstrip("/") if anthropic_base_url else None,
            contact=text(given, "contact"),
            refusal_fit=_refusal_fit(given, "refusalFit"),
            min_score=fraction(given, "minScore", at_least=-1, at_most=1),
            auth=choice(given, "auth", Auth.JWT),
            allow_anonymous=switch(given, "allowAnonymous"),
            jwt_issuer=url(given, "jwtIssuer"),  # as the tokens spell it, a slash at its end included
            jwt_audience=names(given, "jwtAudience"),
            tenant_claim=shaped(given, "tenantClaim", _CLAIM, "custom:tenant") or TENANT_CLAIM,
            groups_claim=shaped(given, "groupsClaim", _CLAIM, "cognito:groups") or GROUPS_CLAIM,
            cors_origins=origins(given, "corsOrigins"),
            tenancy=choice(given, "tenancy", Tenancy.SINGLE),
            bucket_name=shaped(given, "bucketName", _BUCKET_NAME, "my-documents"),
            ingest_memory=whole_number(given, "ingestMemory", at_least=1024, at_most=10_240) or memory.INGEST,
            extract_seconds=whole_number(given, "extractSeconds", at_least=5, at_most=240) or EXTRACT_SECONDS,
            ocr=choice(given, "ocr", OcrChoice.NONE),
            ocr_languages=shaped(given, "ocrLanguages", _LANGUAGES, "eng+deu"),
            ocr_layer=shaped(given, "ocrLayer", _LAYER, "arn:aws:lambda:eu-west-1:111122223333:layer:tesseract:1"),
            database_class=choice(given, "databaseClass", DatabaseClass.T4G_MICRO),
            database_storage=whole_number(given, "databaseStorage", at_least=MIN_STORAGE_GIB, at_most=16_384)
            or MIN_STORAGE_GIB,
            database_multi_az=switch(given, "databaseMultiAz"),
            database_snapshot=shaped(given, "databaseSnapshot", _SNAPSHOT, "rds:citewell-2026-11-30-04-00"),
            egress=choice(given, "egress", Egress.IPV6) if "egress" in given else None,
            alarm_email=shaped(given, "alarmEmail", _EMAIL, "operations@example.com"),
            tracing=switch(given, "tracing"),
            log_questions=switch(given, "logQuestions"),
            replace_index=switch(given, "replaceIndex"),
            removal_policy=choice(given, "removalPolicy", Removal.RETAIN),
        )


def _refusal_fit(given: Mapping[str, object], key: str) -> RefusalFit | None:
    """The JSON that ``python -m eval calibrate`` writes, as text, or as an object of ``cdk.json``."""
    value = given.get(key)
    if value is None:
        return None
    try:
        return RefusalFit.from_json(value if isinstance(value, str) else json.dumps(value))
    except ConfigurationError as error:
        raise OptionError(f"{key}: {error}") from error


def option_keys() -> tuple[str, ...]:
    """Every context key, spelt as in ``cdk.json``."""
    return tuple(_camel_case(each.name) for each in fields(Options))


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _refuse_unknown(context: Mapping[str, object]) -> None:
    keys = option_keys()
    for key in context:
        # Feature flags, the CDK's own switches and remembered look-ups all carry one of these marks.
        if key in keys or key.startswith("@") or ":" in key:
            continue
        near = get_close_matches(key, keys, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(keys)}"
        raise OptionError(f"unknown option {key}: {hint}")


def _refuse(values: Mapping[str, object], message: str) -> None:
    for key, value in values.items():
        if value is not None:
            raise OptionError(message.format(key=key))


def _demand(values: Mapping[str, object], message: str) -> None:
    for key, value in values.items():
        if value is None:
            raise OptionError(message.format(key=key))
