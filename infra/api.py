"""The HTTP API."""

from __future__ import annotations

import json
from collections.abc import Sequence

import jsii
from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigateway as rest
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundled_function import LOG_RETENTION
from infra.identity import UserPool, authorizer_of
from infra.options import Options
from infra.rules import acknowledge

REQUESTS_PER_SECOND = 25
BURST = 50
"""About what the functions' copies can answer; the rest is told 429 here, before it costs anything."""

LOGGED = {
    "requestId": "$context.requestId",
    "time": "$context.requestTime",
    "routeKey": "$context.routeKey",
    "status": "$context.status",
    "latency": "$context.responseLatency",
    "responseLength": "$context.responseLength",
    "caller": "$context.authorizer.claims.sub",
    "principal": "$context.identity.userArn",
    "authorizerError": "$context.authorizer.error",
    "error": "$context.error.message",
    "integrationStatus": "$context.integrationStatus",
    "integrationLatency": "$context.integrationLatency",
    "integrationError": "$context.integrationErrorMessage",
    "functionRequestId": "$context.integration.requestId",
}
"""One line a request. ``requestId`` is the one of problem documents and of the functions' logs.

Neither path nor query: they name documents. No address: whoever was let in is told by ``caller``, the token's subject,
or ``principal``, and that is what an operator can lock out; whoever wasn't has cost nothing and seen nothing.
"""


class Api(Construct):
    """POST /ask and /search, GET /documents, /documents/{source} and its /chunks, /health; one stage without a prefix.

    Every route stands behind the authorizer of ``options``, /health too: it asks the database, and nobody on the
    internet should be able to keep that busy. No load balancer needs it, alarms watch the functions themselves, and a
    monitor can hold a token or a key as any other caller does.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        options: Options,
        users: UserPool | None,
        ask: lambda_.IFunction,
        documents: lambda_.IFunction,
    ) -> None:
        super().__init__(scope, construct_id)
        authorizer = authorizer_of(options, users)
        api = apigateway.HttpApi(
            self,
            "HttpApi",
            create_default_stage=False,
            description="Citewell",
            default_authorizer=authorizer,
            cors_preflight=_cross_origin(options.cors_origins) if options.cors_origins else None,
        )
        if authorizer is None:
            said_twice = "auth=none, which must be said twice to deploy to AWS: callers see what is for everyone."
            acknowledge(self, {"APIG4": said_twice})
        to_ask = integrations.HttpLambdaIntegration("Ask", ask)
        to_documents = integrations.HttpLambdaIntegration("Documents", documents, scope_permission_to_route=False)
        get, post = apigateway.HttpMethod.GET, apigateway.HttpMethod.POST
        api.add_routes(path="/ask", methods=[post], integration=to_ask)
        api.add_routes(path="/search", methods=[post], integration=to_ask)
        api.add_routes(path="/documents", methods=[get], integration=to_documents)
        # Greedy, since a source is a key with slashes; an HTTP API allows nothing behind it, so the function itself
        # tells a trailing /chunks.
        api.add_routes(path="/documents/{source+}", methods=[get], integration=to_documents)
        api.add_routes(path="/health", methods=[get], integration=to_documents)
        # For a problem document that says 404 or 405. Not $default, nor any method: those take OPTIONS too, and a
        # preflight would have to bring a token. Without a route for it, API Gateway answers it by itself.
        others = [apigateway.HttpMethod.PUT, apigateway.HttpMethod.PATCH, apigateway.HttpMethod.DELETE]
        api.add_routes(path="/{proxy+}", methods=[get, post, *others], integration=to_documents)
        apigateway.HttpStage(
            self,
            "Stage",
            http_api=api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(rate_limit=REQUESTS_PER_SECOND, burst_limit=BURST),
            access_log_settings=_AccessLog(self),
        )
        self.url = api.api_endpoint
        self.api_id = api.api_id


def _cross_origin(origins: Sequence[str]) -> apigateway.CorsPreflightOptions:
    """Browsers on pages of these origins may ask. Without credentials: callers are known by tokens, not by cookies."""
    return apigateway.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[apigateway.CorsHttpMethod.GET, apigateway.CorsHttpMethod.POST],
        allow_headers=["authorization", "content-type", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"],
        expose_headers=["retry-after"],
        max_age=Duration.hours(1),
    )


@jsii.implements(apigateway.IAccessLogSettings)
class _AccessLog:
    def __init__(self, scope: Construct) -> None:
        group = logs.LogGroup(scope, "Logs", retention=LOG_RETENTION, removal_policy=RemovalPolicy.DESTROY)
        self._destination = apigateway.LogGroupLogDestination(group)

    @property
    def destination(self) -> apigateway.IAccessLogDestination:
        return self._destination

    @property
    def format(self) -> rest.AccessLogFormat:
        return rest.AccessLogFormat.custom(json.dumps(LOGGED))
