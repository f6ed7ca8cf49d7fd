"""The AWS emulator with what it lacks for this stack: ``python -P launcher.py STATE VERSION < configuration.json``.

STATE is the folder of its data; VERSION is for those who look for its process. It runs in a virtual environment that
holds the emulator and nothing of the product, so that a dependency missing from a layer shows here as it would on
Lambda. For the same reason nothing of the product is imported, and this file stands alone.

Added to the emulator:

- security group rules, the IPv6 block and the egress-only gateway of a VPC, and attributes of the VPC;
- an RDS instance is a role and a database in a local Postgres. A database that is there is kept, whatever the
  stack does, and its owner's password becomes that of the instance;
- an API keeps its address and a bucket its name from one start to the next, and the bucket its objects;
- in a function's environment, ``/opt/...`` means the layer that holds that path, as it does on Lambda;
- a layer is unpacked once, not once for each copy of each function that has it (seconds each time);
- what functions log stands in ``functions.log``, too.

The emulator offers no extension point for any of this, so names private to one release of it are replaced here.
``python -P launcher.py --check`` exits with a message when the installed release lacks one of them.
"""

import hashlib
import importlib
import json
import os
import shutil
import sys
import threading
import uuid
import zipfile
from pathlib import Path
from types import SimpleNamespace

WRITTEN_FOR = "1.5.33"

PRIVATE_NAMES = {
    "ministack.app": ("main",),
    "ministack.core.lambda_runtime": ("_PYTHON_WORKER_SCRIPT", "zipfile"),
    "ministack.core.responses": ("get_account_id",),
    "ministack.services.cloudformation.provisioners": (
        "_RESOURCE_HANDLERS",
        "_ec2_sg_permissions",
        "_physical_name",
        "_rds_db_instance_attrs",
    ),
    "ministack.services.ec2": ("_security_groups", "_vpcs"),
    "ministack.services.lambda_svc": ("_emit_lambda_logs",),
    "ministack.services.rds": ("_instances",),
    "ministack.services.s3": ("_buckets",),
}
WRAPPED_TYPES = (
    "AWS::ApiGatewayV2::Api",
    "AWS::EC2::VPC",
    "AWS::Lambda::EventSourceMapping",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
)

WORKER_READS_ENVIRONMENT = "    os.environ.update(env)\n"
WORKER_FINDS_LAYERS = """\
    for _name, _value in env.items():
        if _value.startswith("/opt/"):
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


# --- the database ---------------------------------------------------------------------------------------------


class LocalPostgres:
    """The server that stands for RDS. `server`: host, port, user and password of its superuser."""

    def __init__(self, server):
        self.server = server

    def provide(self, *, owner, password, database):
        """Makes `owner` with `password`, and `database` of that owner; what is there is kept."""
        import psycopg2
        from psycopg2 import sql

        connection = psycopg2.connect(dbname="postgres", connect_timeout=10, **self.server)
        connection.autocommit = True
        try:
            cursor = connection.cursor()
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [owner])
            statement = (
                "ALTER ROLE {} PASSWORD {}" if cursor.fetchone() else "CREATE ROLE {} LOGIN CREATEROLE PASSWORD {}"
            )
            cursor.execute(sql.SQL(statement).format(sql.Identifier(owner), sql.Literal(password)))
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
            if not cursor.fetchone():
                create = sql.SQL("CREATE DATABASE {} OWNER {}")
                cursor.execute(create.format(sql.Identifier(database), sql.Identifier(owner)))
        finally:
            connection.close()


def keep_databases_in(postgres, provisioners, rds):
    handler = provisioners._RESOURCE_HANDLERS["AWS::RDS::DBInstance"]
    create_instance, update_instance = handler["create"], handler["update"]

    def attach(physical_id):
        instance = rds._instances[physical_id]
        postgres.provide(
            owner=instance["MasterUsername"],
            password=instance["_MasterUserPassword"],
            database=instance["DBName"],
        )
        address = {"Address": postgres.server["host"], "Port": postgres.server["port"]}
        instance["Endpoint"] = {**instance["Endpoint"], **address}
        return physical_id, provisioners._rds_db_instance_attrs(instance)

    def create(logical_id, properties, stack_name):
        return attach(create_instance(logical_id, properties, stack_name)[0])

    def update(*arguments, **options):
        return attach(update_instance(*arguments, **options)[0])

    # No delete: a rolled back deployment must not take the index with it. Removing the state folder does.
    handler["create"], handler["update"] = create, update


# --- the API ---------------------------------------------------------------------------------------------------


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
        if bucket is not None:
            waiting[(get_account_id(), physical_id)] = bucket
        return delete_bucket(physical_id, properties)

    handler["create"], handler["delete"] = create, delete


# --- functions -------------------------------------------------------------------------------------------------


def find_layers_under_opt(lambda_runtime):
    lambda_runtime._PYTHON_WORKER_SCRIPT = lambda_runtime._PYTHON_WORKER_SCRIPT.replace(
        WORKER_READS_ENVIRONMENT, WORKER_READS_ENVIRONMENT + WORKER_FINDS_LAYERS
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

    `configuration`: {"postgres": {...}}, see LocalPostgres. It comes by standard input, since functions inherit the
    environment, which holds the emulator's own settings.
    """
    check()
    from ministack import app
    from ministack.core import lambda_runtime
    from ministack.core.responses import get_account_id
    from ministack.services import ec2, lambda_svc, rds, s3
    from ministack.services.cloudformation import provisioners

    add_security_group_rules(provisioners, ec2)
    add_vpc_attributes(provisioners)
    add_ipv6(provisioners)
    keep_databases_in(LocalPostgres(configuration["postgres"]), provisioners, rds)
    keep_buckets(provisioners, s3, get_account_id)
    keep_api_address(provisioners)
    spare_the_cores(provisioners)
    find_layers_under_opt(lambda_runtime)
    unpack_layers_once(lambda_runtime, state / "layers")
    write_logs_to(state / "functions.log", lambda_svc)
    sys.argv = sys.argv[:1]  # the emulator reads it
    app.main()


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        main(Path(sys.argv[1]), json.load(sys.stdin))
