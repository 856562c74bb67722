"""The slash commands of the emulated Discord: what it accepts, and what it shows."""

import re
from collections.abc import Sequence

from tests.emulators.discord_rules import Refusal
from tests.emulators.discord_shapes import Json

_LOCALE = re.compile(
    "bg|cs|da|de|el|en-GB|en-US|es-419|es-ES|fi|fr|hi|hr|hu|id|it|ja|ko|lt|nl|no|pl|pt-BR|ro|ru"
    "|sv-SE|th|tr|uk|vi|zh-CN|zh-TW"
)
"""Discord API, locales."""
_MOST, _LONGEST_DESCRIPTION = 100, 100
_TRANSLATED = ("name_localizations", "description_localizations")


def check_commands(commands: Sequence[Json]) -> None:
    """Raise `Refusal` if Discord does not take these as an app's global commands."""
    if len(commands) > _MOST:
        raise _refuse()
    for locale in {"", *(tag for one in commands for tag in one.get(_TRANSLATED[0]) or ())}:
        names = [_read(one, "name", locale) for one in commands]
        if len(set(names)) < len(names):
            raise _refuse()
    for one in commands:
        for part in (one, *one.get("options", ())):
            _check_texts(part)


def _check_texts(part: Json) -> None:
    locales = {locale for key in _TRANSLATED for locale in part.get(key) or ()}
    if not all(map(_LOCALE.fullmatch, locales)):
        raise _refuse()
    for locale in ("", *locales):
        name = _read(part, "name", locale)
        if not re.fullmatch(r"[-_'\w]{1,32}", name) or name != name.lower():
            raise _refuse()
        if not 1 <= len(_read(part, "description", locale)) <= _LONGEST_DESCRIPTION:
            raise _refuse()


def show_command(command: Json, locale: str) -> tuple[str, str, str]:
    """Return a command's name and description, and its option's, as a client shows them."""
    (option,) = command["options"]
    return (
        _read(command, "name", locale),
        _read(command, "description", locale),
        _read(option, "description", locale),
    )


def leave_out_translations(command: Json) -> Json:
    """Return a command as those see it who do not ask for translations."""
    options = [leave_out_translations(one) for one in command.get("options", ())]
    kept = {key: value for key, value in command.items() if key not in _TRANSLATED}
    return kept | ({"options": options} if "options" in command else {})


def _read(part: Json, key: str, locale: str) -> str:
    text: str = (part.get(f"{key}_localizations") or {}).get(locale, part[key])
    return text


def _refuse() -> Refusal:
    return Refusal(400, 50035, "Invalid Form Body")
