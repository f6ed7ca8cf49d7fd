"""Charts as tables of the numbers that they keep."""

from __future__ import annotations

import pytest

from citewell.extract import extract
from tests.documents.office import docx, frame, paragraph, pptx, relationships, sheet_data, with_namespaces, xlsx


def points(*values: str, code: str = "") -> str:
    listed = "".join(f'<c:pt idx="{index}"><c:v>{value}</c:v></c:pt>' for index, value in enumerate(values))
    return f"<c:formatCode>{code}</c:formatCode>{listed}"


def series(name: str, values: str, categories: str = "", *, places: str = "") -> str:
    across = f"<c:xVal>{places}</c:xVal>" if places else f"<c:cat>{categories}</c:cat>"
    along = f"<c:yVal>{values}</c:yVal>" if places else f"<c:val>{values}</c:val>"
    return f"<c:ser><c:tx>{points(name)}</c:tx>{across}{along}</c:ser>"


def titled(text: str) -> str:
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def axis(kind: str, number: int, title: str = "") -> str:
    return f'<c:{kind}><c:axId val="{number}"/>{titled(title) if title else ""}</c:{kind}>'


def chart_of(plot: str, axes: str = "", title: str = "") -> str:
    used = '<c:axId val="1"/><c:axId val="2"/>'
    area = f"<c:plotArea><c:anyChart>{plot}{used}</c:anyChart>{axes}</c:plotArea>"
    return f"<c:chartSpace><c:chart>{titled(title) if title else ''}{area}</c:chart></c:chartSpace>"


def text_of(chart: str, graphic: str = "c:chart") -> str:
    return extract(
        pptx(
            [frame(f'<{graphic} r:id="ch"/>')],
            parts={"ppt/charts/chart1.xml": chart},
            of_slides={"ch": ("chart", "../charts/chart1.xml")},
        )
    ).text


def test_categories_and_values_are_shown_in_their_format() -> None:
    days = points("45292.0", "45323.0", code="d/m/yyyy")
    assert text_of(chart_of(series("Share", points("0.25", "0.305", code="0.0%"), days))) == (
        "|  | Share |\n| --- | --- |\n| 2024-01-01 | 25.0% |\n| 2024-02-01 | 30.5% |"
    )


def test_text_drawn_over_a_chart_follows_its_numbers() -> None:
    text = "<xdr:sp><xdr:txBody><a:p><a:r><a:t>Strike in May</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    data = pptx(
        [frame('<c:chart r:id="ch"/>')],
        parts={
            "ppt/charts/chart1.xml": chart_of(series("Sales", points("5"), points("North"))),
            "ppt/charts/_rels/chart1.xml.rels": relationships({"u": ("chartUserShapes", "../drawings/d.xml")}),
            "ppt/drawings/d.xml": f"<c:userShapes>{text}</c:userShapes>",
        },
        of_slides={"ch": ("chart", "../charts/chart1.xml")},
    )
    assert extract(data).text == "|  | Sales |\n| --- | --- |\n| North | 5 |\n\nStrike in May"


def test_days_of_an_axis_of_dates_are_dates_without_a_format_too() -> None:
    chart = chart_of(series("Share", points("1"), points("45292", code="General")), axis("dateAx", 1))
    assert text_of(chart).endswith("| 2024-01-01 | 1 |")


def test_titles_of_axes_stand_in_the_head() -> None:
    chart = chart_of(
        series("Sales", points("5"), points("North")), axis("catAx", 1, "Region") + axis("valAx", 2, "EUR"), "By region"
    )
    assert text_of(chart) == "By region\n\n| Region | Sales (EUR) |\n| --- | --- |\n| North | 5 |"
    named_like_its_axis = chart_of(series("EUR", points("5"), points("North")), axis("valAx", 2, "EUR"))
    assert text_of(named_like_its_axis) == "|  | EUR |\n| --- | --- |\n| North | 5 |"


def test_outer_categories_stand_before_the_inner_ones() -> None:
    inner = points("France", "Spain", "Japan")
    outer = '<c:pt idx="0"><c:v>Europe</c:v></c:pt><c:pt idx="2"><c:v>Asia</c:v></c:pt>'
    chart = chart_of(series("Sales", points("1", "2", "3"), f"<c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl>"))
    assert text_of(chart).split("\n")[2:] == ["| Europe France | 1 |", "| Europe Spain | 2 |", "| Asia Japan | 3 |"]


