"""What Outlook's contacts, appointments and tasks say in fields of their own, not in a text."""

from __future__ import annotations

from collections.abc import Mapping

from citewell.extract.outlook_properties import MESSAGE_CLASS, Properties, shown_time

# Property ids of [MS-OXPROPS], and the numbers of those that have an id of their own in each file
_CONTACT = {
    "Name": 0x3001, "Company": 0x3A16, "Job title": 0x3A17, "Department": 0x3A18, "Office": 0x3A19,
    "Phone": 0x3A08, "Mobile": 0x3A1C, "Home phone": 0x3A09, "Fax": 0x3A24,
}  # fmt: skip
_ADDRESSES = {"Business address": 0x801B, "Home address": 0x801A, "Web page": 0x802B}
_EMAILS = ((0x8083, 0x8084, 0x8080), (0x8093, 0x8094, 0x8090), (0x80A3, 0x80A4, 0x80A0))
"""Each as an address, the name it first had, and the name it is shown with; inside a company the first is none."""

_START, _END = 0x0060, 0x0061
_WHOLE_START, _WHOLE_END = 0x820D, 0x820E
_APPOINTMENT = {"Time zone": 0x8234, "Location": 0x8208, "Recurrence": 0x8232}

_TASK_DAYS = {"Start": 0x8104, "Due": 0x8105, "Completed": 0x810F}
_TASK_OWNER, _TASK_STATUS = 0x811F, 0x8101
_STATUSES = ("not started", "in progress", "complete", "waiting on someone else", "deferred")


def fields_of_item(message: Properties) -> Mapping[str, str]:
    """Labels and texts; none of a mail."""
    kind = message.text(MESSAGE_CLASS)
    if kind.startswith("IPM.Contact"):
        return _contact(message)
    if kind.startswith(("IPM.Appointment", "IPM.Schedule.Meeting")):
        return _appointment(message)
    return _task(message) if kind.startswith("IPM.Task") else {}


def _contact(message: Properties) -> Mapping[str, str]:
    emails = (
        next((text for each in forms if "@" in (text := message.text(message.named(each)))), "") for forms in _EMAILS
    )
    return {
        **{label: message.text(each) for label, each in _CONTACT.items()},
        "E-mail": ", ".join(filter(None, emails)),
        **{label: message.text(message.named(each)) for label, each in _ADDRESSES.items()},
    }


def _appointment(message: Properties) -> Mapping[str, str]:
    start = message.time(message.named(_WHOLE_START)) or message.time(_START)
    end = message.time(message.named(_WHOLE_END)) or message.time(_END)
    return {
        "Start": shown_time(start),
        "End": shown_time(end),
        **{label: message.text(message.named(each)) for label, each in _APPOINTMENT.items()},
    }


def _task(message: Properties) -> Mapping[str, str]:
    days = {label: message.time(message.named(each)) for label, each in _TASK_DAYS.items()}
    has_status, status = message.named(_TASK_STATUS), message.number(message.named(_TASK_STATUS))
    return {
        **{label: f"{day:%Y-%m-%d}" for label, day in days.items() if day},
        "Status": _STATUSES[status] if has_status and status < len(_STATUSES) else "",
        "Owner": message.text(message.named(_TASK_OWNER)),
    }
