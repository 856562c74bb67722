"""`talaria setup`: asks questions in a terminal, or reads the environment."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from adapters.registry import list_declared
from agent_core.agent.prompt.persona import VOICES
from gateway.app.local_models import list_variables
from gateway.app.settings import Settings, load
from gateway.app.settings_check import SECRET_VARIABLES
from gateway.errors import Declined, Mistaken
from gateway.home import CONFIG_NAME, ENV_NAME
from gateway.interfaces.cli.setup import steps
from gateway.interfaces.cli.setup.hello import wait_for_hello
from gateway.interfaces.cli.setup.home import SetupHome
from gateway.interfaces.cli.setup.local_models import find_choice
from gateway.interfaces.cli.setup.platforms import describe_bot, is_set
from gateway.interfaces.dialogue import confirm
from gateway.interfaces.doctor.probes import check_model, check_platform
from gateway.interfaces.foreground import serve
from gateway.operations.people import clean_name

_STOPPED = "Setup stopped. What you finished is saved. Run `talaria setup` again to go on."


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
        with _keeping_what_is_done():
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


@contextmanager
def _keeping_what_is_done() -> Iterator[None]:
    """Say that a setup which is left can be continued. Raises `Mistaken`."""
    try:
        yield
    except (EOFError, KeyboardInterrupt):
        print()
        raise Mistaken(_STOPPED) from None


@_keeping_what_is_done()
def _set_up_everything(home: SetupHome) -> None:
    print(f"Setup writes into {home.path}. Ctrl-C leaves it; each finished step is saved.")
    for line in _describe_present(home):
        print(line)
    steps.set_up_model(home)
    steps.set_up_platforms(home)
    steps.set_up_profile(home)


def _describe_present(home: SetupHome) -> Iterator[str]:
    """Say what is set up already; nothing for a new home."""
    settings = load(home.environ)
    done = [] if settings.has_no_model else [f"the model {settings.model.name}"]
    done += [one.title for one in list_declared().values() if is_set(one, home.environ)]
    if done:
        yield f"Set up already: {', '.join(done)}. Enter keeps what is there."


def _set_up_part(home: SetupHome, part: str) -> None:
    if part == "model":
        steps.set_up_model(home)
    elif part == "profile":
        steps.set_up_profile(home)
    else:
        steps.set_up_platform(home, list_declared()[part])


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
    if arguments.part is None:
        for line in _describe_missing(load(home.environ)):
            print(line)
        if not home.is_running():
            print("`talaria run` starts Talaria.")
    return 0


def _describe_missing(settings: Settings) -> Iterator[str]:
    """Say what is still missing, with the variable that sets it."""
    if settings.has_no_model:
        yield (
            "Missing: a model. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or OPENAI_BASE_URL for"
            " another server."
        )
    if not settings.secrets.platforms:
        tokens = (
            " and ".join(one.name for one in platform.asked)
            for platform in list_declared().values()
        )
        yield f"Missing: a chat app. Set one of these: {'; '.join(tokens)}."
    if "people.time_zone" not in settings.given:
        yield f"The time zone is this machine's, {settings.zone}; --time-zone sets another."


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
    for platform in list_declared().values():
        first = platform.variables[0].name
        is_configured = part is None and found.secrets.find(first)
        if is_configured or part == platform.name:
            bot = check_platform(found, platform.name)
            yield from describe_bot(platform, bot)
