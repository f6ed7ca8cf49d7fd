"""The events of a calendar part (iCalendar, RFC 5545), in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FOLD = re.compile(r"\r?\n[ \t]")
_LINE = re.compile(r"(?P<name>[A-Za-z-]+)(?P<parameters>(?:;[^:;=]+=(?:\"[^\"]*\"|[^\":;]*))*):(?P<value>.*)")
_PARAMETER = re.compile(r";([^:;=]+)=(\"[^\"]*\"|[^\":;]*)")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d*(Z?))?")
_ESCAPE = re.compile(r"\\([\\;,nN])")
_SHOWN = {
    "SUMMARY": "Event",
    "DTSTART": "Start",
    "DTEND": "End",
    "DURATION": "Duration",
    "RRULE": "Repeats",
    "LOCATION": "Location",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendees",
    "STATUS": "Status",
}
_CANCELLED = "CANCELLED"


def events_of(calendar: str, *, described: bool) -> Iterator[str]:
    """Each event as lines ``Event: ...``, ``Start: ...``, also its description unless that repeats a mail's text."""
    labels = _SHOWN | ({"DESCRIPTION": "Description"} if described else {})
    event: dict[str, list[str]] | None = None
    inner = 0
    for line in _FOLD.sub("", calendar).splitlines():
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            continue
        name, value = match["name"].upper(), match["value"]
        if (name, value.upper()) == ("BEGIN", "VEVENT"):
            event = {}
        elif (name, value.upper()) == ("END", "VEVENT") and event:
            yield "\n".join(f"{label}: {', '.join(event[key])}" for key, label in labels.items() if event.get(key))
            event = None
        elif event is not None and name in {"BEGIN", "END"}:  # an alarm, with a description of its own
            inner += 1 if name == "BEGIN" else -1
        elif event is not None and not inner and name in labels and (name != "STATUS" or value.upper() == _CANCELLED):
            event.setdefault(name, []).append(_shown(name, match["parameters"], value))


def _shown(name: str, parameters: str, value: str) -> str:
    given = {key.upper(): each.strip('"') for key, each in _PARAMETER.findall(parameters)}
    if name.startswith("DT"):
        return _time(value, zone=given.get("TZID", ""))
    if name == "RRULE":
        return value.replace(";", ", ")
    if name in {"ORGANIZER", "ATTENDEE"}:
        return given.get("CN") or re.sub(r"^mailto:", "", value, flags=re.IGNORECASE)
    return _ESCAPE.sub(lambda found: " " if found[1] in "nN" else found[1], value)


def _time(value: str, *, zone: str) -> str:
    match = _TIME.fullmatch(value)
    if match is None:
        return value
    year, month, day, hour, minute, utc = match.groups()
    time = f"{year}-{month}-{day}" + (f" {hour}:{minute}" if hour else "")
    return f"{time} {'UTC' if utc else zone}".rstrip()
