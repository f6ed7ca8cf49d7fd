"""Looking things up in a CloudFormation template."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citewell.settings import Settings
from infra.options import Options

Json = dict[str, Any]

_OURS = {
    "ingest": "IngestionIngestFunction",
    "ask": "AnsweringAskFunction",
    "documents": "AnsweringDocumentsFunction",
    "embed": "EmbeddingEmbedFunction",
    "rerank": "RerankingRerankFunction",
    "migrate": "MigrationMigrateFunction",
    "verify": "VerificationVerifyFunction",
}
"""Citewell's functions; the CDK adds some of its own, before the custom resources and for the notifications."""


class Template:
    """What was synthesised for ``options``, and the rules of cdk-nag that it breaks."""

    def __init__(self, path: Path, *, options: Options, violations: list[str]) -> None:
        self.path = path
        self.options = options
        self.violations = violations
        body = json.loads(path.read_text(encoding="utf-8"))
        self.resources: dict[str, Json] = body["Resources"]
        self.outputs: dict[str, Json] = body["Outputs"]

    def of_type(self, kind: str) -> dict[str, Json]:
        return {name: each for name, each in self.resources.items() if each["Type"] == kind}

    def only(self, kind: str) -> tuple[str, Json]:
        """Logical id and properties of the one resource of this type."""
        [(name, resource)] = self.of_type(kind).items()
        return name, resource["Properties"]

    def functions(self) -> dict[str, tuple[str, Json]]:
        """Citewell's functions by name: logical id and properties."""
        found = {}
        for name, prefix in _OURS.items():
            for logical_id, resource in self.of_type("AWS::Lambda::Function").items():
                if logical_id.startswith(prefix):
                    found[name] = (logical_id, resource["Properties"])
        return found

    def settings(self, function: str) -> Settings:
        """What this function of Citewell's is told, with each reference standing for itself."""
        variables = self.functions()[function][1].get("Environment", {"Variables": {}})["Variables"]
        known = {"CITEWELL_DATABASE_PORT": "5432"}  # of the instance, which isn't there yet
        texts = {
            name: value if isinstance(value, str) else "".join(references(value)) for name, value in variables.items()
        }
        return Settings.from_environment({name: known.get(name, text) for name, text in texts.items()})

    def statements_of(self, role: str) -> list[Json]:
        """Every policy statement of the role with this logical id."""
        policies = list(self.resources[role]["Properties"].get("Policies", []))
        attached = (each["Properties"] for each in self.of_type("AWS::IAM::Policy").values())
        policies += [policy for policy in attached if {"Ref": role} in policy["Roles"]]
        return [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]

    def waits_for(self, logical_id: str) -> frozenset[str]:
        """What CloudFormation must finish before this resource, directly or not."""
        found: set[str] = set()
        pending = [logical_id]
        while pending:
            for other in _direct_dependencies(self.resources[pending.pop()]):
                if other in self.resources and other not in found:
                    found.add(other)
                    pending.append(other)
        return frozenset(found)


def references(value: object) -> Iterator[str]:
    """The logical ids (and pseudo parameters) that a part of a template mentions."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "Ref":
                yield str(inner)
            elif key == "Fn::GetAtt":
                yield str(inner[0] if isinstance(inner, list) else inner.split(".")[0])
            elif key == "Fn::Sub":
                text = inner if isinstance(inner, str) else inner[0]
                yield from (name.split(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", text))
                yield from references(inner)
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _direct_dependencies(resource: Json) -> Iterator[str]:
    yield from as_list(resource.get("DependsOn", []))
    yield from references(resource.get("Properties", {}))