def test_series_over_places_of_their_own_are_tables_of_their_own() -> None:
    plot = (
        series("North", points("10", "20"), places=points("1", "2"))
        + series("East", points("30", "40"), places=points("1", "2"))
        + series("South", points("7"), places=points("100"))
    )
    assert text_of(chart_of(plot)) == (
        "|  | North | East |\n| --- | --- | --- |\n| 1 | 10 | 30 |\n| 2 | 20 | 40 |"
        "\n\n|  | South |\n| --- | --- |\n| 100 | 7 |"
    )


def extended(categories: str, *, name: str = "", title: str = "", values: str = "") -> str:
    listed = values or '<cx:pt idx="0">0.25</cx:pt><cx:pt idx="1">-0.1</cx:pt>'
    data = f'{categories}<cx:numDim type="val"><cx:lvl formatCode="0%">{listed}</cx:lvl></cx:numDim>'
    named = f"<cx:tx><cx:txData><cx:v>{name}</cx:v></cx:txData></cx:tx>" if name else ""
    shown = f'<cx:series layoutId="waterfall">{named}<cx:dataId val="0"/></cx:series><cx:series layoutId="paretoLine"/>'
    return (
        f'<cx:chartSpace><cx:chartData><cx:data id="0">{data}</cx:data></cx:chartData><cx:chart>'
        f"{titled(title).replace('c:', 'cx:') if title else ''}<cx:plotArea><cx:plotAreaRegion>{shown}"
        "</cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>"
    )


def level(*names: str) -> str:
    listed = "".join(f'<cx:pt idx="{index}">{name}</cx:pt>' for index, name in enumerate(names))
    return f"<cx:lvl>{listed}</cx:lvl>"


def test_a_chart_of_a_newer_kind_is_a_table_too() -> None:
    levels = level("North", "South") + level("Europe")
    chart = extended(f'<cx:strDim type="cat">{levels}</cx:strDim>', name="Change", title="Waterfall")
    assert text_of(chart, "cx:chart") == (
        "Waterfall\n\n|  | Change |\n| --- | --- |\n| Europe North | 25% |\n| Europe South | -10% |"
    )


def test_a_histogram_keeps_its_title_only() -> None:
    assert text_of(extended("", title="Ages"), "cx:chart") == "Ages"


def test_a_bubble_has_a_size() -> None:
    bubble = series("North", points("10"), places=points("1")).replace(
        "</c:ser>", f"<c:bubbleSize>{points('3')}</c:bubbleSize></c:ser>"
    )
    assert text_of(chart_of(bubble)) == "|  | North | North (size) |\n| --- | --- | --- |\n| 1 | 10 | 3 |"


@pytest.mark.parametrize("box", ["<w:txbxContent>{}</w:txbxContent>", "{}"])
def test_a_chart_in_a_text_box_stands_once(box: str) -> None:
    graphic = box.format(paragraph('<w:r><w:drawing><c:chart r:id="word/chart.xml"/></w:drawing></w:r>'))
    body = paragraph(f"<w:r><w:pict>{graphic}</w:pict></w:r>")
    chart = chart_of(series("Sales", points("5"), points("North")))
    assert extract(docx(body, parts={"word/chart.xml": chart})).text == "|  | Sales |\n| --- | --- |\n| North | 5 |"


@pytest.mark.parametrize("sheet", [sheet_data(["x"]), ""], ids=["over cells", "alone"])
def test_a_chart_over_a_sheet_follows_its_cells(sheet: str) -> None:
    drawing = '<xdr:wsDr><xdr:graphicFrame><c:chart r:id="c"/></xdr:graphicFrame></xdr:wsDr>'
    relation = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    relation += '<Relationship Id="c" Type="x/chart" Target="../charts/chart1.xml"/></Relationships>'
    data = xlsx(
        {"S": sheet},
        parts={
            "xl/drawings/d.xml": with_namespaces(drawing),
            "xl/drawings/_rels/d.xml.rels": relation,
            "xl/charts/chart1.xml": with_namespaces(
                chart_of(series("Sales", points("5"), points("North")), "", "Plan")
            ),
        },
        of_sheets={"d": ("drawing", "../drawings/d.xml")},
    )
    chart = "Plan\n\n|  | Sales |\n| --- | --- |\n| North | 5 |"
    assert extract(data).text == "\n\n".join(filter(None, ("S", "x" if sheet else "", chart)))
