"""Reads what people set about a platform, and says in a sentence what can't be used; pure."""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit


class Options:
    """The settings of one platform, as strings. Every method raises `ValueError`."""

    def __init__(self, platform: str, given: Mapping[str, str], *, known: Collection[str]) -> None:
        """`platform` is its name in sentences. Raises `ValueError` on a key that is not `known`."""
        for key in given:
            if key not in known:
                raise ValueError(f'{platform} has no setting "{key}"; it has {", ".join(known)}.')
        self._platform = platform
        self._given = given

    def text(self, key: str, default: str = "") -> str:
        """A text without blanks around it; the default also where it is empty."""
        return self._given.get(key, "").strip() or default

    def number(self, key: str, default: float, *, least: float = 0, most: float = 86_400) -> float:
        """A number within bounds; durations are in seconds, of a day at most."""
        text = self._given.get(key)
        if text is None:
            return default
        try:
            number = float(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise self._wrong(key, text, f"should be a number from {least:g} to {most:g}.")
        return number

    def switch(self, key: str, *, default: bool) -> bool:
        """True or false."""
        text = self._given.get(key)
        if text is None:
            return default
        said = text.strip().lower()
        if said not in ("true", "false"):
            raise self._wrong(key, text, "should be true or false.")
        return said == "true"

    def address(
        self,
        key: str,
        default: str,
        *,
        schemes: Collection[str] = ("http", "https"),
        ending: str = "",
        hint: str = "",
    ) -> str:
        """The address of a server, whose path is to end in `ending`.

        `hint` says at a sentence's end what is special about it.
        """
        text = self._given.get(key) or default
        parts = urlsplit(text)
        is_whole = parts.scheme in schemes and parts.hostname and not parts.query
        if not is_whole or not parts.path.rstrip("/").endswith(ending):
            raise self._wrong(key, text, f"should look like {default}{hint}.")
        return text

    def _wrong(self, key: str, text: str, wish: str) -> ValueError:
        return ValueError(f'{self._platform}\'s {key} is "{text}", but {wish}')
