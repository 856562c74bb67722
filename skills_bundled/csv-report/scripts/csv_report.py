"""Describe the columns of a CSV file, or sum up one column by another, ready for a chart."""

import argparse
import csv
import io
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from datetime import date, datetime
from pathlib import Path

MOST_BYTES = 200_000_000
NUMBER = re.compile(r"[-+]?\d{1,3}(?:[ .,'\u00a0]\d{3})+(?:[.,]\d+)?|[-+]?\d+(?:[.,]\d+)?")
DATES = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d")
PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
SUMS = {"sum": sum, "mean": statistics.fmean, "count": len, "max": max, "min": min}


class BadInput(Exception):
    """The file or an option can't be used; the message says why."""


def read_rows(path: Path, delimiter: str | None) -> tuple[list[str], list[dict[str, str]], int]:
    """Read the header, the rows and the number of rows with another length. Raises `BadInput`."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{path} has more than {MOST_BYTES // 1_000_000} MB; split it first")
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror}") from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        raise BadInput(f"{path} is no text; save the table as CSV first")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    lines = list(
        csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or find_delimiter(text))
    )
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        raise BadInput(f"{path} needs a line of column names and at least one row")
    header = [name.strip() or f"column {number}" for number, name in enumerate(lines[0], 1)]
    if len({*header}) < len(header):
        twice = next(name for name, count in Counter(header).items() if count > 1)
        raise BadInput(f"two columns of {path} have the name {twice}; rename one")
    rows = [dict(zip(header, [*line, *[""] * len(header)])) for line in lines[1:]]
    return header, rows, sum(len(line) != len(header) for line in lines[1:])


def find_delimiter(text: str) -> str:
    """Choose the delimiter that splits the first line into most columns."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(",;\t|", key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))


def to_number(cell: str) -> float | None:
    """Read a number, also with a currency or percent sign, and with a comma; None for others."""
    text = cell.strip().strip("€$£% \u00a0")
    if not NUMBER.fullmatch(text):
        return None
    text = re.sub(r"[ '\u00a0]", "", text)
    comma, dot = text.rfind(","), text.rfind(".")
    if comma > dot:  # 1.234,5 and 12,50; but 1,234 is a thousand
        is_thousand = re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+", text) and dot < 0
        text = text.replace(",", "") if is_thousand else text.replace(".", "").replace(",", ".")
    elif text.count(".") > 1:
        text = text.replace(".", "")
    else:
        text = text.replace(",", "")
    return float(text)


def to_date(cell: str) -> date | None:
    """Read a date or a time by the usual formats; None for others."""
    text = cell.strip()
    for form in DATES:
        try:
            return datetime.strptime(text[:10], form).date()
        except ValueError:
            continue
    return None


def describe(header: list[str], rows: list[dict[str, str]]) -> list[str]:
    """Write a table with one line for each column."""
    lines = [
        "| column | kind | filled | distinct | from | to | mean |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in header:
        cells = [row[name].strip() for row in rows if row[name].strip()]
        numbers = [found for cell in cells if (found := to_number(cell)) is not None]
        dates = [found for cell in cells if (found := to_date(cell)) is not None]
        kind, first, last, mean = "text", "", "", ""
        if cells and len(numbers) >= 0.95 * len(cells):
            kind, first, last = "number", f"{min(numbers):g}", f"{max(numbers):g}"
            mean = f"{statistics.fmean(numbers):g}"
        elif cells and len(dates) >= 0.95 * len(cells):
            kind, first, last = "date", str(min(dates)), str(max(dates))
        else:
            usual = Counter(cells).most_common(1)
            first = f"mostly {usual[0][0][:30]}" if usual and usual[0][1] > 1 else ""
        shown = name.replace("|", "/")
        filled = f"{len(cells):,}/{len(rows):,}"
        lines.append(
            f"| {shown} | {kind} | {filled} | {len({*cells}):,} | {first} | {last} | {mean} |"
        )
    return lines


def group(
    rows: list[dict[str, str]], given: argparse.Namespace
) -> tuple[list[str], list[float], int]:
    """Sum up one column by another; return labels, values and the rows left out."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    left_out = 0
    for row in rows:
        label = row[given.group].strip() or "(empty)"
        if given.by:
            day = to_date(label)
            label = day.strftime(PERIODS[given.by]) if day else ""
        value = to_number(row[given.value]) if given.value else 1.0
        if value is None or not label:
            left_out += 1
        else:
            found[label].append(value)
    sums = {label: float(SUMS[given.sum](values)) for label, values in found.items()}
    by_size = sorted(sums.items(), key=lambda one: (-one[1], one[0]))
    chosen = sorted(sums.items()) if given.by else by_size[: given.top]
    return [label for label, _ in chosen], [round(value, 4) for _, value in chosen], left_out


def report(given: argparse.Namespace) -> list[str]:
    """Write the report. Raises `BadInput`."""
    header, rows, uneven = read_rows(given.file, given.delimiter)
    lines = [f"{len(rows):,} rows, {len(header)} columns in {given.file.name}"]
    if uneven:
        lines.append(f"rows with more or fewer cells than the header: {uneven:,}")
    if not given.group:
        return [*lines, "", *describe(header, rows)]
    for name in filter(None, (given.group, given.value)):
        if name not in header:
            raise BadInput(f"there is no column {name}; the columns are {', '.join(header)}")
    if given.sum != "count" and not given.value:
        raise BadInput(f"--sum {given.sum} needs a column of numbers as --value")
    labels, values, left_out = group(rows, given)
    if not labels:
        raise BadInput(f"no row has a usable {given.group} and {given.value or 'count'}")
    what = f"{given.sum} of {given.value}" if given.value else "rows"
    title = f"{what} by {given.by or given.group}"
    if left_out:
        lines.append(f"rows left out, without a number or a date: {left_out:,}")
    chart = {
        "kind": "line" if given.by else "bar",
        "title": title,
        "labels": labels,
        "values": values,
    }
    table = [f"| {label.replace('|', '/')} | {value:g} |" for label, value in zip(labels, values)]
    return [*lines, "", f"| {given.by or given.group} | {what} |", "|---|---|", *table, "",
            "Arguments for `chart`:", json.dumps(chart, ensure_ascii=False)]  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run; return 0, or 2 with one sentence on stderr."""
    parser = argparse.ArgumentParser(description="Describe a CSV file, or sum up its columns.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--group", metavar="COLUMN", help="what the rows are grouped by")
    parser.add_argument("--value", metavar="COLUMN", help="the numbers to sum up")
    parser.add_argument("--sum", choices=sorted(SUMS), default="count", help="how to sum up")
    parser.add_argument(
        "--by", choices=sorted(PERIODS), help="the group is a date: sum up by period"
    )
    parser.add_argument("--top", type=int, default=20, help="the largest groups that are shown")
    parser.add_argument("--delimiter", help="the sign between cells, if it isn't found")
    try:
        print("\n".join(report(parser.parse_args(arguments))))
    except (BadInput, csv.Error, TypeError) as error:
        print(f"{str(error).rstrip('.')}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
