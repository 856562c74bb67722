"""Commands find a person by folder or by name."""

import sqlite3
from contextlib import closing

import pytest

from agent_core.localization import use_language
from agent_core.state.people import people
from gateway.errors import Mistaken
from gateway.operations.contract import find_person
from tests.agent_core.state.schema import create_schema

ROWS = (
    ("owner", "owner"),
    ("root", "owner"),
    (" Root ", "owner"),
    ("ann", "ann"),
    ("ANN SMITH", "ann"),
    ("bob", "bob"),
    ("Bob Lee", None),
    ("lee", None),
    ("", None),
)


@pytest.mark.parametrize(("name", "folder"), ROWS)
def test_a_name_or_folder_finds_one_person_or_says_why_not(name: str, folder: str | None) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_schema(connection)
        for slug, shown in (("owner", "root"), ("ann", "Ann Smith"), ("bob", "ann")):
            people.insert(connection, slug=slug, name=shown, role="member", now=0)
        for slug in ("bob-lee", "bob-lee-2"):
            people.insert(connection, slug=slug, name="Bob Lee", role="member", now=0)
        if folder:
            assert find_person(connection, name).slug == folder
            return
        with pytest.raises(Mistaken) as refused:
            find_person(connection, name)
    several = (
        "Several people are called Bob Lee. Instead of the name, write one of these folders:"
        " bob-lee, bob-lee-2."
    )
    missing = f"There is no person {name}; `talaria people list` shows names and folders."
    assert str(refused.value) == (several if name == "Bob Lee" else missing)


def test_the_refusal_is_in_the_language_of_its_reader() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_schema(connection)
        with use_language("de"), pytest.raises(Mistaken, match="Es gibt niemanden namens bob"):
            find_person(connection, "bob")
