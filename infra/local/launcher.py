"""The AWS emulator with what it lacks for this stack: ``python -P launcher.py STATE VERSION < configuration.json``.

STATE is the folder of its data; VERSION is for those who look for its process. It runs in a virtual environment that
holds the emulator and nothing of the product, so that a dependency missing from a layer shows here as it would on
Lambda. For the same reason nothing of the product is imported but ``launcher_rds.py`` and ``database_tls.py``, which
themselves import nothing of it.

Added to the emulator:

- security group rules, the IPv6 block and the egress-only gateway of a VPC, and attributes of the VPC;
- an RDS instance is a role and a database in a local Postgres (see ``launcher_rds.py``), behind TLS and IAM tokens (see
  ``database_tls.py``);
- where the emulator serves over TLS, it fetches an issuer's keys over TLS, too;
- a list of a bucket's versions encodes keys where that is asked for, as XML can't hold every key otherwise;
- a bucket that is to be deleted with its objects is emptied first;
- an API keeps its address and a bucket its name from one start to the next, and the bucket its objects;
- in a function's environment, ``/opt/...`` means the layer that holds that path, as it does on Lambda, and the
  authorities of RDS mean that of this machine;
- a layer is unpacked once, not once for each copy of each function that has it (seconds each time);
- what functions log stands in ``functions.log``, too.

The emulator offers no extension point for any of this, so names private to one release of it are replaced here.
``python -P launcher.py --check`` exits with a message when the installed release lacks one of them.
"""

import hashlib
import html
import importlib
import importlib.util
import json
import os
import re
import shutil
import sys
import threading
import uuid
import zipfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

WRITTEN_FOR = "1.5.33"

PRIVATE_NAMES = {
    "ministack.app": ("AUTH", "_port_is_bindable", "main"),
    "ministack.core.iam_evaluator": (
        "AuthError",
        "CredentialResolutionError",
        "EvalContext",
        "evaluate",
        "resolve_credential",
        "resolve_principal",
    ),
    "ministack.core.iam_actions": ("extract_iam_action",),
    "ministack.core.lambda_runtime": ("_PYTHON_WORKER_SCRIPT", "zipfile"),
    "ministack.core.responses": ("get_account_id", "get_region", "request_scope"),
    "ministack.core.tls": ("use_ssl_enabled",),
    "ministack.services.apigateway": ("_HOST", "_PORT", "_resolve_jwks_url"),
    "ministack.services.cloudformation.provisioners": (
        "_RESOURCE_HANDLERS",
        "_ec2_sg_permissions",
        "_physical_name",
        "_rds_db_instance_attrs",
    ),
    "ministack.services.ec2": ("_security_groups", "_vpcs"),
    "ministack.services.lambda_svc": ("_emit_lambda_logs",),
    "ministack.services.rds": ("_instances",),
    "ministack.services.s3": ("_buckets", "_list_object_versions", "_qp"),
}
WRAPPED_TYPES = (
    "AWS::ApiGatewayV2::Api",
    "AWS::EC2::VPC",
    "AWS::Lambda::EventSourceMapping",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
    "AWS::SecretsManager::Secret",
)

RDS_AUTHORITIES = "/opt/rds-ca/global-bundle.pem"
WORKER_READS_ENVIRONMENT = "    os.environ.update(env)\n"
WORKER_FINDS_LAYERS = """\
    for _name, _value in env.items():
        if _value == {rds_authorities!r}:
            os.environ[_name] = {authority!r}
        elif _value.startswith("/opt/"):
            for _layer in os.environ.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep):
                if _layer and os.path.exists(os.path.join(_layer, _value[len("/opt/"):])):
                    os.environ[_name] = os.path.join(_layer, _value[len("/opt/"):])
"""


def check() -> None:
    """Exits with a message that names every private name which the installed emulator lacks."""
    from importlib.metadata import version

    missing = []
    for module_name, names in PRIVATE_NAMES.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            missing.append(module_name)
            continue
        missing += [f"{module_name}.{name}" for name in names if not hasattr(module, name)]
    if not missing:
        from ministack.core import lambda_runtime
        from ministack.services.cloudformation import provisioners

        handlers = provisioners._RESOURCE_HANDLERS
        missing += [
            f"the {action} handler of {resource_type}"
            for resource_type in WRAPPED_TYPES
            for action in ("create", "update", "delete")
            if not callable(handlers.get(resource_type, {}).get(action))
        ]
        if WORKER_READS_ENVIRONMENT not in lambda_runtime._PYTHON_WORKER_SCRIPT:
            missing.append("the line of the Python worker that reads the function's environment")
    if missing:
        sys.exit(
            f"ministack {version('ministack')} lacks what infra/local/launcher.py replaces in it "
            f"(written for {WRITTEN_FOR}): {', '.join(missing)}"
        )


