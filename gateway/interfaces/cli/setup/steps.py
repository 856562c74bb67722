"""The steps of a setup in a terminal. Each step saves its answers before the next one begins."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import segno
import tzlocal

from adapters.abilities import Bot
from adapters.declaration import Platform
from adapters.registry import list_declared
from agent_core.agent.prompt.persona import VOICES
from agent_core.time_zones import find_zone
from gateway.app.config_file import read_zone as read_present_zone
from gateway.app.settings import CONSOLE_PORT, Settings, load
from gateway.errors import Declined, Mistaken, SettingsError, StartError
from gateway.interfaces.cli.setup import local_models
from gateway.interfaces.cli.setup.home import SetupHome
from gateway.interfaces.cli.setup.platforms import describe_bot, describe_steps, is_set
from gateway.interfaces.diagnostics.offline import find_callback
from gateway.interfaces.dialogue import ask, ask_secret, choose, confirm
from gateway.interfaces.doctor.probes import (
    MustLink,
    NoSuchModel,
    check_model,
    check_platform,
    link_platform,
    list_models,
)
from gateway.interfaces.model_connection import (
    ADDRESS,
    KEY,
    ModelWish,
    UnknownModel,
    complete_address,
    find_api,
    load_trial,
    sends_key_elsewhere,
    try_model,
)
from gateway.interfaces.parser import end_sentence
from gateway.operations.people import clean_name

_VOICES = {
    "brief": "Brief: short answers, dry and friendly",
    "warm": "Warm: talks like a good friend",
    "thorough": "Thorough: explains its reasons",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    name: str
    title: str
    secrets: tuple[tuple[str, str, bool], ...]
    """The variables, each with its question, and whether its value is hidden."""
    cleared: tuple[str, ...] = ()
    """Variables to remove: they name another server, which would get the requests."""


_KEY = "The key; leave this empty to choose again"
_PROVIDERS = (
    _Provider(
        name="anthropic",
        title="Claude, with a key from https://console.anthropic.com/settings/keys",
        secrets=(("ANTHROPIC_API_KEY", _KEY, True),),
    ),
    _Provider(
        name="openai",
        title="GPT, with a key from https://platform.openai.com/api-keys",
        secrets=(("OPENAI_API_KEY", _KEY, True),),
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
    kept = [] if settings.has_no_model else [f"{settings.model.name}, as now"]
    here = [f"{local_models.describe_choice(found)}, without a key"] if found else []
    titles = [one.title for one in _PROVIDERS]
    options = [*kept, *here, *titles, "No model for now: a stand-in answers"]
    while True:
        chosen = choose("Choose", options) - len(kept)
        if chosen == 0:
            return
        chosen -= len(here)
        if chosen > len(_PROVIDERS):
            if found and settings.has_no_model:  # else the next start would use it
                home.save_settings("model", {"find_local": False})
            return
        try:
            if chosen == 0 and found:
                local_models.save(home, found)
            else:
                _connect(home, _PROVIDERS[chosen - 1])
        except StartError as error:
            print(f"{end_sentence(str(error))}\n")
        else:
            return


def _connect(home: SetupHome, provider: _Provider) -> None:
    """Ask for a key and a model, check them, and save them.

    Raises `StartError` if the provider refuses the key or does not answer.
    """
    cleared = {one: "" for one in provider.cleared if home.environ.get(one)}
    secrets = _ask_for(provider.secrets, home.environ, cleared)
    if sends_key_elsewhere(home.environ, secrets):
        if not secrets.get(ADDRESS):
            raise StartError("The present key is for another server. OpenAI needs a key of its own")
        secrets |= home.give_up_key(secrets[ADDRESS])
    wish = ModelWish(provider=provider.name, secrets=secrets)
    if (address := find_api(home.environ, wish)) != secrets.get(ADDRESS, "").rstrip("/"):
        print(f"The server answers at {address}, so I use that address.")
        wish = replace(wish, secrets={**secrets, ADDRESS: address})
    settings = load_trial(home.environ, wish)
    with suppress(NoSuchModel):
        check_model(settings)
    names = list_models(settings)
    usual = settings.model.name if settings.model.name in names or not names else names[0]
    if names:
        has_key = provider.name == "anthropic" or settings.secrets.openai_api_key
        print(f"{'This key can use' if has_key else 'This server has'} {', '.join(names)}.")
    while True:
        name = ask("The model's name", usual)
        try:
            tried = try_model(home.environ, replace(wish, name=name))
            break
        except UnknownModel as error:
            hint = f"Did you mean {error.near}?" if error.near else "Type another name."
            print(f"{end_sentence(str(error))} {hint} The key is kept.\n")
    _save(home, wish.secrets)
    home.save_settings("model", {"provider": provider.name, "name": tried.saved})
    print(f"{tried.name} is ready.")
    print(local_models.TRY_IT)


def _save(home: SetupHome, secrets: Mapping[str, str]) -> None:
    for name in home.save_secrets(secrets):
        print(f"The environment sets another {name}, which takes precedence. Remove it there.")


def _ask_for(
    wanted: tuple[tuple[str, str, bool], ...], known: Mapping[str, str], cleared: Mapping[str, str]
) -> dict[str, str]:
    """Ask for values until each is valid; return them with those to clear.

    An empty answer keeps the present value. A key is not offered to another server than its own.
    """
    found = dict(cleared)
    for variable, question, is_hidden in wanted:
        has_one = bool(known.get(variable)) and not (
            variable == KEY and sends_key_elsewhere(known, found)
        )
        begun = question.partition(";")[0]
        shown = f"{begun}; leave this empty to keep the present one" if has_one else question
        while answer := ask_secret(shown) if is_hidden else ask(shown):
            answer = complete_address(answer) if variable == ADDRESS else answer
            try:
                load({**known, variable: answer})
            except SettingsError as error:
                print(f"{end_sentence(str(error))}\n")
                continue
            found[variable] = answer
            break
    return found


def set_up_platform(home: SetupHome, platform: Platform) -> None:
    """Ask for a platform's tokens, and check them; an empty answer changes nothing."""
    print(f"\n{platform.title}\n\n{describe_steps(platform)}\n")
    while True:
        secrets = {}
        for variable in platform.asked:
            question = f"{variable.question}; leave this empty to skip {platform.title}"
            answer = ask_secret(question) if variable.is_hidden else ask(question)
            if not answer:
                return
            secrets[variable.name] = answer
        settings = load({**home.environ, **secrets})
        try:
            bot = _check_or_link(settings, platform)
        except StartError as error:
            print(f"{end_sentence(str(error))}\n")
            continue
        _save(home, secrets)
        for line in describe_bot(platform, bot):
            print(line)
        if platform.needs_address:
            _set_address(home, platform)
        return


