"""Checks of a model of this machine: which one a start would use, its load, room and rights."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from agent_core.errors import StoreError
from agent_core.models.local.search import find_servers
from agent_core.models.profiles import CARD, MODE
from agent_core.models.router import split_name
from gateway.app.local_models import describe_owner, discover
from gateway.app.settings import Settings
from gateway.background.model_trust import Unseen, is_allowed
from gateway.errors import Declined, StartError
from gateway.home import DATABASE
from gateway.interfaces import client
from gateway.interfaces.diagnostics.finding import Finding
from gateway.operations.model_types import KnownModels, ListModels

_PART, _TEST = "local model", "fitness test"
_UNSEEN: Mapping[Unseen, str] = {"reviews": "review conversations", "skills": "write skills"}
_LEAST_WINDOW = 8192
"""Tokens; rules and tools alone take some 3,000, and an answer needs room, too."""


def look_at_local_model(settings: Settings) -> Iterator[Finding]:
    """Yield what concerns models of this machine; nothing if none is used or looked for."""
    if settings.is_model_local:
        yield _describe_load(settings)
        yield from _look_at_server(settings)
        yield from _look_at_card(settings)
    elif settings.has_no_model:
        yield from _look_for_one(settings)


def _describe_load(settings: Settings) -> Finding:
    """Say how many requests the server gets at once."""
    at_once = settings.model.local_at_once
    how = "one request at a time" if at_once == 1 else f"up to {at_once} requests at once"
    text = f"{settings.secrets.openai_base_url} gets {how}, people before background work"
    if at_once == 1:
        return Finding(part=_PART, state="ok", text=text)
    return Finding(
        part=_PART,
        state="note",
        text=f"{text}; a server with two slots once gave one person the other's answer",
        fix="Set model.local_at_once to 1, unless you have tested that yours keeps people apart.",
    )


def _look_at_server(settings: Settings) -> Iterator[Finding]:
    """Note what may be a proxy of a vendor, and a window that has no room for the rules.

    Some servers cut the rules off without a word.
    """
    port = urlsplit(settings.secrets.openai_base_url or "").port
    for server in asyncio.run(find_servers([port])) if port else ():
        if server.kind == "other":
            text = f"nobody knows what kind of server is at port {port}"
            fix = "If it only passes requests on to a vendor, as a proxy does: "
            fix += "Set model.runs_here to false."
            yield Finding(part=_PART, state="note", text=text, fix=fix)
        for model in server.models:
            if model.name == settings.model.name and 0 < (model.window or 0) < _LEAST_WINDOW:
                yield Finding(
                    part=_PART,
                    state="note",
                    text=f"{server.title} reads only {model.window:,} tokens of {model.name}",
                    fix="Give it 16,000 tokens or more; see docs/without-an-account.md.",
                )


def _look_at_card(settings: Settings) -> Iterator[Finding]:
    """Say what the models of this machine may do, by their fitness test."""
    known = KnownModels(models=())
    if (settings.home / DATABASE).exists():
        try:
            known = client.perform_typed(settings.home, "models.known", ListModels(), KnownModels)
        except (StartError, Declined, StoreError) as error:
            text = f"what is known of {settings.model.name} can't be read now: {error}"
            yield Finding(part=_TEST, state="note", text=text)
            return
    server = settings.secrets.openai_base_url or ""
    values = {
        one.model: {fact.kind: json.loads(fact.value) for fact in one.facts}
        for one in known.models
        if one.server == server
    }
    if values.get(split_name(settings.model.name)[1], {}).get(MODE) == "unfit":
        text = f"{settings.model.name} has failed it; it answers, but often wrongly"
        yield Finding(part=_TEST, state="note", text=text, fix="Choose another model.")
    name = settings.model.cheap
    yield _describe_trust(name, server, values.get(split_name(name)[1], {}))


def _describe_trust(name: str, server: str, values: Mapping[str, object]) -> Finding:
    """Say whether a model of this machine may review conversations and write skills."""
    lacking = [word for use, word in _UNSEEN.items() if not is_allowed(server, values, use)]
    if not lacking:
        text = f"{name} may review conversations and write skills"
        return Finding(part=_TEST, state="ok", text=text)
    why = "has not passed it" if CARD in values else "has not taken it"
    text = f"{name} {why}, so it does not {' or '.join(lacking)}"
    fix = f"Run `talaria models test {name}`, or `talaria models trust {name}`."
    return Finding(part=_TEST, state="note", text=text, fix=fix)


def _look_for_one(settings: Settings) -> Iterator[Finding]:
    found = asyncio.run(discover(settings))
    if found is None or found.choice is None:
        return
    server, name = found.choice.server, found.choice.model.name
    text = f"{name} of {server.title} is on this machine, {describe_owner(server)}"
    if found.needs_yes:
        fix = "To let it answer, run `talaria models local use`."
        yield Finding(part=_PART, state="note", text=text, fix=fix)
    else:
        yield Finding(part=_PART, state="ok", text=f"{text}; the next start uses it")