# --- permissions -----------------------------------------------------------------------------------------------


def authorize_batches(iam_actions):
    """AWS has no permissions for batches of a queue's messages: they take that for a single message."""
    extract = iam_actions.extract_iam_action

    def extract_as_aws(*request):
        action = extract(*request)
        is_batch = action and action.startswith("sqs:") and action.endswith("MessageBatch")
        return action.removesuffix("Batch") if is_batch else action

    iam_actions.extract_iam_action = extract_as_aws


# --- network: nothing is filtered here, the records only have to be there ------------------------------------


def add_security_group_rules(provisioners, ec2):
    def rule(store):
        def create(_logical_id, properties, _stack_name):
            group = ec2._security_groups[properties["GroupId"]]
            group[store].extend(provisioners._ec2_sg_permissions([properties]))
            rule_id = f"sgr-{uuid.uuid4().hex[:17]}"
            return rule_id, {"Id": rule_id}

        def delete(_physical_id, properties):
            group = ec2._security_groups.get(properties.get("GroupId"))
            for permission in provisioners._ec2_sg_permissions([properties]) if group else ():
                if permission in group[store]:
                    group[store].remove(permission)

        def update(physical_id, old_properties, new_properties, stack_name):
            delete(physical_id, old_properties)
            return create(physical_id, new_properties, stack_name)

        return {"create": create, "update": update, "delete": delete}

    handlers = provisioners._RESOURCE_HANDLERS
    handlers.setdefault("AWS::EC2::SecurityGroupIngress", rule("IpPermissions"))
    handlers.setdefault("AWS::EC2::SecurityGroupEgress", rule("IpPermissionsEgress"))


def add_vpc_attributes(provisioners):
    handler = provisioners._RESOURCE_HANDLERS["AWS::EC2::VPC"]
    create_vpc = handler["create"]

    def create(logical_id, properties, stack_name):
        physical_id, attributes = create_vpc(logical_id, properties, stack_name)
        # The IPv6 block is a resource of its own, but its value is read from the VPC, which comes first.
        extra = {"CidrBlock": properties.get("CidrBlock", "10.0.0.0/16"), "Ipv6CidrBlocks": ["fd00:c17e:3e11::/56"]}
        return physical_id, {**extra, **attributes}

    handler["create"] = create


def add_ipv6(provisioners):
    def record(prefix):
        def create(_logical_id, _properties, _stack_name):
            physical_id = f"{prefix}-{uuid.uuid4().hex[:17]}"
            return physical_id, {"Id": physical_id}

        return {"create": create, "delete": lambda _physical_id, _properties: None}

    handlers = provisioners._RESOURCE_HANDLERS
    handlers.setdefault("AWS::EC2::VPCCidrBlock", record("vpc-cidr-assoc"))
    handlers.setdefault("AWS::EC2::EgressOnlyInternetGateway", record("eigw"))
    handlers.setdefault("AWS::EC2::FlowLog", record("fl"))


# --- the API ---------------------------------------------------------------------------------------------------


def fetch_keys_over_tls(apigateway, tls):
    """The emulator asks itself for the keys of a Cognito pool, in plain HTTP whatever it serves."""
    resolve = apigateway._resolve_jwks_url

    async def over_tls(authorizer):
        url = await resolve(authorizer)
        plain = f"http://{apigateway._HOST}:{apigateway._PORT}/"
        return f"https{url[4:]}" if url and url.startswith(plain) and tls.use_ssl_enabled() else url

    apigateway._resolve_jwks_url = over_tls


