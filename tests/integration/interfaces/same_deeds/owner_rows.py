"""Deeds of owners: people, tokens and the configuration."""

import re
import tomllib
from typing import Any

from agent_core.state.people import api_tokens, codes, people
from gateway.app.config_file import change_config
from gateway.app.env_file import change_env, read_env
from gateway.home import CONFIG_NAME
from tests.integration.interfaces.same_deeds.surfaces import Do, Row, Surfaces

MODEL, MODEL_KEY = "llama3:latest", "sk-of-the-rows"
"""The only model of the server of models, and what opens it."""


async def look_at_invitation(here: Surfaces, name: str) -> Any:
    now = here.setup.served.gateway.now()
    found = await here.read(codes.list_open, purpose="invite", now=now)
    return [one.purpose for one in found if one.display_name == name]


async def look_at_token(here: Surfaces, name: str) -> Any:
    olga = await here.olga()
    found = await here.read(api_tokens.list_of, person_id=olga.id)
    return [one.scope for one in found if one.name == name]


async def look_at_guest(here: Surfaces, name: str) -> Any:
    found = await here.read(people.find_by_account, platform="fake", user_id=name.split()[-1])
    return found and found.role


async def knock(here: Surfaces, name: str) -> str:
    """Let a stranger write; the code that they get, and who they are."""
    chat, seen = here.setup.chat, await here.chat("hello", user=name, chat=name)
    await chat.until(lambda: any(one.chat_id == name for one in chat.shown[seen:]))
    return f"{find_code(here, name)} {name}"


async def admit(here: Surfaces, name: str) -> str:
    """Let somebody in; the number and the slug."""
    code, _, _ = (await knock(here, name)).partition(" ")
    await here.run("people", "approve", code)
    found = await here.read(people.find_by_account, platform="fake", user_id=name)
    return f"{found.id} {found.slug} {name}"


async def look_at_codes(here: Surfaces, name: str) -> Any:
    """Look whether somebody still waits, or is invited."""
    found = [
        one
        for purpose in ("invite", "pairing")
        for one in await here.read(codes.list_open, purpose=purpose, now=here.now())
    ]
    return [one.purpose for one in found if name.split()[-1] in (one.display_name, one.user_id)]


async def look_at_config(here: Surfaces, _: str) -> Any:
    text = (here.setup.home / "config.toml").read_text()
    return tomllib.loads(text).get("turns", {}).get("per_person")


async def make_api_token(here: Surfaces, name: str) -> str:
    """Make a token; its number and its name."""
    await here.post("/tokens/new", name=name, scope="mcp")
    found = await here.read(api_tokens.list_of, person_id=(await here.olga()).id)
    return f"{next(one.id for one in found if one.name == name)} {name}"


async def wait_outside(here: Surfaces, name: str) -> str:
    """Let a stranger wait; the number in the list, and who they are."""
    await knock(here, name)
    found = await here.read(codes.list_open, purpose="pairing", now=here.now())
    return f"{next(one.id for one in found if one.user_id == name)} {name}"


async def invite_guest(here: Surfaces, name: str) -> str:
    await here.post("/people/invite", guest=name)
    found = await here.read(codes.list_open, purpose="invite", now=here.now())
    return f"{next(one.id for one in found if one.display_name == name)} {name}"


async def configure(here: Surfaces, name: str) -> str:
    await here.run("config", "set", "turns.per_person", "3")
    return name


async def configure_nothing(here: Surfaces, name: str) -> str:
    await here.post("/configuration/turns.per_person", reset="yes")
    return name


