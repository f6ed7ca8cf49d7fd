"""Which models of Amazon Bedrock a function may call: the one that was chosen, and no other."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from citewell.edges.bedrock import bedrock_model
from infra.bundled_function import BundledFunction
from infra.rules import acknowledge

INVOKE = "bedrock:InvokeModel"


def allow_invoking(function: BundledFunction, model: str) -> None:
    """Let ``function`` call ``model``, by a model's id or a cross-region inference profile's.

    A profile's call counts as one of the profile, here, and one of the model, in whichever region the profile chose.
    Which regions those are depends on model, geography and caller, is written nowhere that synth could read, and
    grows; a global profile's calls name none at all. So the model's region is left open, and the condition holds the
    call to this very profile instead, which never leaves its geography. Source: the Bedrock user guide,
    "Prerequisites for inference profiles".
    """
    chosen = bedrock_model(model)
    if not chosen.is_profile:
        function.allow(INVOKE, on=[_model_arn(chosen.foundation, region=Aws.REGION)])
        return
    profile = f"arn:{Aws.PARTITION}:bedrock:{Aws.REGION}:{Aws.ACCOUNT_ID}:inference-profile/{chosen.identifier}"
    function.allow(INVOKE, on=[profile])
    function.role.add_to_policy(
        iam.PolicyStatement(
            actions=[INVOKE],
            resources=[_model_arn(chosen.foundation, region="*")],
            conditions={"StringEquals": {"bedrock:InferenceProfileArn": profile}},
        )
    )
    open_region = f"arn:<AWS::Partition>:bedrock:*::foundation-model/{chosen.foundation}"
    acknowledge(
        function,
        {
            f"IAM5[Resource::{open_region}]": "one model, in the regions that its inference profile hands requests to; "
            "a condition on the profile's ARN allows the call through that profile alone"
        },
    )


def _model_arn(foundation: str, *, region: str) -> str:
    return f"arn:{Aws.PARTITION}:bedrock:{region}::foundation-model/{foundation}"
