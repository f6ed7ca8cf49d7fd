"""What `make up` deploys, chosen by the environment it is called in.

Without anything set: the local embedder and the extractive generator, which need no key.

    ANTHROPIC_API_KEY       answers by Claude (generator=claude); the key goes into the stack's secret after the deploy
    ANTHROPIC_BASE_URL      another address of the Messages API
    OPENAI_API_KEY          the embedder's key, with CITEWELL_EMBEDDER=openai
    VOYAGE_API_KEY          the embedder's key, with CITEWELL_EMBEDDER=voyage
    COHERE_API_KEY          the reranker's key, with CITEWELL_RERANKER=cohere
    JINA_API_KEY            the reranker's key, with CITEWELL_RERANKER=jina
    TEI_API_KEY             the reranker's key, with CITEWELL_RERANKER=tei; any text for a server that asks for none
    CITEWELL_EMBEDDER, CITEWELL_EMBEDDER_URL, CITEWELL_EMBEDDER_MODEL, CITEWELL_EMBEDDER_DIMENSIONS,
    CITEWELL_EMBEDDER_SEND_DIMENSIONS, CITEWELL_EMBEDDER_BATCH_SIZE, CITEWELL_EMBEDDER_MAX_TOKENS,
    CITEWELL_RERANKER, CITEWELL_RERANKER_URL, CITEWELL_RERANKER_MODEL, CITEWELL_RERANK_CANDIDATES,
    CITEWELL_RERANK_SECONDS, CITEWELL_MIN_SCORE, CITEWELL_MODEL, CITEWELL_CONTACT, CITEWELL_TENANCY,
    CITEWELL_OCR, CITEWELL_OCR_LANGUAGES, CITEWELL_LOG_QUESTIONS, CITEWELL_REPLACE_INDEX, CITEWELL_REMOVAL_POLICY
                            the option of that name, see cdk.json

Amazon Bedrock can't be chosen: what the functions here know as AWS is the emulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from infra.local.errors import ChoiceError

_OPTIONS = {
    "CITEWELL_EMBEDDER": "embedder",
    "CITEWELL_EMBEDDER_URL": "embedderUrl",
    "CITEWELL_EMBEDDER_MODEL": "embedderModel",
    "CITEWELL_EMBEDDER_DIMENSIONS": "embedderDimensions",
    "CITEWELL_EMBEDDER_SEND_DIMENSIONS": "embedderSendDimensions",
    "CITEWELL_EMBEDDER_BATCH_SIZE": "embedderBatchSize",
    "CITEWELL_EMBEDDER_MAX_TOKENS": "embedderMaxTokens",
    "CITEWELL_RERANKER": "reranker",
    "CITEWELL_RERANKER_URL": "rerankerUrl",
    "CITEWELL_RERANKER_MODEL": "rerankerModel",
    "CITEWELL_RERANK_CANDIDATES": "rerankCandidates",
    "CITEWELL_RERANK_SECONDS": "rerankSeconds",
    "CITEWELL_OCR": "ocr",
    "CITEWELL_OCR_LANGUAGES": "ocrLanguages",
    "CITEWELL_REFUSAL_FIT": "refusalFit",
    "CITEWELL_MIN_SCORE": "minScore",
    "CITEWELL_CONTACT": "contact",
    "CITEWELL_TENANCY": "tenancy",
    "CITEWELL_LOG_QUESTIONS": "logQuestions",
    "CITEWELL_REPLACE_INDEX": "replaceIndex",
    "CITEWELL_REMOVAL_POLICY": "removalPolicy",
}
_OPTIONS_OF_CLAUDE = {"CITEWELL_MODEL": "model", "ANTHROPIC_BASE_URL": "anthropicBaseUrl"}
_KEYS_OF_EMBEDDERS = {"openai": "OPENAI_API_KEY", "voyage": "VOYAGE_API_KEY"}
_KEYS_OF_RERANKERS = {"cohere": "COHERE_API_KEY", "jina": "JINA_API_KEY", "tei": "TEI_API_KEY"}


@dataclass(frozen=True, slots=True)
class Choices:
    """``context``: of the CDK app. ``keys``: the stack's output that names a secret -> what belongs in it."""

    context: Mapping[str, str]
    keys: Mapping[str, str] = field(repr=False)


def choices(environment: Mapping[str, str], *, secure: bool) -> Choices:
    """Reads the variables above; an empty one counts as unset. ``secure``: the API is for holders of a token.

    Raises ChoiceError.
    """
    given = {name: value.strip() for name, value in environment.items() if value.strip()}
    key = given.get("ANTHROPIC_API_KEY")
    options = _OPTIONS | (_OPTIONS_OF_CLAUDE if key else {})
    context = {option: given[variable] for variable, option in options.items() if variable in given}
    embedder = context.get("embedder", "local")
    if embedder == "bedrock":
        raise ChoiceError("CITEWELL_EMBEDDER=bedrock is for a deployment to AWS: here an emulator stands for AWS.")
    context |= {
        "target": "local",
        "auth": "jwt" if secure else "none",
        "generator": "claude" if key else "extractive",
    }
    keys = {"AnthropicApiKeySecretArn": key} if key else {}
    if embedder_key := given.get(_KEYS_OF_EMBEDDERS.get(embedder, "")):
        keys["EmbedderApiKeySecretArn"] = embedder_key
    if reranker_key := given.get(_KEYS_OF_RERANKERS.get(context.get("reranker", ""), "")):
        keys["RerankerApiKeySecretArn"] = reranker_key
    return Choices(context, keys)
