"""What can foreseeably go wrong on this machine. Each message is written for the person at the terminal: what
happened, what to do, and where the log is.

    LocalCloudError
    ├── UnreachableFolderError    the user that Postgres must run as cannot enter a folder
    ├── PostgresError             Postgres did not initialise, start or stop
    │   └── PortTakenError        something else listens on the port that was asked for
    ├── EmulatorError             the AWS emulator did not install, start or stop
    ├── ChoiceError               what the environment chooses can't be had here
    ├── DeployError               the CDK's command-line tool is missing, or what it was told to do failed
    ├── NotRunningError           a command needs the running stack
    ├── BusyError                 another command is at work in the same state folder
    ├── HandbookError             the sample documents were not indexed
    └── AnswerError               the stack is up, and didn't answer the first question
"""


class LocalCloudError(Exception):
    """The base of all of them."""


class UnreachableFolderError(LocalCloudError):
    pass


class PostgresError(LocalCloudError):
    pass


class PortTakenError(PostgresError):
    pass


class EmulatorError(LocalCloudError):
    pass


class ChoiceError(LocalCloudError):
    pass


class DeployError(LocalCloudError):
    pass


class NotRunningError(LocalCloudError):
    pass


class BusyError(LocalCloudError):
    pass


class HandbookError(LocalCloudError):
    pass


class AnswerError(LocalCloudError):
    pass
