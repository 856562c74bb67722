"""Introduces the declared platforms to the core, and finds their titles."""

from collections.abc import Iterable

from adapters.registry import list_declared
from agent_core import chat_platforms
from agent_core.chat_platforms import PlatformWords, find_title

chat_platforms.introduce(
    {one.name: PlatformWords(title=one.title, hint=one.hint) for one in list_declared().values()}
)

__all__ = ["find_title", "introduce_others"]


def introduce_others(names: Iterable[str]) -> None:
    """Make platforms known that nobody declared, such as those of plug-ins without words."""
    unknown = [name for name in names if not chat_platforms.find_words(name)]
    chat_platforms.introduce({name: PlatformWords(title="", hint="") for name in unknown})
