"""Cuts a document into the passages that are searched and cited.

Each heading begins a section; a section that fits stays whole. A longer one is cut at its best boundaries, block ends
before lines before sentences before words. Among equally good ones a hash of the words that follow decides, not
how far along they stand: so an edit moves the cuts around it and no others, and all other passages keep their vectors.
(Content-defined chunking, as in "A Low-bandwidth Network File System", Muthitacharoen et al., SOSP 2001, but with
places tried in the order of their hash rather than from left to right, which leaves nothing to resynchronise.)

A page ends what stands on it: no passage has text of two pages, so that its citation names the one to open. Headings
at a page's foot are the exception; they go with the text that they head, and its page counts. Where a table is cut,
each further part begins with the table's head again.
"""

from __future__ import annotations

import heapq
import operator
import zlib
from array import array
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.core.boundaries import Strength, after_head, boundaries, kept_whole, splits_character
from citewell.core.headers import contextual_header
from citewell.core.tokens import spaced
from citewell.core.values import Block, BlockKind, Chunk, ExtractedText
from citewell.errors import ConfigurationError

CHUNKER_VERSION = "2"
"""Part of the pipeline's version: raise it with any change that gives other chunks."""

TokenStarts = Callable[[str], Sequence[int]]

_LEAST_MAX_TOKENS = 16
_HEADER_TOKENS = 64
_LEAST_SHARE = 4
_LARGEST_HEAD = 3
_LONGEST_TOKEN = 16  # a word that a tokenizer gives up on is one token to it; a language model is given all of it
_SLICE = 50_000
_HASHED = 128


def split_chunks(
    extracted: ExtractedText, *, title: str | None, max_tokens: int, overlap_tokens: int, token_starts: TokenStarts
) -> list[Chunk]:
    """The document's chunks in order; their spans cover every character that isn't white space.

    No ``embedded_text`` has more than ``max_tokens`` tokens of ``token_starts``, header included. Within a section
    a chunk may begin up to ``overlap_tokens`` before the end of the one before it, at a sentence or a word. Raises
    ConfigurationError for sizes that leave no room for text.
    """
    if max_tokens < _LEAST_MAX_TOKENS or not 0 <= overlap_tokens <= max_tokens // 2:
        raise ConfigurationError(
            f"chunks need at least {_LEAST_MAX_TOKENS} tokens and an overlap of at most half of them, "
            f"not {max_tokens} and {overlap_tokens}"
        )
    ruler = _Ruler(extracted.text, token_starts)
    chunks: list[Chunk] = []
    occurrences: Counter[tuple[str, ...]] = Counter()
    for blocks in _sections(extracted.blocks):
        section = blocks[-1].headings
        header = contextual_header(
            title, section, max_tokens=min(_HEADER_TOKENS, max_tokens // 4), token_starts=token_starts
        )
        cutter = _Cutter(ruler, blocks, header=header, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
        for part, span in enumerate(cutter.spans()):
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    section=section,
                    occurrence=occurrences[section],
                    part=part,
                    start=span.start,
                    end=span.end,
                    text=span.lead + extracted.text[span.start : span.end],
                    header=header,
                    page=_page(blocks, span.own),
                )
            )
        occurrences[section] += 1
    return chunks