def _set_address(home: SetupHome, platform: Platform) -> None:
    """Ask for the address under which a platform's servers reach Talaria, unless it is set."""
    question = f"The public https address of this Talaria, which {platform.title} calls"
    while not (callback := find_callback(load(home.environ), platform)):
        words = ask(f"{question}; leave this empty to set it later")
        if not words:
            print(
                f"Until then, no message arrives: {platform.title} has to reach Talaria. Set it"
                " with `talaria config set http.public_url https://YOUR-ADDRESS`."
            )
            return
        try:
            if not words.startswith("https://"):
                raise SettingsError("It must begin with https://; nothing else is called.")
            load({**home.environ, "TALARIA_HTTP__PUBLIC_URL": words})
        except SettingsError as error:
            print(f"{end_sentence(str(error))}\n")
            continue
        home.save_settings("http", {"public_url": words})
    print(f"The callback URL is {callback}")


def _check_or_link(settings: Settings, platform: Platform) -> Bot:
    """Check a platform; link its account first if there is none. Raises `StartError`."""
    try:
        return check_platform(settings, platform.name)
    except MustLink as error:
        print(end_sentence(str(error)))
        if not confirm("Link it now, with the phone that has the account?", default=True):
            raise
    link_platform(settings, platform.name, _show_code)
    return check_platform(settings, platform.name)


def _show_code(text: str) -> None:
    """Show a code to scan, and its text for phones that can't."""
    print("\nOn the phone, open the linked devices in the app's settings, and scan this:\n")
    segno.make(text, micro=False).terminal(compact=True)
    print(f"{text}\n\nWaiting for the phone ...")


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
    """Let the owner choose chat apps, one after the other; the usual one is suggested first."""
    platforms = list(list_declared().values())
    while True:
        known = [is_set(one, home.environ) for one in platforms]
        print("\nChat apps\n")
        titles = [
            f"{one.title}, connected" if is_known else one.title
            for one, is_known in zip(platforms, known, strict=True)
        ]
        last = "Go on" if any(known) else "Go on without a chat app"
        chosen = choose("Choose", [*titles, last], len(titles) + 1 if any(known) else 1)
        if chosen > len(platforms):
            break
        set_up_platform(home, platforms[chosen - 1])
    settings = load(home.environ)
    if settings.secrets.platforms and "http.port" not in settings.given:
        _offer_page(home)


def _offer_page(home: SetupHome) -> None:
    """Offer the console page, which a start without a chat app has anyway."""
    question = f"Keep the console page open for this machine's browser, at port {CONSOLE_PORT}?"
    if confirm(question, default=True):
        home.save_settings("http", {"port": CONSOLE_PORT})
