"""Questions in a terminal. Each raises `EOFError` at the end of input, as after Ctrl-D."""

import getpass
from collections.abc import Sequence


def ask(question: str, default: str = "") -> str:
    """Ask for a line; an empty line means the default."""
    shown = f"{question} [{default}]: " if default else f"{question}: "
    return input(shown).strip() or default


def ask_secret(question: str) -> str:
    """Ask for a line without showing it, and say how long it is."""
    answer = getpass.getpass(f"{question} (not shown): ").strip()
    if answer:
        print(f"Received {len(answer):,} characters." if answer[1:] else "Received 1 character.")
    return answer


def confirm(question: str, *, default: bool) -> bool:
    """Ask until the answer is yes or no."""
    shown = f"{question} [{'Y/n' if default else 'y/N'}]"
    while True:
        answer = ask(shown).lower()
        if answer in ("", "y", "yes", "n", "no"):
            return answer.startswith("y") if answer else default
        print("Type y or n.")


def choose(question: str, options: Sequence[str], default: int = 1) -> int:
    """Ask for the number of an option, counted from 1."""
    for number, option in enumerate(options, 1):
        print(f"  {number}  {option}")
    while True:
        answer = ask(question, str(default))
        if answer.isdecimal() and 1 <= int(answer) <= len(options):
            return int(answer)
        print(f"Type a number from 1 to {len(options)}.")
