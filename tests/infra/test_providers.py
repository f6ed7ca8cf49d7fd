"""Each provider's functions get its settings, its key or its models, and nothing of another's."""

from __future__ import annotations

import pytest

from citewell.core.values import TextKind
from citewell.edges import aws, bedrock_embedder, function_embedder, function_reranker, retrying
from citewell.settings import Settings
from citewell.usecases import ingest_object
from infra.options import Egress, EmbedderChoice, GeneratorChoice, Options, RerankerChoice
from tests.infra.conftest import Synthesise
from tests.infra.templates import Json, Template, as_list, references

OPENAI = Options(
    embedder=EmbedderChoice.OPENAI,
    embedder_model="text-embedding-3-large",
    embedder_dimensions=1024,
    embedder_url="https://embeddings.example.com/v1",
    embedder_send_dimensions=True,
    embedder_batch_size=64,
    embedder_max_tokens=4096,
    min_score=0.4,
)
VOYAGE = Options(embedder=EmbedderChoice.VOYAGE, embedder_model="voyage-4", embedder_dimensions=1024, min_score=0.4)
BEDROCK = Options(
    embedder=EmbedderChoice.BEDROCK,
    embedder_model="amazon.titan-embed-text-v2:0",
    embedder_dimensions=512,
    generator=GeneratorChoice.BEDROCK,
    model="eu.anthropic.claude-haiku-4-5-20251001-v1:0",
    min_score=0.4,
)
PROFILES = Options(
    embedder=EmbedderChoice.BEDROCK,
    embedder_model="us.cohere.embed-v4:0",
    embedder_dimensions=1536,
    generator=GeneratorChoice.EXTRACTIVE,
    min_score=0.4,
)
EMBEDDING = ("ask", "ingest")
RERANKED = Options(reranker=RerankerChoice.LOCAL, rerank_candidates=30)
TEI = Options(
    reranker=RerankerChoice.TEI,
    reranker_model="bge-reranker-base",
    reranker_url="https://rerank.example.com:8443",
    rerank_seconds=1.5,
)


def statements(template: Template, name: str, action: str) -> list[Json]:
    """What lets this function do ``action``."""
    role = template.functions()[name][1]["Role"]["Fn::GetAtt"][0]
    return [each for each in template.statements_of(role) if action in as_list(each["Action"])]


def written(value: object) -> str:
    """An ARN with its pseudo parameters in ``${}``."""
    if isinstance(value, str):
        return value
    assert isinstance(value, dict)
    if "Ref" in value:
        return "${" + str(value["Ref"]) + "}"
    separator, parts = value["Fn::Join"]
    return str(separator).join(map(written, parts))


def invocable(template: Template, name: str) -> list[tuple[str, object]]:
    """(resource, condition) of each Bedrock model that this function may invoke."""
    return [
        (written(resource), each.get("Condition"))
        for each in statements(template, name, "bedrock:InvokeModel")
        for resource in as_list(each["Resource"])
    ]


@pytest.mark.parametrize("name", EMBEDDING)
def test_options_of_an_openai_compatible_embedder_reach_its_functions(name: str, synthesise: Synthesise) -> None:
    chosen = synthesise(OPENAI).settings(name)
    assert (chosen.embedder, chosen.embedder_url) == ("openai", "https://embeddings.example.com/v1")
    assert (chosen.embedder_model, chosen.embedder_dimensions) == ("text-embedding-3-large", 1024)
    assert chosen.embedder_send_dimensions == "yes"
    assert (chosen.embedder_batch_size, chosen.embedder_max_tokens) == (64, 4096)


@pytest.mark.parametrize("name", EMBEDDING)
def test_what_was_not_chosen_keeps_its_default(name: str, synthesise: Synthesise) -> None:
    chosen, default = synthesise(VOYAGE).settings(name), Settings()
    assert (chosen.embedder, chosen.embedder_url) == ("voyage", None)
    assert (chosen.embedder_model, chosen.embedder_dimensions) == ("voyage-4", 1024)
    assert chosen.embedder_send_dimensions == default.embedder_send_dimensions
    assert chosen.embedder_batch_size == default.embedder_batch_size
    assert chosen.embedder_max_tokens == default.embedder_max_tokens


