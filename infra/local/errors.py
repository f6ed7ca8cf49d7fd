"""What can foreseeably go wrong on this machine. Each message is written for the person at the terminal: what
happened, what to do, and where the log is.

    LocalCloudError
    ├── UnreachableFolderError    the user that Postgres must run as cannot enter a folder
    └── PostgresError             Postgres did not initialise, start or stop
        └── PortTakenError        something else listens on the port that was asked for
"""


class LocalCloudError(Exception):
    """The base of all of them."""


class UnreachableFolderError(LocalCloudError):
    pass


class PostgresError(LocalCloudError):
    pass


class PortTakenError(PostgresError):
    pass
