"""Which settings the page may change is what their tables and fields declare."""

from typing import Annotated, Literal

from adapters.toolkit.table import ON_MACHINE, ON_PAGE, Table, Text
from gateway.app.settings import TABLES


class Open(Table, on_page=True):
    """A table of values that the page changes."""

    size: int = 1
    mode: Literal["a", "b"] = "a"
    is_on: bool = False
    program: Text = ""
    hosts: tuple[str, ...] = ()
    wall: Annotated[bool, ON_MACHINE] = True
    title: Annotated[Text, ON_PAGE] = ""


class Closed(Table):
    """A table that says nothing."""

    port: int = 1
    size: Annotated[int, ON_PAGE] = 1


def list_changed(table: type[Table]) -> set[str]:
    return {name for name in table.model_fields if table.may_change_on_page(name)}


def test_a_table_that_says_nothing_is_closed_and_so_is_each_text() -> None:
    assert list_changed(Closed) == {"size"}
    assert list_changed(Open) == {"size", "mode", "is_on", "title"}


def test_no_wall_no_program_and_no_address_is_changed_in_a_browser() -> None:
    for table in ("access", "http", "plugins", "prompt", "digest", "telemetry"):
        assert list_changed(TABLES[table]) == set(), table
    closed = {
        "backup.command",
        "backup.secrets",
        "jobs.script_processes",
        "media.command_network",
        "media.speech_command",
        "memory.provider",
        "model.runs_here",
        "signal.shares_number",
        "skills.folders",
        "slack.http_port",
        "tools.backend",
        "tools.docker_mounts",
        "tools.network_hosts",
        "tools.rules",
    }
    for name in closed:
        table, _, key = name.partition(".")
        assert key in TABLES[table].model_fields, name
        assert key not in list_changed(TABLES[table]), name
    assert "max_steps" in list_changed(TABLES["turns"])
    assert "fallbacks" in list_changed(TABLES["model"])
