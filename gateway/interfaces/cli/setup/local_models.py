"""`talaria models local`: lists, downloads and chooses the models of this machine."""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agent_core.errors import name_installation
from agent_core.models.local.servers import Choice, LocalModel, LocalServer
from gateway.app.local_models import (
    Discovery,
    decide,
    describe_owner,
    describe_servers,
    discover,
    list_variables,
    search,
)
from gateway.errors import Declined
from gateway.interfaces.cli.setup.home import SetupHome
from gateway.interfaces.cli.setup.local_arguments import SUGGESTED
from gateway.interfaces.dialogue import confirm
from gateway.interfaces.doctor.probes import check_model
from gateway.interfaces.model_connection import ADDRESS, sends_key_elsewhere
from gateway.interfaces.waiting import read_settings

if TYPE_CHECKING:
    from gateway.app.settings import Settings

TRY_IT = "`talaria models test` shows in some minutes what it is fit for."
"""Offers the fitness test, which never runs by itself."""
_PAGE = "See docs/without-an-account.md."
_NONE = (
    "No model server answers on this machine. Install Ollama from https://ollama.com, start it, and"
    f" run `talaria models local pull {SUGGESTED}`. {_PAGE}"
)


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List, download or choose models. Raises `Declined`, `StartError` and `Mistaken`."""
    servers = asyncio.run(search(read_settings(environ)))
    if arguments.local_verb == "list":
        for line in _list_models(servers):
            print(line)
    elif arguments.local_verb == "pull":
        _pull(servers, arguments.name)
    else:
        choice = _find(servers, arguments.name)
        save(SetupHome(environ), choice)
    return 0


def find_choice(found: "Settings", given: Mapping[str, str], *, may_ask: bool) -> Choice | None:
    """Search this machine if no key is set, say what was found, and return what to use.

    A server of another user, or of one that nobody knows, is used only after a yes, which is kept.
    Raises `Mistaken` and `StartError`.
    """
    discovery = asyncio.run(discover(found)) if found.has_no_model else None
    if discovery is None:
        return None
    for line in describe_discovery(discovery):
        print(line)
    if discovery.choice and find_spec("openai") is None:
        print(f"Talaria needs a package to talk to it; run {name_installation('openai')}")
        return None
    if not (discovery.choice and discovery.needs_yes):
        return discovery.choice
    if not (may_ask and sys.stdin.isatty() and sys.stdout.isatty()):
        print("To use it, run `talaria models local use`.")
        return None
    home = SetupHome(given)
    if not confirm(f"Send what people write to {discovery.choice.server.title}?", default=False):
        home.save_settings("model", {"find_local": False})
        return None
    _write(home, discovery.choice, {ADDRESS: discovery.choice.server.base_url})
    return discovery.choice


def use_local(found: "Settings", given: Mapping[str, str]) -> "Settings":
    """Return settings with a model of this machine, if no key is set and one is found.

    `given` is the environment before `found` was read from it. Raises `Mistaken` and `StartError`.
    """
    from gateway.app.settings import load

    choice = find_choice(found, given, may_ask=True)
    return load({**given, **list_variables(choice)}) if choice else found


def offer_choice(found: "Settings") -> Choice | None:
    """Return the best model of this machine for a setup to offer; None without one."""
    discovery = asyncio.run(discover(found))
    return discovery.choice if discovery else None


def describe_choice(choice: Choice) -> str:
    """Name a model of this machine, its server, and whose process that is."""
    return f"{choice.model.name} of {choice.server.title}, {describe_owner(choice.server)}"


def describe_discovery(discovery: Discovery) -> Iterator[str]:
    """Say what was found on this machine, and what follows."""
    if not discovery.servers:
        return
    for line in describe_servers(discovery.servers):
        yield f"Found {line}."
    choice = discovery.choice
    if choice is None:
        yield (
            "None of its models can call tools, so none is used. Get one that can:"
            f" `talaria models local pull {SUGGESTED}`."
        )
    elif not discovery.needs_yes:
        yield f"No model key is set, so {choice.model.name} of {choice.server.title} answers."
    else:
        yield f"{choice.model.name} could answer, but {_explain_doubt(choice.server)}."


def save(home: SetupHome, choice: Choice) -> None:
    """Check a model of this machine, and save it as the one that answers. Raises `StartError`."""
    from gateway.app.settings import load

    secrets = {ADDRESS: choice.server.base_url}
    if sends_key_elsewhere(home.environ, secrets):
        secrets |= home.give_up_key(choice.server.title)
    removed = [name for name, value in secrets.items() if not value]
    trial = load({**home.environ, **list_variables(choice)}, without=removed)
    check_model(trial)
    _write(home, choice, secrets)
    print(f"{choice.model.name} of {choice.server.title} is ready.")
    print(TRY_IT)
    if choice.model.calls_tools is False:
        print("It says that it can't call tools, so it can do little more than talk.")
    if home.is_running():
        print("Talaria runs with the old settings. Restart it to use the new ones.")


def _write(home: SetupHome, choice: Choice, secrets: Mapping[str, str]) -> None:
    for name in home.save_secrets(secrets):
        print(f"The environment sets another {name}, which takes precedence. Remove it there.")
    home.save_settings("model", {"provider": "openai", "name": choice.model.name})


def _explain_doubt(server: LocalServer) -> str:
    if server.kind == "other":
        return "nobody knows what kind of server it is"
    if server.owner is None:
        return "this system does not tell whose process it is"
    return f"its process belongs to {server.owner}, who could read what is sent there"


def _list_models(servers: tuple[LocalServer, ...]) -> Iterator[str]:
    if not servers:
        yield _NONE
        return
    best = decide(servers).choice
    for line, server in zip(describe_servers(servers), servers, strict=True):
        yield line
        for model in server.models:
            is_best = best is not None and (best.server, best.model) == (server, model)
            yield f"  {describe_model(model)}{'  (the best here)' if is_best else ''}"


def describe_model(model: LocalModel) -> str:
    """Describe a model in one line."""
    tools = {True: "calls tools", False: "calls no tools", None: "may call tools"}
    said = [tools[model.calls_tools]]
    if model.billions:
        said.append(f"{round(model.billions, 1):g} billion parameters")
    if model.weight:
        said.append(f"{model.weight / 1e9:,.1f} GB")
    if model.window:
        said.append(f"reads {model.window:,} tokens")
    return f"{model.name}: {', '.join(said)}"


def _find(servers: tuple[LocalServer, ...], name: str) -> Choice:
    """Return the model of a name, or the best one. Raises `Declined`."""
    if not servers:
        raise Declined(_NONE)
    if not name:
        choice = decide(servers).choice
        if choice is None:
            raise Declined("None of the models here can call tools. Name one to use it anyway.")
        return choice
    for server in servers:
        for model in server.models:
            if name in (model.name, model.name.removesuffix(":latest")):
                return Choice(server=server, model=model)
    raise Declined(f"There is no model {name} here. `talaria models local list` shows them.")


def _pull(servers: tuple[LocalServer, ...], name: str) -> None:
    """Download a model, and show how far it is. Raises `Declined`."""
    ollama = next((one for one in servers if one.kind == "ollama"), None)
    if ollama is None:
        raise Declined(
            "Models are downloaded by Ollama, which does not run on this machine."
            f" Install it from https://ollama.com and start it. {_PAGE}"
        )
    print(f"Downloading {name} with Ollama ...", flush=True)
    try:
        asyncio.run(_show_pull(ollama.root, name))
    except KeyboardInterrupt:
        raise Declined("\nStopped. The same command goes on from here.") from None
    print(f"{name} is here. `talaria models local use {name}` lets it answer.")


async def _show_pull(root: str, name: str) -> None:
    from agent_core.models.local.ollama import PullFailed, pull

    is_terminal, last = sys.stdout.isatty(), ""
    try:
        async with aclosing(pull(root, name)) as steps:
            async for one in steps:
                percent = f" {one.done * 100 // one.total} %" if one.total else ""
                line = f"{one.step}{percent}"
                if line == last or (percent and not is_terminal and one.done < one.total):
                    continue
                last = line
                print(f"\r\x1b[K{line}" if is_terminal else line, end="" if is_terminal else "\n")
                sys.stdout.flush()
    except PullFailed as error:
        raise Declined(str(error)) from error
    finally:
        if is_terminal:
            print()