@pytest.mark.parametrize("options", [OPENAI, VOYAGE], ids=["openai", "voyage"])
def test_an_api_key_is_a_secret_that_those_who_embed_may_read(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    [secret] = references(template.outputs["EmbedderApiKeySecretArn"]["Value"])
    for name in EMBEDDING:
        assert template.settings(name).embedder_api_key_secret_arn == secret
        readable = statements(template, name, "secretsmanager:GetSecretValue")
        assert secret in references([each["Resource"] for each in readable])
        assert not statements(template, name, "lambda:InvokeFunction")
    for name in ("documents", "migrate"):
        readable = statements(template, name, "secretsmanager:GetSecretValue")
        assert secret not in references([each["Resource"] for each in readable])
    assert "embed" not in template.functions()


def test_nobody_may_invoke_a_bedrock_model_that_was_not_chosen(synthesise: Synthesise) -> None:
    for options in (Options(), OPENAI, VOYAGE):
        for name in synthesise(options).functions():
            assert invocable(synthesise(options), name) == []
    for name in ("documents", "migrate"):
        assert invocable(synthesise(BEDROCK), name) == []


def test_a_model_is_invoked_in_the_stacks_own_region_alone(synthesise: Synthesise) -> None:
    titan = "arn:${AWS::Partition}:bedrock:${AWS::Region}::foundation-model/amazon.titan-embed-text-v2:0"
    assert invocable(synthesise(BEDROCK), "ingest") == [(titan, None)]
    assert (titan, None) in invocable(synthesise(BEDROCK), "ask")


@pytest.mark.parametrize(
    ("options", "names", "profile", "foundation"),
    [
        (
            BEDROCK,
            ("ask",),
            "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
            "anthropic.claude-haiku-4-5-20251001-v1:0",
        ),
        (PROFILES, EMBEDDING, "us.cohere.embed-v4:0", "cohere.embed-v4:0"),
    ],
    ids=["Claude", "Cohere"],
)
def test_a_profile_lets_its_own_model_be_invoked_elsewhere_and_through_it_alone(
    options: Options, names: tuple[str, ...], profile: str, foundation: str, synthesise: Synthesise
) -> None:
    template = synthesise(options)
    arn = "arn:${AWS::Partition}:bedrock:${AWS::Region}:${AWS::AccountId}:inference-profile/" + profile
    for name in names:
        found = [(resource, condition) for resource, condition in invocable(template, name) if "titan" not in resource]
        assert [resource for resource, _ in found] == [
            arn,
            f"arn:${{AWS::Partition}}:bedrock:*::foundation-model/{foundation}",
        ]
        condition = found[1][1]
        assert isinstance(condition, dict)
        assert written(condition["StringEquals"].pop("bedrock:InferenceProfileArn")) == arn
        assert condition == {"StringEquals": {}}


def test_a_batch_of_passages_fails_before_ingest_runs_out_of_the_time_it_keeps_for_one() -> None:
    hosted, function = retrying.EMBEDDING_PATIENCE[TextKind.PASSAGE], function_embedder.PATIENCE[TextKind.PASSAGE]
    longest = {
        "openai, voyage": hosted.seconds,
        "bedrock": hosted.seconds + aws.CONNECT_SECONDS + bedrock_embedder.READ_SECONDS,
        "function": function.seconds + aws.CONNECT_SECONDS + function_embedder.READ_SECONDS,
    }
    assert max(longest.values()) < ingest_object.SECONDS_FOR_A_BATCH


def test_bedrock_needs_no_key(synthesise: Synthesise) -> None:
    template = synthesise(BEDROCK)
    assert not {"EmbedderApiKeySecretArn", "AnthropicApiKeySecretArn"} & template.outputs.keys()
    ask = template.settings("ask")
    assert (ask.generator, ask.model) == ("bedrock", "eu.anthropic.claude-haiku-4-5-20251001-v1:0")
    assert (ask.embedder, ask.embedder_model) == ("bedrock", "amazon.titan-embed-text-v2:0")
    assert (ask.embedder_api_key_secret_arn, ask.anthropic_api_key_secret_arn) == (None, None)


@pytest.mark.parametrize(
    ("options", "model"),
    [(BEDROCK, "amazon.titan-embed-text-v2:0"), (PROFILES, "cohere.embed-v4:0"), (VOYAGE, "voyage-4")],
)
def test_the_index_is_made_for_the_model_whatever_profile_it_is_called_through(
    options: Options, model: str, synthesise: Synthesise
) -> None:
    _, schema = synthesise(options).only("Custom::CitewellSchema")
    assert schema["EmbedderModel"] == model


# --- rerankers ---


def test_nothing_reranks_unless_it_was_chosen(synthesise: Synthesise) -> None:
    template = synthesise(Options())
    assert template.settings("ask").reranker == "none"
    assert not [each for each in template.functions()["ask"][1]["Environment"]["Variables"] if "RERANK" in each]


def test_the_stack_reranks_with_its_own_function_which_ask_alone_may_invoke(synthesise: Synthesise) -> None:
    template = synthesise(RERANKED)
    rerank, function = template.functions()["rerank"]
    own, ask = template.settings("rerank"), template.settings("ask")
    assert (own.reranker, own.reranker_model_dir) == ("local", "/opt/model/ms-marco-MiniLM-L-12-v2")
    assert (ask.reranker, ask.rerank_function, ask.rerank_candidates) == ("function", rerank, 30)
    assert ask.reranker_model == RERANKED.reranker_id
    assert {"Ref": rerank} == template.functions()["ask"][1]["Environment"]["Variables"]["CITEWELL_RERANK_FUNCTION"]
    assert "VpcConfig" not in function
    assert ask.rerank_seconds == own.rerank_seconds < function["Timeout"]
    invokers = {
        name
        for name in template.functions()
        if rerank in references([each["Resource"] for each in statements(template, name, "lambda:InvokeFunction")])
    }
    assert invokers == {"ask"}
    assert "RerankerApiKeySecretArn" not in template.outputs


def test_the_rerank_function_may_write_its_log_and_nothing_else(synthesise: Synthesise) -> None:
    template = synthesise(RERANKED)
    role = template.functions()["rerank"][1]["Role"]["Fn::GetAtt"][0]
    actions = {action for each in template.statements_of(role) for action in as_list(each["Action"])}
    assert actions == {"logs:CreateLogStream", "logs:PutLogEvents"}


def test_a_reranking_api_is_told_to_ask_alone_with_its_key_and_the_port_to_reach_it_by(synthesise: Synthesise) -> None:
    template = synthesise(TEI)
    [secret] = references(template.outputs["RerankerApiKeySecretArn"]["Value"])
    ask = template.settings("ask")
    assert (ask.reranker, ask.reranker_url) == ("tei", "https://rerank.example.com:8443")
    assert (ask.reranker_model, ask.rerank_seconds) == ("bge-reranker-base", 1.5)
    assert ask.reranker_api_key_secret_arn == secret
    readers = {
        name
        for name in template.functions()
        if secret
        in references([each["Resource"] for each in statements(template, name, "secretsmanager:GetSecretValue")])
    }
    assert readers == {"ask"}
    assert "rerank" not in template.functions()
    ports = {
        each["ToPort"]
        for group in template.of_type("AWS::EC2::SecurityGroup").values()
        for each in group["Properties"].get("SecurityGroupEgress", [])
        if each.get("CidrIp") == "0.0.0.0/0"
    }
    assert ports == {443, 8443}


def test_the_rerank_function_is_reached_without_a_way_out(synthesise: Synthesise) -> None:
    inside = Options(
        **{field: getattr(BEDROCK, field) for field in ("embedder", "embedder_model", "embedder_dimensions")},
        min_score=0.4,
        generator=GeneratorChoice.EXTRACTIVE,
        reranker=RerankerChoice.LOCAL,
        egress=Egress.NONE,
    )
    services = {
        written(each["Properties"]["ServiceName"]).rpartition(".")[2]
        for each in synthesise(inside).of_type("AWS::EC2::VPCEndpoint").values()
    }
    assert "lambda" in services


def test_a_slow_reranker_leaves_a_question_its_answer(synthesise: Synthesise) -> None:
    """However slow embedder and reranker are together, there are seconds left for the model."""
    _, ask = synthesise(RERANKED).functions()["ask"]
    function = function_embedder.PATIENCE[TextKind.QUERY]
    embedded = function.seconds + aws.CONNECT_SECONDS + function_embedder.READ_SECONDS
    reranked = Settings().rerank_seconds + function_reranker.CONNECT_SECONDS
    assert embedded + reranked < ask["Timeout"] - 5
