"""How the emulator's RDS becomes a local Postgres; a part of ``launcher.py``, and as free of the product.

An instance is a role and a database. A database that is there is kept, unless an instance without deletion protection
is deleted, and its owner's password becomes that of the instance. The secret of a managed master password is made.
"""

import contextlib
import json
import secrets

SECRETS = "AWS::SecretsManager::Secret"


class LocalPostgres:
    """The server that stands for RDS. `server`: host, port, user and password of its superuser."""

    def __init__(self, server):
        self.server = server

    def provide(self, *, owner, password, database):
        """Makes `owner` with `password`, and `database` of that owner; what is there is kept.

        As RDS' master user, the owner makes roles and hands on `rds_iam`, in which it isn't itself.
        """
        from psycopg2 import sql

        role, name = sql.Identifier(owner), sql.Identifier(database)
        with self._administrating() as cursor:
            for each, options in (("rds_iam", "NOLOGIN"), (owner, "LOGIN CREATEROLE")):
                cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [each])
                if not cursor.fetchone():
                    cursor.execute(sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(each), sql.SQL(options)))
            cursor.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
            hand_on = "GRANT rds_iam TO {} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE"
            cursor.execute(sql.SQL(hand_on).format(role))
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
            if not cursor.fetchone():
                cursor.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, role))

    def drop(self, *, owner, database):
        """Drops the database and every role that was made for it."""
        from psycopg2 import sql

        with self._administrating() as cursor:
            cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))
            cursor.execute("SELECT rolname FROM pg_roles WHERE starts_with(rolname, %s)", [f"{owner}_"])
            # The owner last: it granted the others what they are.
            for role in (*(name for (name,) in cursor.fetchall()), owner):
                cursor.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))

    @contextlib.contextmanager
    def _administrating(self):
        import psycopg2

        connection = psycopg2.connect(dbname="postgres", connect_timeout=10, **self.server)
        connection.autocommit = True
        try:
            yield connection.cursor()
        finally:
            connection.close()


class IamLogins:
    """What the database's front asks about a login. `enforced`: whether policies count here."""

    def __init__(self, iam, responses, rds, *, enforced):
        self.iam, self.responses, self.rds, self.enforced = iam, responses, rds, enforced
        self.instance = ("", "", "")
        """(account, region, id) of the RDS instance, once there is one."""

    def secret_of(self, access_key_id, session_token):
        account, _, _ = self.instance
        found = self.iam.resolve_credential(access_key_id, account, session_token)
        return None if isinstance(found, self.iam.CredentialResolutionError) else found.secret_access_key

    def may_connect(self, access_key_id, user):
        account, region, instance_id = self.instance
        instance = self.rds._instances.get_scoped(account, region, instance_id)
        if not instance or not instance["IAMDatabaseAuthenticationEnabled"]:
            return False
        if not self.enforced:
            return True
        with self.responses.request_scope(account, region):
            principal = self.iam.resolve_principal(access_key_id, account)
            if isinstance(principal, self.iam.AuthError):
                return False
            if principal.policies is None:  # the account's root
                return True
            asked = self.iam.EvalContext(
                principal_arn=principal.arn,
                principal_type=principal.type,
                principal_account=account,
                action="rds-db:connect",
                resource_arn=f"arn:aws:rds-db:{region}:{account}:dbuser:{instance['DbiResourceId']}/{user}",
                region=region,
                principal_keys=principal.keys,
            )
            return self.iam.evaluate(asked, principal.policies, *principal.limits).decision == "Allow"


def name_secrets_by_arn(provisioners):
    """A secret's Ref is its ARN, as in AWS: permissions are given by it, and a name would match none."""
    handler = provisioners._RESOURCE_HANDLERS[SECRETS]
    create_secret, update_secret, delete_secret = handler["create"], handler["update"], handler["delete"]

    def by_arn(_name, attributes):
        return attributes["Arn"], attributes

    def name_in(arn):
        # arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME-6RANDOM
        return arn.split(":", 6)[-1].rpartition("-")[0]

    def create(logical_id, properties, stack_name):
        return by_arn(*create_secret(logical_id, properties, stack_name))

    def update(arn, *rest, **options):
        return by_arn(*update_secret(name_in(arn), *rest, **options))

    def delete(arn, properties):
        delete_secret(name_in(arn), properties)

    handler["create"], handler["update"], handler["delete"] = create, update, delete


class ManagedPasswords:
    """The master passwords that RDS chooses itself, each in a secret of which the stack only sees the ARN."""

    def __init__(self, rds, secret_handler):
        self.rds, self.secret_handler = rds, secret_handler
        self.secrets = {}
        """Instance -> (name, ARN) of its secret."""

    def choose(self, instance_id, stack_name):
        """Nothing changes where one was chosen."""
        if instance_id in self.secrets:
            return
        instance = self.rds._instances[instance_id]
        instance["_MasterUserPassword"] = secrets.token_urlsafe(24)
        value = {"username": instance["MasterUsername"], "password": instance["_MasterUserPassword"]}
        named = {"Name": f"rds!{instance['DbiResourceId'].lower()}", "SecretString": json.dumps(value)}
        name, attributes = self.secret_handler["create"](instance_id, named, stack_name)
        self.secrets[instance_id] = name, attributes["Arn"]

    def attributes(self, instance_id):
        return {"MasterUserSecret.SecretArn": self.secrets[instance_id][1]} if instance_id in self.secrets else {}

    def forget(self, instance_id):
        if instance_id in self.secrets:
            self.secret_handler["delete"](self.secrets.pop(instance_id)[0], {})


def keep_databases_in(postgres, provisioners, rds, responses, *, front, logins):
    """`front`: the DatabaseFront that clients reach `postgres` through, with `logins` to ask."""
    handlers = provisioners._RESOURCE_HANDLERS
    handler = handlers["AWS::RDS::DBInstance"]
    create_instance, update_instance, delete_instance = handler["create"], handler["update"], handler["delete"]
    passwords = ManagedPasswords(rds, handlers[SECRETS])

    def attach(instance_id, properties, stack_name):
        if is_true(properties.get("ManageMasterUserPassword")):
            passwords.choose(instance_id, stack_name)
        instance = rds._instances[instance_id]
        postgres.provide(
            owner=instance["MasterUsername"],
            password=instance["_MasterUserPassword"],
            database=instance["DBName"],
        )
        instance["Endpoint"] = {**instance["Endpoint"], "Address": front.host, "Port": front.port}
        logins.instance = responses.get_account_id(), responses.get_region(), instance_id
        return instance_id, {**provisioners._rds_db_instance_attrs(instance), **passwords.attributes(instance_id)}

    def create(logical_id, properties, stack_name):
        return attach(create_instance(logical_id, properties, stack_name)[0], properties, stack_name)

    def update(instance_id, old, new, stack_name, *rest, **options):
        return attach(update_instance(instance_id, old, new, stack_name, *rest, **options)[0], new, stack_name)

    def delete(instance_id, properties):
        instance = rds._instances.get(instance_id)
        passwords.forget(instance_id)
        # A first deployment that is rolled back must not take the index of before with it.
        if instance and not is_true(properties.get("DeletionProtection")):
            postgres.drop(owner=instance["MasterUsername"], database=instance["DBName"])
        return delete_instance(instance_id, properties)

    handler["create"], handler["update"], handler["delete"] = create, update, delete


def is_true(value):
    """CloudFormation's booleans may be text."""
    return str(value).lower() == "true"
