"""The path out: the API and the functions behind it."""

from __future__ import annotations

from aws_cdk import Duration
from constructs import Construct, IDependable

from infra import memory
from infra.api import Api
from infra.api_key import ApiKey
from infra.bedrock import allow_invoking
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import Bundles
from infra.capacity import capacity_of
from infra.database import Database, DatabaseRole
from infra.embedding import Embedding
from infra.identity import UserPool
from infra.model_prices import prices_of
from infra.network import Network
from infra.options import Auth, GeneratorChoice, Options
from infra.reranking import Reranking

TIMEOUT = Duration.seconds(29)
"""An HTTP API gives up after 30 s; what a function says later, nobody hears."""


class Answering(Construct):
    """``anthropic_api_key`` is there when Claude writes the answers, ``users`` when no other issuer is named."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        options: Options,
        bundles: Bundles,
        layers: Layers,
        network: Network,
        database: Database,
        embedding: Embedding,
        reranking: Reranking,
        after: IDependable,
    ) -> None:
        super().__init__(scope, construct_id)
        self.anthropic_api_key: ApiKey | None = None
        if options.generator is GeneratorChoice.CLAUDE:
            self.anthropic_api_key = ApiKey(self, "AnthropicApiKey", description="Citewell: Anthropic API key")
        key = self.anthropic_api_key
        capacity = capacity_of(options.database_class)
        shared = {**database.settings(DatabaseRole.READER), "tenancy": options.tenancy, **_identity(options)}
        self.ask = BundledFunction(
            self,
            "Ask",
            name="ask",
            bundles=bundles,
            layers=layers,
            settings={
                **shared,
                **embedding.settings(),
                **reranking.settings(),
                "generator": options.generator,
                "model": options.model,
                "anthropic_base_url": options.anthropic_base_url,
                "anthropic_api_key_secret_arn": key.secret.secret_arn if key else None,
                "refusal_fit": options.refusal_fit.to_json() if options.refusal_fit else None,
                "min_score": options.min_score,
                "contact": options.contact,
                "log_questions": "yes" if options.log_questions else None,
                **prices_of(options),
            },
            memory_mib=memory.ASK,
            timeout=TIMEOUT,
            network=network,
            reserved_copies=capacity.ask,
        )
        self.documents = BundledFunction(
            self,
            "Documents",
            name="documents",
            bundles=bundles,
            layers=layers,
            settings=shared,
            memory_mib=memory.DOCUMENTS,
            timeout=TIMEOUT,
            network=network,
            reserved_copies=capacity.documents,
        )
        for function in (self.ask, self.documents):
            database.allow(function, DatabaseRole.READER)
            function.node.add_dependency(after)
        if key:
            self.ask.allow("secretsmanager:GetSecretValue", on=[key.secret.secret_arn])
        if options.generator is GeneratorChoice.BEDROCK:
            assert options.model is not None
            allow_invoking(self.ask, options.model)
        embedding.allow(self.ask)
        reranking.allow(self.ask)
        self.users: UserPool | None = None
        if options.auth is Auth.JWT and not options.jwt_issuer:
            self.users = UserPool(self, "Users", removal=options.removal_policy)
        self.api = Api(
            self,
            "Api",
            options=options,
            users=self.users,
            ask=self.ask.function,
            documents=self.documents.function,
        )


def _identity(options: Options) -> dict[str, object]:
    if options.auth is not Auth.JWT:
        return {"auth": options.auth}
    return {"auth": options.auth, "tenant_claim": options.tenant_claim, "groups_claim": options.groups_claim}
