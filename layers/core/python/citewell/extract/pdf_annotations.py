"""What is written onto a PDF's page afterwards: the values of forms, text, signatures, comments."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from citewell.extract.pdf_fragments import Fragment
from citewell.extract.pdf_places import Edges, page_box, turned
from citewell.extract.pdf_strings import shorts, string

_HIDDEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD_FIELD = 1 << 13


class Comment(NamedTuple):
    author: str
    text: str


@dataclass(slots=True)
class Annotations:
    """``signatures`` says where signatures show something, in the page's own points."""

    comments: list[Comment] = field(default_factory=list)
    signatures: list[Edges] = field(default_factory=list)


def read_annotations(page: Any, form: Any, fragments: list[Fragment]) -> Annotations:
    """What is on ``page``. Values of ``form``, None if there is none, and text are put among ``fragments``."""
    annotations = Annotations()
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if not pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
                _read(page, form, annotation, fragments, annotations)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return annotations


def _read(page: Any, form: Any, annotation: Any, fragments: list[Fragment], read: Annotations) -> None:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
        return
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        if form and pdfium.FPDFAnnot_GetFormFieldType(form, annotation) == pdfium.FPDF_FORMFIELD_SIGNATURE:
            if pdfium.FPDFAnnot_GetObjectCount(annotation) > 0 and (edges := _edges(annotation)):
                read.signatures.append(edges)
        elif form and (value := _field_value(form, annotation)):
            _place(page, annotation, value, fragments)
        return
    words = _annotation_string(annotation, b"Contents")
    if kind == pdfium.FPDF_ANNOT_FREETEXT:
        _place(page, annotation, words, fragments)
    elif words.strip():
        read.comments.append(Comment(_annotation_string(annotation, b"T"), words))


def _field_value(form: Any, annotation: Any) -> str:
    """What a form's field shows: its text, or a box with or without a mark."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        state = _annotation_string(annotation, b"AS") or _annotation_string(annotation, b"V")
        return "[ ]" if state in ("", "Off") else "[x]"
    if kind not in (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        return ""
    if pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD_FIELD:
        return ""
    return string(lambda buffer, size: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, shorts(buffer), size))


def _place(page: Any, annotation: Any, words: str, fragments: list[Fragment]) -> None:
    """Put ``words`` where the annotation stands, a line below the other, as if the page showed them there."""
    lines = [line for line in re.split(r"[\r\n]+", words) if line.strip()]
    if not lines or not (edges := _edges(annotation)):
        return
    turn = pdfium.FPDFPage_GetRotation(page) % 4
    left, top, right, bottom = turned(edges, turn, page_box(page))
    pitch = (bottom - top) / len(lines)
    size = max(min(pitch, 12.0), 1.0)
    for number, line in enumerate(lines):
        middle = top + (number + 0.5) * pitch
        fragments.append(Fragment(line.strip(), left, right, middle, size, turn, order=len(fragments)))


def _edges(annotation: Any) -> Edges | None:
    rectangle = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(rectangle)):
        return None
    return (
        min(rectangle.left, rectangle.right),
        min(rectangle.bottom, rectangle.top),
        max(rectangle.left, rectangle.right),
        max(rectangle.bottom, rectangle.top),
    )


def _annotation_string(annotation: Any, key: bytes) -> str:
    return string(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, key, shorts(buffer), size))
