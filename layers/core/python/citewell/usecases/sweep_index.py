"""Have every document that the index knows looked at, whether or not the bucket still knows it.

A database that was restored holds documents whose objects have been erased since, with all their versions. No event
will come for them any more, and no listing of the bucket names them. Here the index names them itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from citewell.core.keys import Tenancy, object_key
from citewell.core.values import DocumentKey
from citewell.events import Sweep, object_event, sweep_message

PAGE = 500
"""Documents a message: fifty calls of the queue, a few seconds."""


class KnownDocuments(Protocol):
    def documents_after(self, after: DocumentKey, *, limit: int) -> list[DocumentKey]:
        """The next documents of all tenants, in an order that stays the same. Raises DatabaseUnavailable."""


class Queue(Protocol):
    def send(self, messages: Sequence[str]) -> None:
        """Raises QueueUnavailable; some of the messages may be on the queue then."""


@dataclass(frozen=True, slots=True)
class SweepIndex:
    documents: KnownDocuments
    queue: Queue
    bucket: str
    tenancy: Tenancy
    page: int = PAGE

    def __call__(self, sweep: Sweep) -> int:
        """Put the next page's keys on the queue, and then the rest of the sweep; returns how many keys.

        Doing it twice is safe: a key only deserves a look. Raises DatabaseUnavailable, QueueUnavailable.
        """
        found = self.documents.documents_after(sweep.after, limit=self.page)
        keys = [key for each in found if (key := object_key(each, self.tenancy)).startswith(sweep.prefix)]
        messages = [object_event(self.bucket, key) for key in keys]
        if len(found) == self.page:
            messages.append(sweep_message(replace(sweep, after=found[-1])))
        self.queue.send(messages)
        return len(keys)
