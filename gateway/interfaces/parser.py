"""The argument parser of the command line: one-sentence errors, and examples in each help."""

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gateway.errors import Mistaken, find_nearest, suggest

_WRONG = 2
_SAME_WORDS = (
    ("list", "ls"),
    ("show", "view", "info"),
    ("add", "create", "new", "make", "install"),
    ("change", "edit", "modify", "set"),
    (
        *("remove", "rm", "delete", "del", "drop", "erase", "forget", "revoke", "archive"),
        *("unset", "uninstall", "end"),
    ),
)
"""Words of one meaning: a command that has one of them as its verb understands the others."""
_RESTORABLE = "archive"
"""The word of a removal that can be restored; it stands for no verb that deletes for good."""
_PARTIAL = "forget"
"""The word that deletes some of what is known; others mean it only where nothing else deletes."""
_SAME_COMMANDS = {
    "reminders": "jobs",
    "users": "people",
    "members": "people",
    "groups": "rooms",
    "settings": "config",
    "start": "run",
    "update": "upgrade",
}
"""Words that people try, and the commands that they mean."""
_MISSING_VERB = "the following arguments are required: VERB"
_PLAIN = tuple(
    (re.compile(pattern, re.DOTALL), plain)
    for pattern, plain in (
        (r"\Athe following arguments are required: (.*)", r"`{prog}` also needs \1"),
        (r"\Aone of the arguments (.*) is required\Z", r"give one of these: \1"),
        (r"\Aargument (.*?): expected one argument\Z", r"\1 needs a value after it"),
        (r"\Aargument (.*?): expected at least one argument\Z", r"\1 needs a value after it"),
        (r"\Aargument (.*?): ignored explicit argument (.*)", r"\1 takes no value, and got \2"),
        (r"\Aargument (.*?): not allowed with argument (.*)", r"\1 can't be used with \2"),
        (r"\Aargument (.*?): invalid int value: '(.*)'", r"\1 is a whole number, and \2 is none"),
        (r"\Aargument (.*?): invalid \w+ value: (.*)", r"\1 can't be \2"),
        (r"\Aargument (.*?): (.*)", r"\1: \2"),
    )
)
"""Patterns for the messages of argparse in Python 3.11 to 3.14, and plain sentences for them."""


