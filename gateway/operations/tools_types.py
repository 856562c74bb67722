"""Requests and answers of the operations on tools."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.operations.people_types import PickPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """Talaria's own tools in one place, and whether those of MCP servers may join them."""

    names: Sequence[str]
    has_servers: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsTools:
    """The tools that a person has switched off."""

    folder: str
    off: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTools:
    """Talaria's tools, and which of them people have switched off."""

    tools: tuple[str, ...]
    people: tuple[PersonsTools, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchTool(PickPerson):
    """Switches a tool of a person on or off."""

    tool: str
    is_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedTool:
    """The tool that was switched, and the person's folder."""

    tool: str
    folder: str
