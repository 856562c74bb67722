"""Rows as records: each column fills the field of its name.

A statement names its columns like the fields of the record, with `AS` where they differ.
"""

from collections.abc import Callable, Mapping
from sqlite3 import Cursor
from typing import Any, TypeVar

T = TypeVar("T")
Decode = Callable[[Any], object]
"""Makes the value of a field of that of its column."""
Decoders = Mapping[str, Decode]


def read_all(kind: Callable[..., T], rows: Cursor, /, **decode: Decode) -> list[T]:
    """Return a record of each row; `decode` has what some of its fields need."""
    names = [column[0] for column in rows.description]
    records = []
    for row in rows:
        fields = dict(zip(names, row, strict=True))
        fields.update((name, make(fields[name])) for name, make in decode.items())
        records.append(kind(**fields))
    return records


def read_one(kind: Callable[..., T], rows: Cursor, /, **decode: Decode) -> T | None:
    """Return the record of the only row, or of the first; None if there is none."""
    return next(iter(read_all(kind, rows, **decode)), None)
