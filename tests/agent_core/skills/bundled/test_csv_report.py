"""The script that describes and sums up CSV files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent_core.skills.bundled.scripts import refused, run

pytestmark = pytest.mark.process


def chart(shown: str) -> dict[str, Any]:
    return json.loads(shown.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("12", 12.0),
        ("12,50", 12.5),
        ("1.234,56", 1234.56),
        ("1,234.56", 1234.56),
        ("1,234", 1234.0),
        ("1.234.567", 1234567.0),
        ("-3.5", -3.5),
        ("€ 9,90", 9.9),
        ("45 %", 45.0),
        ("1 234,5", 1234.5),
    ],
)
def test_numbers_are_read_as_people_write_them(tmp_path: Path, cell: str, number: float) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"who;amount\nAnn;{cell}\n")
    done = run("csv-report", str(file), "--group", "who", "--value", "amount", "--sum", "sum")
    assert chart(done.stdout)["values"] == [number]


def test_columns_are_described_with_gaps_and_ranges(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes("Stadt,Datum,Größe\nKöln,03.10.2026,7\nKöln,12.11.2026,\n".encode("cp1252"))
    shown = run("csv-report", str(file)).stdout
    assert "| Stadt | text | 2/2 | 1 | mostly Köln |  |  |" in shown
    assert "| Datum | date | 2/2 | 2 | 2026-10-03 | 2026-11-12 |  |" in shown
    assert "| Größe | number | 1/2 | 1 | 7 | 7 | 7 |" in shown


def test_a_course_over_time_is_a_line_in_the_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("day\tn\n2026-11-02\t1\n2026-10-30\t2\n2026-11-20\t4\nsoon\t8\n")
    words = (str(file), "--group", "day", "--value", "n", "--sum", "sum", "--by", "month")
    shown = run("csv-report", *words).stdout
    assert "rows left out, without a number or a date: 1" in shown
    assert chart(shown) == {
        "kind": "line",
        "title": "sum of n by month",
        "labels": ["2026-10", "2026-11"],
        "values": [2.0, 5.0],
    }


def test_rows_are_counted_and_the_largest_groups_come_first(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text('a,b\n"x, y",1\nz,2,3\n"x, y",\n\n')
    shown = run("csv-report", str(file), "--group", "a", "--top", "1").stdout
    assert "rows with more or fewer cells than the header: 1" in shown
    assert chart(shown)["labels"] == ["x, y"]
    assert chart(shown)["values"] == [2.0]


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b\n1,x\n")
    name = str(file)
    assert "there is no column c; the columns are a, b" in refused(
        "csv-report", name, "--group", "c"
    )
    words = (name, "--group", "a", "--value", "b", "--sum", "sum")
    assert "no row has a usable a and b" in refused("csv-report", *words)
    assert "needs a column of numbers" in refused(
        "csv-report", name, "--group", "a", "--sum", "max"
    )
    file.write_text("only a header\n")
    assert "at least one row" in refused("csv-report", name)
    file.write_text("a,a\n1,2\n")
    assert "have the name a" in refused("csv-report", name)
    file.write_bytes(b"PK\x03\x04\0\0")
    assert "save the table as CSV first" in refused("csv-report", name)
    file.write_text('a,b\n"' + "x" * 200_000 + '",1\n')
    assert "field larger than" in refused("csv-report", name)
    assert "No such file" in refused("csv-report", str(tmp_path / "gone.csv"))
