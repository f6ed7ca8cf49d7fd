"""Fields of RTF's forms: check boxes and drop-down lists, which say what they show in their properties."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.extract.symbols import check_box

_CHECK_BOX, _DROP_DOWN = 1, 2
_UNSET = 25

_WORDS = {"fftype": "kind", "ffres": "result", "ffdefres": "usual"}


@dataclass(slots=True)
class FormField:
    kind: int = 0
    result: int = _UNSET
    usual: int = 0
    choices: list[str] = field(default_factory=list)

    def take(self, word: str, number: int | None, *, starred: bool) -> str:
        """A control word of the field's properties; where the text of its group goes to."""
        if word in _WORDS:
            setattr(self, _WORDS[word], number or 0)
        return "choice" if word == "ffl" else "nothing" if starred else "form"

    @property
    def text(self) -> str:
        """What a reader sees; of a field for text that is the field's result."""
        shown = self.usual if self.result == _UNSET else self.result
        if self.kind == _CHECK_BOX:
            return check_box(checked=shown == 1)
        return self.choices[shown] if self.kind == _DROP_DOWN and 0 <= shown < len(self.choices) else ""