def keep_api_address(provisioners):
    """An API's id is its stack's name, so that its address stays the same from one start to the next."""
    handler = provisioners._RESOURCE_HANDLERS["AWS::ApiGatewayV2::Api"]
    create_api = handler["create"]

    def create(logical_id, properties, stack_name):
        return create_api(
            logical_id,
            {**properties, "Tags": {"ms-custom-id": stack_name.lower(), **properties.get("Tags", {})}},
            stack_name,
        )

    handler["create"] = create


# --- buckets ---------------------------------------------------------------------------------------------------


def keep_buckets(provisioners, s3, get_account_id):
    """The emulator has read the objects back from disk. They wait here until their bucket is deployed again."""
    waiting = dict(s3._buckets._data)
    s3._buckets._data.clear()
    handler = provisioners._RESOURCE_HANDLERS["AWS::S3::Bucket"]
    create_bucket, delete_bucket = handler["create"], handler["delete"]

    def create(logical_id, properties, stack_name):
        # The emulator's own name for a bucket without one has a random part.
        name = properties.get("BucketName") or provisioners._physical_name(
            stack_name, logical_id, lowercase=True, max_len=63, seeded=False
        )
        created = create_bucket(logical_id, {**properties, "BucketName": name}, stack_name)
        before = waiting.pop((get_account_id(), name), None)
        if before is not None:
            s3._buckets[name]["objects"].update(before["objects"])
        return created

    def delete(physical_id, properties):
        bucket = s3._buckets.get(physical_id)
        if bucket is not None and bucket["objects"]:
            waiting[(get_account_id(), physical_id)] = bucket
        return delete_bucket(physical_id, properties)

    handler["create"], handler["delete"] = create, delete


def empty_buckets(provisioners, tls):
    """The CDK's own function that empties a bucket before its deletion wants a module that only Lambda has."""

    def create(_logical_id, properties, _stack_name):
        return properties["BucketName"], {}

    def update(_physical_id, _old_properties, properties, _stack_name):
        return properties["BucketName"], {}

    def delete(bucket, _properties):
        import boto3

        session = boto3.Session(
            aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "local"),
            aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "local"),
            region_name=os.environ["MINISTACK_REGION"],
        )
        scheme = "https" if tls.use_ssl_enabled() else "http"
        s3 = session.resource("s3", endpoint_url=f"{scheme}://127.0.0.1:{os.environ['GATEWAY_PORT']}")
        for version in s3.Bucket(bucket).object_versions.all():
            version.delete()  # one by one, as no list of them in XML holds every key

    handler = {"create": create, "update": update, "delete": delete}
    provisioners._RESOURCE_HANDLERS["Custom::S3AutoDeleteObjects"] = handler


def encode_keys_of_versions(s3):
    list_versions = s3._list_object_versions

    def encoded(match):
        key = html.unescape(match[2].decode())
        return b"<%b>%b</%b>" % (match[1], quote(key, safe="/").encode(), match[1])

    def list_encoded(bucket, query):
        status, headers, body = list_versions(bucket, query)
        if status == 200 and s3._qp(query, "encoding-type", "") == "url":
            body = re.sub(rb"(?s)<(Key|Prefix|KeyMarker|NextKeyMarker|Delimiter)>(.*?)</\1>", encoded, body)
            body = body.replace(b"<MaxKeys>", b"<EncodingType>url</EncodingType><MaxKeys>")
        return status, headers, body

    s3._list_object_versions = list_encoded


# --- functions -------------------------------------------------------------------------------------------------


def find_layers_under_opt(lambda_runtime, *, authority):
    """`authority`: the file that stands for `RDS_AUTHORITIES`."""
    finds = WORKER_FINDS_LAYERS.format(rds_authorities=RDS_AUTHORITIES, authority=authority)
    lambda_runtime._PYTHON_WORKER_SCRIPT = lambda_runtime._PYTHON_WORKER_SCRIPT.replace(
        WORKER_READS_ENVIRONMENT, WORKER_READS_ENVIRONMENT + finds
    )


class UnpackedOnce(zipfile.ZipFile):
    """Unpacks a layer into a folder that all functions share, and puts a link where it was to be unpacked to."""

    folder = Path("layers")
    lock = threading.Lock()
    kept = 6

    def extractall(self, path=None, members=None, pwd=None):
        target = Path(path)
        if not target.name.startswith("layer_"):
            super().extractall(path, members, pwd)
            return
        with Path(self.filename).open("rb") as file:
            shared = self.folder / hashlib.file_digest(file, "sha256").hexdigest()
        with self.lock:
            if not shared.exists():
                unfinished = self.folder / f".unfinished-{os.getpid()}"
                shutil.rmtree(unfinished, ignore_errors=True)
                super().extractall(unfinished, members, pwd)
                unfinished.rename(shared)
        os.utime(shared)
        target.rmdir()
        target.symlink_to(shared)


