"""Charts: a picture for the answer, once a call, whatever the labels hold."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.ids import CallId
from agent_core.localization import use_language
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.tools.answer_files import MOST_FILES
from agent_core.tools.pictures.chart_tool import MOST_POINTS
from agent_core.tools.pictures.chart_words import Series, describe_chart
from agent_core.tools.pictures.descriptions import read_description
from agent_core.tools.readers import chart_drawer
from agent_core.tools.readers.chart_drawer import (
    DrawOrder,
    DrawSeries,
    count_overlaps,
    measure,
    plot,
)
from agent_core.tools.readers.faults import ReaderFailed
from agent_core.tools.readers.pool import ReaderCommand, ReaderPool
from tests.agent_core.digest.conftest import Desk

pytestmark = pytest.mark.process

DRAWER = "agent_core.tools.readers.chart_drawer"


@pytest.fixture(scope="module")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is known of fonts: found out once for all of these tests."""
    return tmp_path_factory.mktemp("fonts")


def size(picture: bytes) -> tuple[int, int]:
    """Width and height, as a PNG's head has them."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def bars(**more: object) -> dict[str, object]:
    return {
        "kind": "bar",
        "title": "Commits: this week!",
        "labels": ["Mon", "Tue", "Wed"],
        "values": [3, -1, 2.5],
        **more,
    }


def draw(**more: object) -> bytes:
    """A picture, as the reader's own process draws it."""
    order = {"unit": "", **bars(**more)}
    order["series"] = order.get("series", [{"name": "", "values": order["values"]}])
    del order["values"]
    return chart_drawer.draw(chart_drawer.read_order(json.dumps(order)))


@pytest.mark.thorough
async def test_a_chart_goes_out_with_the_answer_once(desk: Desk) -> None:
    result = await desk.call("chart", bars(unit="commits"))
    assert result.text == "Commits-this-week.png goes out with your answer."
    assert await desk.call("chart", bars(unit="commits")) == result
    [(name, media_type, picture)] = await desk.given()
    assert (name, media_type) == ("Commits-this-week.png", "image/png")
    assert size(picture) == (1000, 600)


NAMES = [
    "a/very-long-repository-name-that-goes-on",
    "東京",
    "🎉🎉",
    "مرحبا",
    "$x^2$ \\frac{1}{0}",
    "",
    "zero\u200dwidth",
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "order",
    [
        {"labels": [f"2026-11-{n:02} day" for n in range(1, 31)], "values": list(range(-9, 21))},
        {"labels": NAMES, "values": [1, -2, 3, 0, 5, 6, 1e15], "title": "🎉 東京 $" * 20},
        {"labels": ["x"], "values": [0], "kind": "line", "title": ""},
        {"labels": ["x"] * MOST_POINTS, "values": [-1e-9] * MOST_POINTS, "kind": "line"},
        {"labels": NAMES * 3, "values": [-5.0] * 21, "unit": "$/日"},
    ],
    ids=["thirty", "letters", "one", "many", "below"],
)
def test_labels_of_any_kind_are_drawn_without_complaint(order: dict[str, object]) -> None:
    assert size(draw(**order)) == (1000, 600)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "labels", "values"),
    [
        ("bar", [str(n) for n in range(12)], [123456.7 * (n + 1) for n in range(12)]),
        ("bar", [str(n) for n in range(18)], [987654.0] * 18),
        ("bar", ["Wednesday in Vienna"] * 14, [1e6] * 14),
        ("bar", [f"2026-11-{n:02} somewhere" for n in range(36)], [1.0] * 36),
        ("line", [f"Wednesday {n}" for n in range(30)], [float(n) for n in range(30)]),
        ("line", ["WWWWWWWWWWWWWWWWWW"] * 120, [1e14] * 120),
    ],
)
def test_labels_never_overlap(kind: str, labels: list[str], values: list[float]) -> None:
    series = [DrawSeries(name="", values=values)]
    figure = plot(DrawOrder(kind=kind, title="Labels", labels=labels, series=series, unit="kWh"))
    (axes,) = figure.axes
    for texts in (axes.get_xticklabels(), axes.get_yticklabels(), axes.texts):
        assert not count_overlaps(measure(figure, [text for text in texts if text.get_text()]))
        assert any(text.get_visible() for text in texts) or not texts


def several(number: int = 2, **more: object) -> dict[str, object]:
    """Bars of several series; `values` are those of each."""
    asked = {**bars(**more)}
    values = asked.pop("values")
    names = [f"Year {year}" for year in range(number)]
    return {**asked, "series": [{"name": name, "values": values} for name in names]}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["bar", "line"])
