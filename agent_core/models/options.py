"""Parse the options of a provider."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit


def refuse_unknown(options: Mapping[str, str], known: Iterable[str], provider: str) -> None:
    """Raise `ValueError` that lists the known options if there is an unknown one."""
    names = sorted(known)
    for key in options:
        if key not in names:
            raise ValueError(
                f'The model provider {provider} has no option "{key}"; it has {", ".join(names)}.'
            )


def read_seconds(options: Mapping[str, str], key: str, default: float) -> float:
    """Parse seconds above 0, at most a day. Raises `ValueError` with a sentence."""
    text = options.get(key, "")
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise ValueError(
            f'The option {key} is "{text}"; it takes seconds, above 0 and at most a day.'
        )
    return seconds


def read_choice(options: Mapping[str, str], key: str, choices: tuple[str, ...]) -> str:
    """Parse one of `choices`; the first is the default. Raises `ValueError` with a sentence."""
    text = options.get(key, "") or choices[0]
    if text not in choices:
        named = ", ".join(choice for choice in choices if choice)
        raise ValueError(f'The option {key} is "{text}"; it takes one of {named}.')
    return text


def read_address(options: Mapping[str, str], key: str, default: str) -> str:
    """Parse an http or https address. Raises `ValueError` with a sentence."""
    text = options.get(key, "") or default
    try:
        parts = urlsplit(text)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_good = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise ValueError(f'The option {key} is "{text}"; it takes an http or https address.')
    return text
