"""`talaria setup`: asks questions in a terminal, or reads the environment."""

import argparse
import sys
from collections.abc import Iterator, Mapping

from agent_core.agent.prompt.persona import VOICES
from gateway.app.local_models import list_variables
from gateway.app.settings import load
from gateway.app.settings_check import SECRET_VARIABLES
from gateway.errors import Declined, Mistaken
from gateway.home import CONFIG_NAME, ENV_NAME
from gateway.interfaces.cli.setup import steps
from gateway.interfaces.cli.setup.dialogue import confirm
from gateway.interfaces.cli.setup.hello import wait_for_hello
from gateway.interfaces.cli.setup.home import SetupHome
from gateway.interfaces.cli.setup.local_models import find_choice
from gateway.interfaces.cli.setup.platforms import PLATFORMS
from gateway.interfaces.doctor.probes import check_model, check_platform
from gateway.interfaces.foreground import serve
from gateway.operations.people import clean_name


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Set up, and start the gateway. Raises `StartError`, `StoreError` and `Declined`."""
    if arguments.non_interactive:
        return _set_up_unasked(arguments, dict(environ))
    if not sys.stdin.isatty():
        raise Mistaken(
            "`talaria setup` asks questions, so it needs a terminal. To set up from the"
            " environment, add --non-interactive."
        )
    home = SetupHome(environ)
    if arguments.part:
        _set_up_part(home, arguments.part)
        _report(home)
        return 0
    _set_up_everything(home)
    _report(home)
    if not home.is_running() and confirm("Start Talaria now?", default=True):
        serve(load(environ), wait_for_hello)
    return 0


def offer(environ: Mapping[str, str]) -> bool:
    """Offer the setup of a new home before its first start; return whether the setup was done.

    Raises what `run` raises.
    """
    if not confirm("Nothing is set up here yet. Set Talaria up now?", default=True):
        return False
    home = SetupHome(environ)
    _set_up_everything(home)
    _report(home)
    return True


def _set_up_everything(home: SetupHome) -> None:
    print(f"Setup writes into {home.path}. Ctrl-C leaves it; each finished step is saved.")
    steps.set_up_model(home)
    steps.set_up_platforms(home)
    steps.set_up_profile(home)


def _set_up_part(home: SetupHome, part: str) -> None:
    if part == "model":
        steps.set_up_model(home)
    elif part == "profile":
        steps.set_up_profile(home)
    else:
        steps.set_up_platform(home, next(one for one in PLATFORMS if one.name == part))


def _report(home: SetupHome) -> None:
    print()
    for what, name in (("Keys", ENV_NAME), ("Settings", CONFIG_NAME)):
        if (home.path / name).exists():
            print(f"{what} are in {home.path / name}.")
    if home.is_running():
        print("Talaria runs with the old ones. Restart it to use the new ones.")


def _set_up_unasked(arguments: argparse.Namespace, environ: dict[str, str]) -> int:
    """Set up from arguments and environment. Checks everything first: a mistake changes nothing."""
    chosen = {
        "model": {"provider": arguments.provider, "name": arguments.model},
        "people": {"time_zone": arguments.time_zone and steps.read_zone(arguments.time_zone)},
    }
    changes = {
        table: {key: value for key, value in row.items() if value} for table, row in chosen.items()
    }
    trial = environ | {
        f"TALARIA_{table}__{key}".upper(): value
        for table, row in changes.items()
        for key, value in row.items()
    }
    if arguments.part in (None, "model"):
        found = find_choice(load(trial), environ, may_ask=False)
        if found:
            changes["model"] = {"provider": "openai", "name": found.model.name}
            environ = environ | {"OPENAI_BASE_URL": found.server.base_url}
            trial = trial | list_variables(found)
    name, assistant = (
        _read_name(words) if words else "" for words in (arguments.name, arguments.assistant)
    )
    for line in _check_parts(trial, arguments.part):
        print(line)
    home = SetupHome(environ)
    if secrets := {name: environ[name] for name in SECRET_VARIABLES if environ.get(name)}:
        home.save_secrets(secrets)
    for table, row in changes.items():
        if row:
            home.save_settings(table, row)
    if assistant or arguments.soul:
        home.save_soul(assistant or "Talaria", arguments.soul or VOICES[0])
    if name:
        home.name_owner(name)
    _report(home)
    return 0


def _read_name(words: str) -> str:
    """Return a name without surplus spaces. Raises `Mistaken`."""
    try:
        return clean_name(words)
    except Declined as error:
        raise Mistaken(str(error)) from error


def _check_parts(environ: Mapping[str, str], part: str | None) -> Iterator[str]:
    """Check the model and the platforms that are configured, or one part, and describe them.

    Raises `StartError`.
    """
    found = load(environ)
    if part in (None, "model"):
        if found.model.provider == "scripted":
            yield "No model key is set, so a stand-in answers."
        else:
            check_model(found)
            yield f"{found.model.name} is ready."
    for platform in PLATFORMS:
        first = platform.tokens[0][0]
        is_configured = part is None and getattr(found.secrets, first.lower())
        if is_configured or part == platform.name:
            bot = check_platform(found, platform.name)
            yield from platform.describe(bot)
