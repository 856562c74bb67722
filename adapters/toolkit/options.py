"""Parses a platform's options and reports invalid ones in a sentence; pure."""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit


class Options:
    """The options of one platform, as strings. Every method raises `ValueError`."""

    def __init__(self, platform: str, given: Mapping[str, str], *, known: Collection[str]) -> None:
        """Take the platform's name for sentences. Raises `ValueError` on an unknown key."""
        for key in given:
            if key not in known:
                raise ValueError(f'{platform} has no setting "{key}"; it has {", ".join(known)}.')
        self._platform = platform
        self._given = given

    def text(self, key: str, default: str = "") -> str:
        """Return a trimmed text, or the default if it is empty."""
        return self._given.get(key, "").strip() or default

    def number(self, key: str, default: float, *, least: float = 0, most: float = 86_400) -> float:
        """Return a number within bounds; durations are in seconds, at most a day."""
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
        """Return a boolean."""
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
        """Return a server's address; its path must end in `ending`.

        The sentence about an invalid address ends with `hint`.
        """
        text = self._given.get(key) or default
        parts = urlsplit(text)
        is_whole = parts.scheme in schemes and parts.hostname and not parts.query
        if not is_whole or not parts.path.rstrip("/").endswith(ending):
            raise self._wrong(key, text, f"should look like {default}{hint}.")
        return text

    def _wrong(self, key: str, text: str, wish: str) -> ValueError:
        return ValueError(f'{self._platform}\'s {key} is "{text}", but {wish}')