def _sections(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The blocks of one heading each, on one page. A heading with nothing but a deeper heading under it opens that
    one's section.

    So does front matter: a passage of headings alone, or of metadata alone, would match much and answer nothing.
    """
    section: list[Block] = []
    for block in blocks:
        begins = block.kind is BlockKind.HEADING and section and not _opens(section, block)
        if begins or (section and block.page != section[-1].page and section[-1].kind is not BlockKind.HEADING):
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _opens(section: Sequence[Block], heading: Block) -> bool:
    last = section[-1]
    deeper = len(heading.headings) > len(last.headings) and heading.headings[: len(last.headings)] == last.headings
    return last.kind is BlockKind.METADATA or (last.kind is BlockKind.HEADING and deeper)


def _page(blocks: Sequence[Block], offset: int) -> int | None:
    """The page of a passage that begins at ``offset``, overlap aside: that of its first block that is no heading."""
    first = bisect_right(blocks, offset, key=lambda block: block.end)
    return next((block.page for block in blocks[first:] if block.kind is not BlockKind.HEADING), blocks[first].page)


class _Ruler:
    """Measures a text in tokens."""

    def __init__(self, text: str, token_starts: TokenStarts) -> None:
        self.text = text
        self.token_starts = token_starts
        self._starts = _in_slices(text, token_starts)

    def count(self, start: int, end: int) -> int:
        return self.index(end) - self.index(start)

    def index(self, offset: int) -> int:
        return bisect_left(self._starts, offset)

    def offset(self, index: int) -> int:
        return self._starts[index]

    def starts_between(self, start: int, end: int) -> Sequence[int]:
        """Token starts strictly inside of a span."""
        return self._starts[bisect_left(self._starts, start + 1) : bisect_left(self._starts, end)]


def _in_slices(text: str, token_starts: TokenStarts) -> array[int]:
    """Token starts of a text of any size, cut at white space so that a tokenizer never holds megabytes at once."""
    starts = array("q")
    start = 0
    while start < len(text):
        end = start + _SLICE
        if end < len(text):
            end = max(text.rfind("\n", start, end), text.rfind(" ", start, end)) + 1 or end
        tokens = [0, *token_starts(text[start:end]), min(end, len(text)) - start]
        if max(map(operator.sub, tokens[1:], tokens)) > _LONGEST_TOKEN:
            tokens = list(spaced(tokens, longest=_LONGEST_TOKEN))
        starts.extend(start + offset for offset in tokens[1:-1])
        start = end
    return starts


@dataclass(frozen=True, slots=True)
class _Span:
    """``own`` is where the overlap ends and the passage's own text starts; ``lead`` what is said before all of it."""

    start: int
    own: int
    end: int
    lead: str = ""


class _Cutter:
    """Cuts one section."""

    def __init__(
        self, ruler: _Ruler, blocks: Sequence[Block], *, header: str, max_tokens: int, overlap_tokens: int
    ) -> None:
        self._ruler = ruler
        self._text = ruler.text
        self._blocks = blocks
        self._prefix = f"{header}\n\n" if header else ""
        self._max_tokens = max_tokens
        self._room = max_tokens - len(ruler.token_starts(self._prefix))
        self._overlap = min(overlap_tokens, self._room // 2)
        self._cut_room, self._heads = self._beside_heads()
        self._whole = frozenset(
            block.start
            for block in blocks
            if kept_whole(block) and ruler.count(block.start, block.end) <= self._cut_room
        )

    def spans(self) -> Iterator[_Span]:
        start, end = self._blocks[0].start, self._blocks[-1].end
        cuts = [start, end]
        if self._ruler.count(start, end) > self._room:
            cuts = self._cuts(start, end, limit=self._cut_room - self._overlap, bound=self._cut_room)
        previous = start
        for own, following in pairwise(cuts):
            yield from self._verified(_Span(self._overlap_start(previous, own, following), own, following))
            previous = own

    # --- cuts ---

    def _cuts(self, start: int, end: int, *, limit: int, bound: int) -> list[int]:
        """``start``, cuts that leave at most ``limit`` tokens between them, ``end``.

        Up to ``bound`` may remain where only a cut through a whole block, or a piece of less than a quarter of the
        limit, would avoid it.
        """
        cuts = [start, end]
        for strength in Strength:
            self._cut_at(cuts, strength, limit=limit, least=max(1, limit // _LEAST_SHARE))
        for strength in Strength:
            self._cut_at(cuts, strength, limit=bound, least=1)
        self._cut_anywhere(cuts, limit=bound)
        return cuts

    def _cut_at(self, cuts: list[int], strength: Strength, *, limit: int, least: int) -> None:
        for start, end in self._too_long(cuts, limit):
            places = self._places(strength, start, end)
            self._divide(cuts, start, end, places, limit=limit, least=least)

    def _places(self, strength: Strength, start: int, end: int) -> Iterator[int]:
        blocks = self._blocks_between(start, end)
        return boundaries(self._text, blocks, strength, start=start, end=end, whole=self._whole)

    def _cut_anywhere(self, cuts: list[int], *, limit: int) -> None:
        """Inside words and whole blocks; inside what looks like one character only in a run of nothing else.

        One character in eight is tried first: that is plenty, and a word of five megabytes has a million places.
        """
        least = max(1, limit // _LEAST_SHARE)
        text = self._text
        for start, end in self._too_long(cuts, limit):
            tokens = self._ruler.starts_between(start, end)
            some = (p for p in tokens if not ord(text[p]) & 7 and not splits_character(text, p))
            self._divide(cuts, start, end, some, limit=limit, least=least)
        for start, end in self._too_long(cuts, limit):
            tokens = self._ruler.starts_between(start, end)
            apart = (p for p in tokens if not splits_character(text, p))
            self._divide(cuts, start, end, apart, limit=limit, least=least)
        for start, end in self._too_long(cuts, limit):
            self._divide(cuts, start, end, self._ruler.starts_between(start, end), limit=limit, least=1)

    def _too_long(self, cuts: Sequence[int], limit: int) -> list[tuple[int, int]]:
        return [(start, end) for start, end in pairwise(cuts) if self._ruler.count(start, end) > limit]

    def _blocks_between(self, start: int, end: int) -> list[Block]:
        first = bisect_left(self._blocks, start + 1, key=lambda block: block.end)
        last = bisect_left(self._blocks, end, key=lambda block: block.start)
        return list(self._blocks[first:last])

    def _divide(self, cuts: list[int], start: int, end: int, places: Iterable[int], *, limit: int, least: int) -> None:
        """Cut a piece at ``places`` in the order of their hashes, until what lies between cuts is short enough."""
        tried = [self._rank(place, start) << 32 | place for place in places]
        heapq.heapify(tried)
        inside = [start, end]
        too_long = 1
        while tried and too_long:
            place = heapq.heappop(tried) & 0xFFFFFFFF
            at = bisect_left(inside, place)
            left, right = self._ruler.count(inside[at - 1], place), self._ruler.count(place, inside[at])
            if left + right > limit and left >= least and right >= least:
                inside.insert(at, place)
                too_long += (left > limit) + (right > limit) - 1
        for place in inside[1:-1]:
            insort(cuts, place)

    def _rank(self, place: int, start: int) -> int:
        """By what follows on the line; where that is the same over and over, scattered all the same."""
        line, _, _ = self._text[place : place + _HASHED].lstrip().partition("\n")
        following = zlib.crc32(line.encode())
        return following << 32 | (place - start) * 0x9E3779B1 & 0xFFFFFFFF

    # --- overlap ---

    def _overlap_start(self, previous: int, own: int, end: int) -> int:
        """Where a piece's overlap begins: the best boundary that leaves the chunk within its room."""
        tokens = min(self._overlap, self._room - self._ruler.count(own, end))
        if own <= self._blocks[0].start or tokens < max(1, self._overlap // 2):
            return own  # a word or two of what went before explain nothing
        earliest = max(previous, self._ruler.offset(max(0, self._ruler.index(own) - tokens)))
        places = (self._places(strength, earliest - 1, own) for strength in Strength)
        return next((place for of_strength in places for place in of_strength), own)

    # --- heads of tables ---

    def _beside_heads(self) -> tuple[int, dict[int, str]]:
        """The room that the longest head leaves, and the heads: those of the tables that are longer than that."""
        tables = [block for block in self._blocks if block.kind is BlockKind.TABLE]
        room = self._room
        while True:
            heads = {
                each.start: head
                for each in tables
                if self._ruler.count(each.start, each.end) > room and (head := self._head(each))
            }
            left = self._room - max(map(self._tokens, heads.values()), default=0)
            if left >= room:
                return room, heads
            room = left

    def _head(self, table: Block) -> str:
        """What the further parts of ``table`` begin with: without its dashes, or nothing, where it would fill them."""
        head = self._text[table.start : after_head(self._text, table)]
        if self._tokens(head) <= self._room // _LEAST_SHARE:
            return head
        names = head[: head.find("\n") + 1]
        return names if self._tokens(names) <= self._room // _LARGEST_HEAD else ""

    def _lead(self, start: int) -> str:
        block = self._blocks[bisect_right(self._blocks, start, key=lambda block: block.end)]
        head = self._heads.get(block.start, "")
        return head if start >= after_head(self._text, block) else ""

    def _tokens(self, text: str) -> int:
        return len(self._ruler.token_starts(text))

    # --- the last word has the tokenizer ---

    def _verified(self, span: _Span) -> Iterator[_Span]:
        """The span without the white space around it, in smaller pieces if the cut itself made more tokens of it."""
        trimmed = self._trimmed(span)
        if trimmed is None:
            return
        if self._fits(trimmed):
            yield trimmed
        elif span.start < span.own:
            yield from self._verified(_Span(span.own, span.own, span.end))
        elif span.end - span.own > 1:
            for start, end in pairwise(self._smaller(span.own, span.end)):
                yield from self._verified(_Span(start, start, end))
        else:
            yield trimmed

    def _smaller(self, start: int, end: int) -> list[int]:
        tokens = self._ruler.count(start, end)
        if tokens > 1:
            shorter = max(1, tokens * 3 // 4)
            cuts = self._cuts(start, end, limit=shorter, bound=shorter)
            if len(cuts) > 2:
                return cuts
        return [start, (start + end) // 2, end]

    def _trimmed(self, span: _Span) -> _Span | None:
        text = self._text[span.own : span.end]
        if not text.strip():
            return None
        end = span.own + len(text.rstrip())
        start = span.end - len(self._text[span.start : span.end].lstrip())
        return _Span(start, max(start, span.own), end, self._lead(start))

    def _fits(self, span: _Span) -> bool:
        """Asks the tokenizer, unless the span is well within its room and cuts no word, whose halves may take more."""
        lead = self._tokens(span.lead) if span.lead else 0
        if lead + self._ruler.count(span.start, span.end) <= self._room * 3 // 4 and self._at_space(span):
            return True
        embedded = self._prefix + span.lead + self._text[span.start : span.end]
        return self._tokens(embedded) <= self._max_tokens

    def _at_space(self, span: _Span) -> bool:
        before, after = self._text[max(0, span.start - 1) : span.start], self._text[span.end : span.end + 1]
        return (not before or before.isspace()) and (not after or after.isspace())
