"""Configuration: every setting with its value and its source, and a form for one. For owners."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from starlette.responses import Response

from agent_core.tools.secret_scan import SecretMask
from gateway.app import config_changes
from gateway.app.settings import TABLES, Settings, find_source, load
from gateway.app.settings_check import name_variable
from gateway.errors import Mistaken, SettingsError
from gateway.home import CONFIG_NAME
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages import setting_topics
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.texts import forms as texts
from gateway.texts import setting_topics as topic_texts

_PASSWORD = re.compile(r"(?<=://)[^/\s]+(?=@)")
_HIDDEN = "[hidden]"
_MOST_BYTES = 200_000
_LONGEST_QUERY = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLine:
    """A setting as the page lists it. `source` names the file or variable that sets it."""

    name: str
    title: str
    meaning: str
    value: str
    source: str
    is_open: bool

    def has(self, words: list[str]) -> bool:
        """Return whether all these words, in lower case, occur in what is shown of it."""
        text = f"{self.name} {self.title} {self.meaning}".casefold()
        return all(word in text for word in words)


async def show(look: Look) -> Fields:
    """List the settings by topic with their values, and which secrets are set.

    With `find` in the query, list only those in whose names or explanations all its words occur.
    No secret is shown.
    """
    settings = await load_next(look.gateway.settings)
    query = look.request.query_params.get("find", "").strip()[:_LONGEST_QUERY]
    groups = await asyncio.to_thread(_group, settings, query.casefold().split())
    return {
        "groups": groups,
        "query": query,
        "o": topic_texts,
        "secrets": {
            name.upper(): getattr(settings.secrets, name) is not None
            for name in type(settings.secrets).model_fields
        },
        "undo": look.flash.get("undo"),
        "f": texts,
    }


async def find_names(running: Settings, asked: str, most: int) -> list[tuple[str, str]]:
    """List the addresses and the titles of settings with all these words, at most `most`."""
    groups = await asyncio.to_thread(_group, await load_next(running), asked.casefold().split())
    lines = [line for lines in groups.values() for line in lines][:most]
    return [
        (
            f"/configuration/{one.name}" if one.is_open else f"/configuration?find={one.name}",
            one.title,
        )
        for one in lines
    ]


async def edit(look: Look) -> Fields:
    """Show one setting for its form. Raises `Missing`."""
    settings = await load_next(look.gateway.settings)
    return _describe(settings, _find(look, settings))


async def change(look: Look) -> Response:
    """Write one setting into the file, or reset it, after the checks of a start.

    A wrong value writes nothing: it stays in the form, with the sentence that the start would say.
    Raises `Missing`.
    """
    settings = await load_next(look.gateway.settings)
    name, environ = _find(look, settings), settings.environ
    form = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    value = form.get("value", [""])[0].replace("\r\n", "\n").strip()
    is_set = bool(find_source(settings, *name.split(".")))
    before = _spell(settings, name) if is_set else None
    try:
        if "reset" in form:
            await asyncio.to_thread(config_changes.unset, environ, name)
        else:
            joined = ",".join(line.strip() for line in value.split("\n") if line.strip())
            await asyncio.to_thread(config_changes.set_value, environ, name, joined)
    except (Mistaken, SettingsError) as error:
        fields = _describe(settings, name, value, {"value": str(error)})
        return look.reject("edit_setting.html", **fields)
    note = texts.SAVED_SETTING(name=name)
    return look.redirect("/configuration", note=note, undo={"name": name, "value": before})


def _group(settings: Settings, words: list[str]) -> dict[str, list[SettingLine]]:
    """Return the settings that contain all words, by topic."""
    found = {
        topic: [line for table in tables for line in _list_lines(settings, table)]
        for topic, tables in setting_topics.group_tables().items()
    }
    fitting = {topic: [one for one in lines if one.has(words)] for topic, lines in found.items()}
    return {topic: lines for topic, lines in fitting.items() if lines}


def _list_lines(settings: Settings, table: str) -> Iterator[SettingLine]:
    title = str(TABLES[table].model_config.get("title", ""))
    for key in TABLES[table].model_fields:
        yield SettingLine(
            name=f"{table}.{key}",
            title=f"{title}: {setting_topics.name_plainly(key)}",
            meaning=setting_topics.explain(table).get(key, ""),
            value=_write(settings, table, key),
            source=find_source(settings, table, key),
            is_open=may_change(settings, f"{table}.{key}"),
        )


def may_change(settings: Settings, name: str) -> bool:
    """Return whether the page may change a setting: it says so, and no variable sets it."""
    table, _, key = name.partition(".")
    return (
        TABLES[table].may_change_on_page(key) and name_variable(table, key) not in settings.environ
    )


async def load_next(running: Settings) -> Settings:
    """Return the settings that the next start would use; those of this one if it would fail."""
    try:
        return await asyncio.to_thread(load, running.environ)
    except SettingsError:
        return running


def _find(look: Look, settings: Settings) -> str:
    """Return the setting in the address, if the page may change it. Raises `Missing`."""
    name = str(look.request.path_params["name"])
    table, _, key = name.partition(".")
    if table not in TABLES or key not in TABLES[table].model_fields:
        raise Missing
    if not may_change(settings, name):
        raise Missing
    return name


def _spell(settings: Settings, name: str) -> str:
    """Spell a value as the file's environment variable would; a list has a line for each."""
    table, _, key = name.partition(".")
    value = getattr(getattr(settings, table), key)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _describe(
    settings: Settings, name: str, value: str | None = None, faults: Mapping[str, str] | None = None
) -> dict[str, Any]:
    table, _, key = name.partition(".")
    kind = TABLES[table].model_fields[key].annotation
    default = TABLES[table].model_fields[key].get_default(call_default_factory=True)
    choices = ("true", "false") if kind is bool else ()
    return {
        "name": name,
        "value": _spell(settings, name) if value is None else value,
        "choices": get_args(kind) if get_origin(kind) is Literal else choices,
        "is_list": get_origin(kind) is tuple,
        "is_number": kind in (int, float),
        "default": ", ".join(map(str, default)) if isinstance(default, tuple) else str(default),
        "is_set": bool(find_source(settings, table, key)),
        "file": CONFIG_NAME,
        "faults": faults or {},
        "f": texts,
    }


def _write(settings: Settings, table: str, key: str) -> str:
    """Show a value without its secrets."""
    value = getattr(getattr(settings, table), key)
    shown = [str(one) for one in value] if isinstance(value, tuple) else [str(value)]
    if (table, key) == ("plugins", "options"):
        # Any option may hold a secret.
        shown = [f"{text.partition('=')[0]}={_HIDDEN}" for text in shown]
    mask = SecretMask(settings.hidden)
    return mask.hide(_PASSWORD.sub(_HIDDEN, ", ".join(shown)))
