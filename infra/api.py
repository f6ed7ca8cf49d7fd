"""The HTTP API."""

from __future__ import annotations

from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

REQUESTS_PER_SECOND = 25
BURST = 50
"""About what the functions' copies can answer; the rest is told 429 here, before it costs anything."""


class Api(Construct):
    """POST /ask and /search, GET /documents/{source} (and its /chunks) and /health, on one stage without a prefix."""

    def __init__(
        self, scope: Construct, construct_id: str, *, ask: lambda_.IFunction, documents: lambda_.IFunction
    ) -> None:
        super().__init__(scope, construct_id)
        api = apigateway.HttpApi(self, "HttpApi", create_default_stage=False, description="Citewell")
        to_ask = integrations.HttpLambdaIntegration("Ask", ask)
        to_documents = integrations.HttpLambdaIntegration("Documents", documents)
        post, get = [apigateway.HttpMethod.POST], [apigateway.HttpMethod.GET]
        api.add_routes(path="/ask", methods=post, integration=to_ask)
        api.add_routes(path="/search", methods=post, integration=to_ask)
        # Greedy, since a source is a key with slashes; an HTTP API allows nothing behind it, so the function itself
        # tells a trailing /chunks.
        api.add_routes(path="/documents/{source+}", methods=get, integration=to_documents)
        api.add_routes(path="/health", methods=get, integration=to_documents)
        apigateway.HttpStage(
            self,
            "Stage",
            http_api=api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(rate_limit=REQUESTS_PER_SECOND, burst_limit=BURST),
        )
        self.url = api.api_endpoint
        self.api_id = api.api_id
