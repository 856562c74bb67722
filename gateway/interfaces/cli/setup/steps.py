"""The steps of a setup in a terminal. Each step saves its answers before the next one begins."""

from collections.abc import Mapping
from dataclasses import dataclass

import tzlocal

from agent_core.agent.prompt.persona import VOICES
from agent_core.tools.time_zones import find_zone
from gateway.app.config_file import read_zone as read_present_zone
from gateway.app.settings import load
from gateway.errors import Declined, Mistaken, SettingsError, StartError
from gateway.interfaces.cli.setup import local_models
from gateway.interfaces.cli.setup.dialogue import ask, ask_secret, choose, confirm
from gateway.interfaces.cli.setup.home import SetupHome
from gateway.interfaces.cli.setup.platforms import PLATFORMS, Platform
from gateway.interfaces.doctor.probes import check_model, check_platform
from gateway.interfaces.parser import end_sentence
from gateway.operations.people import clean_name

_VOICES = {
    "brief": "Brief: short answers, dry and friendly",
    "warm": "Warm: talks like a good friend",
    "thorough": "Thorough: explains its reasons",
}
_PROVIDER, _NAME = "TALARIA_MODEL__PROVIDER", "TALARIA_MODEL__NAME"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    name: str
    title: str
    secrets: tuple[tuple[str, str, bool], ...]
    """The variables, each with its question, and whether its value is hidden."""
    cleared: tuple[str, ...] = ()
    """Variables to remove: they name another server, which would get the requests."""


_PROVIDERS = (
    _Provider(
        name="anthropic",
        title="Claude, with a key from https://console.anthropic.com/settings/keys",
        secrets=(("ANTHROPIC_API_KEY", "The key", True),),
    ),
    _Provider(
        name="openai",
        title="GPT, with a key from https://platform.openai.com/api-keys",
        secrets=(("OPENAI_API_KEY", "The key", True),),
        cleared=("OPENAI_BASE_URL",),
    ),
    _Provider(
        name="openai",
        title="Another server with OpenAI's API, such as Ollama",
        secrets=(
            ("OPENAI_BASE_URL", "Its address, such as http://localhost:11434/v1", False),
            ("OPENAI_API_KEY", "Its key; leave this empty if it needs none", True),
        ),
    ),
)


def set_up_model(home: SetupHome) -> None:
    """Choose a model, and check it with its provider. Models of this machine are offered first."""
    print("\nThe model\n")
    settings = load(home.environ)
    found = local_models.offer_choice(settings)
    here = [f"{local_models.describe_choice(found)}, without a key"] if found else []
    options = [*here, *(one.title for one in _PROVIDERS), "No model for now: a stand-in answers"]
    while True:
        chosen = choose("Choose", options) - len(here)
        if chosen > len(_PROVIDERS):
            if found and settings.has_no_model:  # else the next start would use it
                home.save_settings("model", {"find_local": False})
            return
        if chosen == 0 and found:
            try:
                local_models.save(home, found)
                return
            except StartError as error:
                print(f"{end_sentence(str(error))}\n")
                continue
        provider = _PROVIDERS[chosen - 1]
        cleared = {one: "" for one in provider.cleared if home.environ.get(one)}
        try:
            secrets = cleared | _ask_for(provider.secrets, home.environ)
        except SettingsError as error:
            print(f"{end_sentence(str(error))}\n")
            continue
        name = ask("The model's name; leave this empty for the usual one")
        trial = {**home.environ, **secrets, _PROVIDER: provider.name, _NAME: name}
        try:
            settings = load(trial)
            check_model(settings)
        except StartError as error:
            print(f"{end_sentence(str(error))}\n")
            continue
        _save(home, secrets)
        home.save_settings("model", {"provider": provider.name, "name": name})
        print(f"{settings.model.name} is ready.")
        print(local_models.TRY_IT)
        return


def _save(home: SetupHome, secrets: Mapping[str, str]) -> None:
    for name in home.save_secrets(secrets):
        print(f"The environment sets another {name}, which takes precedence. Remove it there.")


def _ask_for(wanted: tuple[tuple[str, str, bool], ...], known: Mapping[str, str]) -> dict[str, str]:
    """Ask for values. An empty answer keeps the present value.

    Raises `SettingsError` at the first answer that is not valid.
    """
    found = {}
    for variable, question, is_hidden in wanted:
        has_one = bool(known.get(variable))
        shown = f"{question}; leave this empty to keep the present one" if has_one else question
        answer = ask_secret(shown) if is_hidden else ask(shown)
        if answer:
            load({**known, variable: answer})
            found[variable] = answer
    return found


def set_up_platform(home: SetupHome, platform: Platform) -> None:
    """Ask for a platform's tokens, and check them; an empty answer changes nothing."""
    print(f"\n{platform.title}\n\n{platform.describe_steps()}\n")
    while True:
        secrets = {}
        for variable, question in platform.tokens:
            answer = ask_secret(f"{question}; leave this empty to skip {platform.title}")
            if not answer:
                return
            secrets[variable] = answer
        try:
            bot = check_platform(load({**home.environ, **secrets}), platform.name)
        except StartError as error:
            print(f"{end_sentence(str(error))}\n")
            continue
        _save(home, secrets)
        for line in platform.describe(bot):
            print(line)
        return


def set_up_profile(home: SetupHome) -> None:
    """Ask for the names of owner and assistant, the time zone and the assistant's character."""
    print("\nYou and your assistant\n")
    while name := ask("Your name; leave this empty to take it from your chat app"):
        try:
            home.name_owner(name)
        except Declined as error:
            print(error)
            continue
        break
    _set_zone(home)
    if not home.has_soul() or confirm(
        "SOUL.md holds a character already. Write a new one, and keep the old as SOUL.md.old?",
        default=False,
    ):
        assistant = _ask_for_name("The assistant's name", "Talaria")
        voice = choose("Its character, in SOUL.md", [_VOICES[one] for one in VOICES])
        home.save_soul(assistant, VOICES[voice - 1])


def _ask_for_name(question: str, default: str) -> str:
    while True:
        words = ask(question, default)
        try:
            return clean_name(words)
        except Declined as error:
            print(error)


def _set_zone(home: SetupHome) -> None:
    while True:
        words = ask("Your city or time zone", _find_present_zone(home))
        try:
            zone = read_zone(words)
        except Mistaken as error:
            print(error)
            continue
        home.save_settings("people", {"time_zone": zone})
        return


def _find_present_zone(home: SetupHome) -> str:
    try:
        return read_present_zone(home.environ, home.path).key
    except SettingsError:
        return tzlocal.get_localzone_name()


def read_zone(words: str) -> str:
    """Return the IANA zone for the name of a city or a zone. Raises `Mistaken`."""
    zone = find_zone(words)
    if zone is None:
        raise Mistaken(
            f'There is no time zone "{words}". Type one such as Vienna or Europe/Vienna.'
        )
    return zone


def set_up_platforms(home: SetupHome) -> None:
    """Offer each chat platform that has no tokens yet."""
    print("\nChat apps")
    for platform in PLATFORMS:
        known = all(home.environ.get(variable) for variable, _ in platform.tokens)
        question = f"Connect {platform.title}{' again' if known else ''}?"
        if confirm(question, default=platform.name == "telegram" and not known):
            set_up_platform(home, platform)