async def disconnect(here: Surfaces, name: str) -> str:
    """Let the stand-in answer after the next start."""
    home = here.setup.home
    change_config(home / CONFIG_NAME, {"model": {"provider": "scripted", "name": ""}})
    change_env(home, {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": ""})
    return name


async def look_at_connection(here: Surfaces, _: str) -> Any:
    """Look which model answers after the next start, and whether its server is the one here."""
    home = here.setup.home
    model, kept = tomllib.loads((home / CONFIG_NAME).read_text())["model"], read_env(home)
    is_here = kept.get("OPENAI_BASE_URL") == here.models
    return model["provider"], model["name"], is_here, kept.get("OPENAI_API_KEY")


async def connect_by_terminal(here: Surfaces, _: str) -> None:
    await here.run(
        *("setup", "model", "--non-interactive", "--provider", "openai", "--model", MODEL),
        OPENAI_BASE_URL=here.models,
        OPENAI_API_KEY=MODEL_KEY,
    )


def refuse(ready: Do) -> Row:
    """Refuse who waits, or take an invitation back."""
    return Row(
        deed="Refuse who waits, take an invitation back",
        ready=ready,
        by={
            "page": lambda here, one: here.post(f"/people/waiting/{one.split()[0]}/cancel"),
            "terminal": lambda here, one: here.run("people", "cancel", one.split()[0]),
        },
        look=look_at_codes,
        left=[],
    )


async def let_in_by_code(here: Surfaces, one: str) -> None:
    await here.chat(f"/approve {find_code(here, one)}")


async def let_in_by_terminal(here: Surfaces, one: str) -> None:
    await here.run("people", "approve", find_code(here, one))


def find_code(here: Surfaces, one: str) -> str:
    """Find the code that a stranger was shown."""
    name = one.split()[-1]
    shown = next(each for each in reversed(here.setup.chat.shown) if each.chat_id == name)
    found = re.search(r"/approve ([\w-]+)", shown.text)
    assert found, shown.text
    return found[1]


ROWS = (
    Row(
        deed="Let in who waits",
        ready=knock,
        by={
            "chat": lambda here, one: here.chat(f"/approve {one.split()[0]}"),
            "page": lambda here, one: here.post("/people/approve", code=one.split()[0]),
            "terminal": lambda here, one: here.run("people", "approve", one.split()[0]),
        },
        look=look_at_guest,
        left="member",
    ),
    Row(
        deed="List and remove people",
        ready=admit,
        by={
            "page": lambda here, one: here.post(f"/people/{one.split()[0]}/remove", name="X"),
            "terminal": lambda here, one: here.run("people", "erase", "--yes", one.split()[1]),
        },
        look=look_at_guest,
        left=None,
    ),
    Row(
        deed="Make and revoke tokens",
        by={
            "page": lambda here, name: here.post("/tokens/new", name=name, scope="mcp"),
            "terminal": lambda here, name: here.run(
                "tokens", "create", name, "--person", "olga", "--scope", "mcp"
            ),
        },
        look=look_at_token,
        left=["mcp"],
    ),
    Row(
        deed="Invite someone",
        by={
            "chat": lambda here, name: here.chat(f"/invite {name}"),
            "page": lambda here, name: here.post("/people/invite", guest=name),
            "terminal": lambda here, name: here.run("people", "invite", name),
        },
        look=look_at_invitation,
        left=["invite"],
    ),
    Row(
        deed="Let in who waits",
        ready=wait_outside,
        by={
            "chat": let_in_by_code,
            "page": lambda here, one: here.post(f"/people/waiting/{one.split()[0]}/approve"),
            "terminal": let_in_by_terminal,
        },
        look=look_at_guest,
        left="member",
    ),
    refuse(wait_outside),
    refuse(invite_guest),
    Row(
        deed="Make and revoke tokens",
        ready=make_api_token,
        by={
            "page": lambda here, one: here.post(f"/tokens/{one.split()[0]}/revoke"),
            "terminal": lambda here, one: here.run("tokens", "revoke", one.split()[0]),
        },
        look=lambda here, one: look_at_token(here, one.split()[1]),
        left=[],
    ),
    Row(
        deed="Change the configuration",
        ready=configure_nothing,
        by={
            "page": lambda here, _: here.post("/configuration/turns.per_person", value="3"),
            "terminal": configure,
        },
        look=look_at_config,
        left=3,
    ),
    Row(
        deed="Change the configuration",
        ready=configure,
        by={
            "page": configure_nothing,
            "terminal": lambda here, _: here.run("config", "unset", "turns.per_person"),
        },
        look=look_at_config,
        left=None,
    ),
    Row(
        deed="Connect a model",
        ready=disconnect,
        by={
            "page": lambda here, _: here.post(
                "/model", way="server", address=here.models, key=MODEL_KEY, name=MODEL
            ),
            "terminal": connect_by_terminal,
        },
        look=look_at_connection,
        left=("openai", MODEL, True, MODEL_KEY),
    ),
)
