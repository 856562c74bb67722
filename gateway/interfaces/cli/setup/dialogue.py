"""Questions in a terminal."""

import getpass
from collections.abc import Sequence

from gateway.errors import Mistaken

_STOPPED = "Setup stopped. What you finished is saved. Run `talaria setup` again to go on."


def ask(question: str, default: str = "") -> str:
    """Ask for a line; an empty line means the default. Raises `Mistaken` at the end of input."""
    shown = f"{question} [{default}]: " if default else f"{question}: "
    try:
        return input(shown).strip() or default
    except (EOFError, KeyboardInterrupt):
        print()
        raise Mistaken(_STOPPED) from None


def ask_secret(question: str) -> str:
    """Ask for a line without showing it; return "" for an empty line. Raises `Mistaken`."""
    try:
        return getpass.getpass(f"{question} (not shown): ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        raise Mistaken(_STOPPED) from None


def confirm(question: str, *, default: bool) -> bool:
    """Ask until the answer is yes or no. Raises `Mistaken`."""
    shown = f"{question} [{'Y/n' if default else 'y/N'}]"
    while True:
        answer = ask(shown).lower()
        if answer in ("", "y", "yes", "n", "no"):
            return answer.startswith("y") if answer else default
        print("Type y or n.")


def choose(question: str, options: Sequence[str], default: int = 1) -> int:
    """Ask for the number of an option, counted from 1. Raises `Mistaken`."""
    for number, option in enumerate(options, 1):
        print(f"  {number}  {option}")
    while True:
        answer = ask(question, str(default))
        if answer.isdecimal() and 1 <= int(answer) <= len(options):
            return int(answer)
        print(f"Type a number from 1 to {len(options)}.")