class Parser(argparse.ArgumentParser):
    """The parser of a command or of one of its verbs."""

    def __init__(self, *given: Any, examples: Sequence[str] = (), **options: Any) -> None:
        """`examples` are whole command lines for `--help`. Other arguments go to argparse.

        Without examples, the command itself is the example.
        """
        super().__init__(*given, **{"allow_abbrev": False} | options)
        self.examples = tuple(examples) or (self.prog,)
        self.default_verb = ""
        """The verb of a command line without one, such as `list`; "" if there is none."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words; options without a verb before them are those of the default verb."""
        if self.default_verb and args is not None:
            first = args[0] if args else ""
            if not first or (first.startswith("-") and first not in self._option_string_actions):
                args = [self.default_verb, *args]
        if args and (verb := self.find_verb(args[0])):
            args = [verb, *args[1:]]
        return super().parse_known_args(args, namespace)

    def find_verb(self, word: str) -> str:
        """Find the verb that a word means; "" if it means none, or several.

        `list` means the default verb where no verb lists. Other words mean the only verb with their
        meaning.
        """
        verbs = self.list_verbs()
        if word in verbs or word == _RESTORABLE:
            return word if word in verbs else ""
        group: Sequence[str] = next((words for words in _SAME_WORDS if word in words), ())
        meant = [verb for verb in group if verb in verbs]
        if len(meant) > 1:
            meant = [verb for verb in meant if verb != _PARTIAL]
        if not meant and "list" in group:
            return self.default_verb
        return meant[0] if len(meant) == 1 else ""

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the words of a command line. Exits with code 2 if one is wrong."""
        found: argparse.Namespace
        found, unknown = self.parse_known_args(words)
        if unknown:
            chosen = self.list_verbs().get(getattr(found, "verb", None) or "", self)
            known = (name for one in (self, chosen) for name in one._option_string_actions)
            chosen.error(_describe_unknown(chosen.prog, unknown, known))
        return found

    def error(self, message: str) -> NoReturn:
        """Exit with code 2, after one sentence instead of a page of usage."""
        self.exit(_WRONG, f"{end_sentence(self._say(message))} See `{self.prog} --help`.\n")

    def _say(self, message: str) -> str:
        """Translate a message of argparse into plain words."""
        if message == _MISSING_VERB:
            verbs = ", ".join(self.list_verbs())
            return f"`{self.prog}` needs to know what to do; it can do: {verbs}"
        for pattern, plain in _PLAIN:
            message, found = pattern.subn(plain, message)
            if found:
                break
        return message.replace("{prog}", self.prog, 1)

    def format_help(self) -> str:
        """Return the help, with the examples at its end."""
        lines = "".join(f"\n  {line}" for line in self.examples)
        return super().format_help() + (f"\nexamples:{lines}\n" if lines else "")

    def print_help(self, file: Any = None) -> None:
        """Print the help, in colours on a terminal."""
        if file is None:
            show_help(self.format_help())
        else:
            super().print_help(file)

    def list_verbs(self) -> Mapping[str, "Parser"]:
        """Return the parsers of the verbs by name, without their aliases."""
        return {
            listed.dest: action.choices[listed.dest]
            for action in self._list_choosers()
            for listed in action._choices_actions
        }

    def describe_verbs(self) -> Mapping[str, str]:
        """Return the help of each verb by name."""
        listed = (one for action in self._list_choosers() for one in action._choices_actions)
        return {one.dest: one.help or "" for one in listed}

    def list_actions(self) -> list[argparse.Action]:
        """List the arguments, without the argument that chooses a verb."""
        choosers = self._list_choosers()
        return [action for action in self._actions if action not in choosers]

    def _list_choosers(self) -> list["argparse._SubParsersAction[Parser]"]:
        return [one for one in self._actions if isinstance(one, argparse._SubParsersAction)]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not a choice, and name the nearest; argparse would list all."""
        if action.choices is None or value in action.choices:
            return
        nearest = suggest(str(value), map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, f"there is no `{self.prog} {value}`; {nearest}")
        raise argparse.ArgumentError(action, f"{value} is not known; {nearest}")


def read_path(text: str) -> Path:
    """Return the absolute path for a path that may be relative or begin with `~`.

    Raises `Mistaken` if there is no home directory for the `~`.
    """
    from gateway.home import expand

    try:
        return expand(text).absolute()
    except ValueError as error:
        raise Mistaken(f"The path can't be used: {error}.") from error


def suggest_command(word: str, commands: Iterable[str]) -> str:
    """End a sentence about an unknown command: with the one that is meant, or with all."""
    return suggest(_SAME_COMMANDS.get(word, word), commands)


def show_help(text: str) -> None:
    """Print help: in colours on a terminal if rich is installed, else in plain text."""
    show: Callable[[str], object] = sys.stdout.write
    if sys.stdout.isatty():
        try:
            from gateway.interfaces.coloured_help import print_coloured
        except ModuleNotFoundError as error:
            if error.name != "rich":
                raise
        else:
            show = print_coloured
    show(text)


def end_sentence(text: str) -> str:
    """Capitalise the first word, unless it is a name or a path, and end with a full stop."""
    text = text.strip()
    first = text.partition(" ")[0].rstrip(",:;")
    text = text[:1].upper() + text[1:] if first.isalpha() else text
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _describe_unknown(prog: str, unknown: Sequence[str], known: Iterable[str]) -> str:
    """Describe words that no argument takes, and name the nearest option, if there is one.

    Behind `--`, options are words, too.
    """
    first, options = unknown[0].partition("=")[0], list(known)
    if not first.startswith("-") or first in options:
        return f"`{prog}` does not need {shlex.join(unknown)}"
    near = find_nearest(first, options)
    return f"`{prog}` has no option {first}" + (f"; did you mean {near}?" if near else "")
