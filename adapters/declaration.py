"""A chat platform declares itself here to setup, settings, pages and models.

Each folder declares its platform in a module `declaration`, as the constant `PLATFORM`. The module
imports neither the SDK nor the settings, because every command reads it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of the environment that a platform reads."""

    name: str
    about: str
    """Its meaning, for the configuration reference."""
    option: str
    """The keyword that passes its value to `make_settings`."""
    kind: Literal["credential", "http", "websocket"] = "credential"
    question: str = ""
    """The setup's question for its value; "" if the setup does not ask."""
    is_hidden: bool = True
    """Whether the setup hides what is typed."""
    foreign_key: str = ""
    """Its key in the `channels` of OpenClaw's settings, to import it from there; "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A chat platform as everything outside of its folder knows it."""

    name: str
    title: str
    hint: str
    """What a model should know about the place where its words appear."""
    icon: str
    """The path of an icon, drawn on 24 by 24."""
    variables: tuple[Variable, ...]
    """The first one turns the platform on."""
    needs: Callable[[Any], Sequence[str]]
    """Returns the variables without which a platform with this table can't start."""
    steps: str
    """The setup's instructions for getting the values; they may contain `{link}`."""
    make_link: Callable[[], str] | None = None
    """Returns the address for `{link}` in the instructions."""
    hello: str
    """The setup's words after the values work; `{link}` and `{name}` are the bot's."""
    needs_address: bool = False
    """Whether the platform delivers to a public HTTPS address, which leads to our HTTP server."""
    is_usual: bool = False
    """Whether the setup offers the platform with yes as its default."""
    clock: str = ""
    """A public address of the platform's servers, whose answers hold the right time."""
    server: str = ""
    """The variable that names another server than that of `clock`."""
    command: str = "/"
    """The text in front of a command's name."""
    on_machine: str = ""
    """A pattern of settings that are changed on the machine only, not by a login to the page."""
    secret_forms: tuple[str, ...] = ()
    """Patterns of its tokens, which logs and messages never show."""

    @property
    def asked(self) -> tuple[Variable, ...]:
        """The variables that the setup asks for."""
        return tuple(one for one in self.variables if one.question)