def unpack_layers_once(lambda_runtime, folder):
    UnpackedOnce.folder = folder
    folder.mkdir(exist_ok=True)
    for old in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)[: -UnpackedOnce.kept]:
        shutil.rmtree(old)
    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": UnpackedOnce})


def write_logs_to(path, lambda_svc):
    """What functions log goes to one file, too: in the emulator's CloudWatch nobody would look for it."""
    emit = lambda_svc._emit_lambda_logs

    def emit_and_write(function, request_id, text, *rest, **options):
        emit(function, request_id, text, *rest, **options)
        name = (function.get("config") or function).get("FunctionName", "")
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{name} {request_id} {line}\n" for line in text.splitlines())

    lambda_svc._emit_lambda_logs = emit_and_write


def spare_the_cores(provisioners):
    """No more copies of a queue's consumer than there are cores: each is a process of this machine."""
    handler = provisioners._RESOURCE_HANDLERS["AWS::Lambda::EventSourceMapping"]

    def bounded(properties):
        scaling = properties.get("ScalingConfig") or {}
        most = max(2, os.cpu_count() or 2)
        return {
            **properties,
            "ScalingConfig": {**scaling, "MaximumConcurrency": min(int(scaling.get("MaximumConcurrency", most)), most)},
        }

    create_mapping, update_mapping = handler["create"], handler["update"]
    handler["create"] = lambda logical_id, properties, stack_name: create_mapping(
        logical_id, bounded(properties), stack_name
    )
    handler["update"] = lambda physical_id, old, new, *rest, **options: update_mapping(
        physical_id, bounded(old), bounded(new), *rest, **options
    )


def main(state, configuration):
    """Serves until SIGTERM, and keeps unpacked layers below the folder `state`.

    `configuration`: {"postgres": {...}, "authority": FILE, "chain": FILE}, see launcher_rds.py and certificates.py. It
    comes by standard input, since functions inherit the environment, which holds the emulator's own settings.
    """
    check()
    from ministack import app
    from ministack.core import iam_actions, iam_evaluator, lambda_runtime, responses, tls
    from ministack.services import apigateway, ec2, lambda_svc, rds, s3
    from ministack.services.cloudformation import provisioners

    database_tls, launcher_rds = load_beside("database_tls"), load_beside("launcher_rds")
    logins = launcher_rds.IamLogins(iam_evaluator, responses, rds, enforced=app.AUTH)
    front = database_tls.DatabaseFront(
        database_tls.Server(**configuration["postgres"]),
        chain=configuration["chain"],
        secret_of=logins.secret_of,
        may_connect=logins.may_connect,
        region=os.environ["MINISTACK_REGION"],
    )
    front.start()
    authorize_batches(iam_actions)
    add_security_group_rules(provisioners, ec2)
    add_vpc_attributes(provisioners)
    add_ipv6(provisioners)
    postgres = launcher_rds.LocalPostgres(configuration["postgres"])
    launcher_rds.name_secrets_by_arn(provisioners)
    launcher_rds.keep_databases_in(postgres, provisioners, rds, responses, front=front, logins=logins)
    keep_buckets(provisioners, s3, responses.get_account_id)
    encode_keys_of_versions(s3)
    empty_buckets(provisioners, tls)
    keep_api_address(provisioners)
    spare_the_cores(provisioners)
    fetch_keys_over_tls(apigateway, tls)
    find_layers_under_opt(lambda_runtime, authority=configuration["authority"])
    unpack_layers_once(lambda_runtime, state / "layers")
    write_logs_to(state / "functions.log", lambda_svc)
    app._port_is_bindable = lambda _host, _port: False  # it would serve on 443, too, which others may want
    sys.argv = sys.argv[:1]  # the emulator reads it
    app.main()


def load_beside(name):
    """The module `name` of this file's folder, which isn't on the path: nothing else of it is to be found."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        main(Path(sys.argv[1]), json.load(sys.stdin))