@pytest.mark.parametrize("number", [2, 6])
def test_several_series_have_a_legend(kind: str, number: int) -> None:
    asked = several(number, kind=kind)
    assert size(draw(**asked)) == (1000, 660)
    figure = plot(chart_drawer.read_order(json.dumps({"unit": "km", **asked})))
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        f"Year {year}" for year in range(number)
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("en", ["Rent\n1,250 € (75%)", "Food\n412.55 € (25%)"]),
        ("de", ["Rent\n1.250 € (75 %)", "Food\n412,55 € (25 %)"]),
    ],
)
def test_a_pie_names_its_shares_in_the_numbers_of_the_reader(
    language: str, lines: list[str]
) -> None:
    given = {"kind": "pie", "title": "May", "unit": "€", "language": language}
    series = [{"name": "", "values": [1250, 412.55]}]
    order = {**given, "labels": ["Rent", "Food"], "series": series}
    figure = plot(chart_drawer.read_order(json.dumps(order)))
    legend = figure.axes[0].get_legend()
    assert legend
    assert [text.get_text() for text in legend.get_texts()] == lines


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (1234567.0, "1.235M", "1,235 Mio."),
        (2.5e9, "2.5B", "2,5 Mrd."),
        (12345.0, "12,345", "12.345"),
        (999.7, "999.7", "999,7"),
        (0.256, "0.256", "0,256"),
        (-3.0, "−3", "−3"),
    ],
)
def test_numbers_are_written_as_the_reader_does(value: float, english: str, german: str) -> None:
    assert chart_drawer.write_number(value, "en") == english
    assert chart_drawer.write_number(value, "de") == german


@pytest.mark.thorough
async def test_a_picture_carries_its_numbers_in_words(desk: Desk) -> None:
    def speak_german(connection: Connection) -> None:
        person = people.find(connection, person_id=desk.context.person_id)
        assert person
        people.set_preferences(connection, replace(person, language="de"))

    await desk.database.write("language", speak_german)
    await desk.call("chart", bars(unit="km", values=[1200, -1, 2.5]))
    [(_, _, picture)] = await desk.given()
    assert read_description(picture) == (
        "Commits: this week! (km)\nMon  ████████████████████████ 1.200\nTue  ▏ −1\nWed  ▏ 2,50"
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    "order",
    [
        bars(values=[None, 2, None]),
        bars(values=[None, 2, None], kind="line"),
        bars(values=[-1, None, None], labels=["A long label of a bar"] * 3),
        {**several(), "series": [{"name": n, "values": [1, None, -2]} for n in ("a", "b")]},
    ],
)
async def test_days_without_a_number_are_gaps(desk: Desk, order: object) -> None:
    assert not (await desk.call("chart", order)).is_error
    [(_, _, picture)] = await desk.given()
    assert "–" in read_description(picture)


@pytest.mark.parametrize("picture", [b"", b"GIF89a", draw()[:400], draw()])
def test_what_carries_no_words_has_none(picture: bytes) -> None:
    assert read_description(picture) == ""


def test_a_long_chart_in_words_ends_somewhere() -> None:
    series = [Series(name=name, values=range(50)) for name in ("one", "two")]
    with use_language("en"):
        words = describe_chart("Title", [str(n) for n in range(50)], series, "")
    lines = words.split("\n")
    assert (len(lines), lines[1], lines[-1]) == (26, "0 · one   ▏ 0", "…")


def test_what_differs_looks_different() -> None:
    others = (draw(values=[3, -1, 2]), draw(labels=["Mon", "Tue", "Thu"]))
    assert len({draw(), *others}) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        bars(labels=["a"]),
        bars(values=[1, 2, 1e16]),
        bars(kind="pie"),
        bars(kind="pie", values=[0, 0, 0]),
        bars(kind="pie", labels=["a"] * 13, values=[1] * 13),
        bars(kind="pie", values=[1, None, 2]),
        bars(values=[None, None, None]),
        bars(kind="radar"),
        bars(series=[{"name": "a", "values": [1, 2, 3]}]),
        {"kind": "bar", "title": "x", "labels": ["a"]},
        several(number=7),
        several(labels=["a"]),
        several(number=4, labels=["a"] * 120, values=[1] * 120),
        bars(labels=[], values=[]),
        bars(labels=["a"] * (MOST_POINTS + 1), values=[1] * (MOST_POINTS + 1)),
        bars(values=[1, 2, "3"]),
    ],
)
async def test_numbers_that_can_t_be_drawn_are_refused(desk: Desk, arguments: object) -> None:
    result = await desk.call("chart", arguments)
    assert result.is_error
    assert "`chart` was not run" in result.text
    assert await desk.given() == []


async def test_an_answer_carries_so_many_files_and_no_more(desk: Desk) -> None:
    def fill(connection: Connection) -> None:
        key = files.store(connection, data=b"x", media_type="text/plain", now=0)
        for number in range(MOST_FILES):
            files.attach(
                connection,
                turn_id=desk.context.turn_id,
                call_id=CallId(f"f{number}"),
                key=key,
                name="x.txt",
                now=0,
            )

    await desk.database.write("fill", fill)
    result = await desk.call("chart", bars())
    assert (result.is_error, result.text) == (
        True,
        "Not drawn: an answer carries at most 10 files.",
    )


async def test_a_drawing_that_takes_too_long_is_given_up(fonts: Path) -> None:
    job_turn = ReaderCommand(
        program=DRAWER,
        arguments=(),
        data=b"{}",
        seconds=0.01,
        most_bytes=10,
        folder=fonts,
    )
    with pytest.raises(ReaderFailed, match="took longer"):
        await ReaderPool().run(job_turn)


async def test_a_program_that_fails_gives_nothing() -> None:
    job_turn = ReaderCommand(program=DRAWER, arguments=(), data=b"{", seconds=120, most_bytes=10)
    with pytest.raises(ReaderFailed, match="unreadable"):
        await ReaderPool().run(job_turn)
