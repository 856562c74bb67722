"""`talaria completion`: prints or installs a script that completes the command line in a shell.

The script is made from the argument parsers and holds every word, so pressing Tab starts no Python.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from gateway.errors import Mistaken, StartError
from gateway.interfaces import subcommands
from gateway.interfaces.parser import Parser
from gateway.interfaces.subcommands import SUBCOMMANDS

_EPILOG = (
    "The script completes commands, verbs, options and their values. Install it again after an"
    " update of Talaria."
)
_PLACES: Mapping[str, str] = {
    "bash": ".local/share/bash-completion/completions/talaria",
    "zsh": ".local/share/zsh/site-functions/_talaria",
    "fish": ".config/fish/completions/talaria.fish",
}
"""Where each shell looks, below the user's home. zsh has to be told, in `.zshrc`."""
_ZSHRC = (
    "\n# Talaria's completion\n"
    "fpath=(~/.local/share/zsh/site-functions $fpath)\nautoload -Uz compinit && compinit\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The possible next words of a command line, each with its meaning."""

    path: tuple[str, ...]
    """The command and its verb, as far as they are typed."""
    words: Mapping[str, str]
    values: Mapping[str, Sequence[str]]
    """The values of the options that have a fixed choice."""


def configure(parser: Parser) -> None:
    """Add the name of the shell, and `--install`."""
    parser.add_argument(
        "shell",
        metavar="SHELL",
        nargs="?",
        choices=_WRITE,
        help="bash, zsh or fish; without it, the shell you use",
    )
    parser.add_argument(
        "--install", action="store_true", help="save the script where the shell looks for it"
    )
    parser.epilog = _EPILOG
    parser.examples = ("talaria completion --install", "talaria completion bash")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print or install the script. Raises `Mistaken` and `StartError`."""
    shell = arguments.shell or Path(environ.get("SHELL", "")).name
    if shell not in _WRITE:
        raise Mistaken("Name the shell that you use: bash, zsh or fish.")
    script = "\n".join(_WRITE[shell](list(_list_levels())))
    if arguments.install:
        _install(shell, script, Path(environ.get("HOME") or Path.home()))
    else:
        print(script)
    return 0


def _install(shell: str, script: str, user_home: Path) -> None:
    path = user_home / _PLACES[shell]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{script}\n", "utf-8")
        print(f"Saved as {path}.")
        start = user_home / ".zshrc"
        if shell == "zsh" and (not start.exists() or _ZSHRC not in start.read_text("utf-8")):
            with start.open("a", encoding="utf-8") as file:
                file.write(_ZSHRC)
            print(f"{start} names its folder now.")
    except OSError as error:
        raise StartError(f"{error.filename} can't be written: {error.strerror}.") from error
    print("Open a new terminal, type `talaria ` and press Tab.")


def _list_levels() -> Iterator[Level]:
    yield Level(path=(), words={**SUBCOMMANDS, "--help": "Show the commands"}, values={})
    for name in SUBCOMMANDS:
        parser = subcommands.make_parser(name)
        yield _describe_level(parser, (name,))
        for verb, inner in parser.list_verbs().items():
            yield _describe_level(inner, (name, verb))


def _describe_level(parser: Parser, path: tuple[str, ...]) -> Level:
    words = dict(parser.describe_verbs())
    values: dict[str, Sequence[str]] = {}
    for action in parser.list_actions():
        names = action.option_strings or [str(one) for one in action.choices or ()]
        words |= {name: action.help or "" for name in names if name != "-h"}
        if action.choices is not None:
            values |= {name: [str(one) for one in action.choices] for name in action.option_strings}
    return Level(path=path, words=words, values=values)


def _write_bash(levels: Sequence[Level]) -> list[str]:
    return [
        "# Completion of talaria for bash.",
        "_talaria() {",
        '    local typed="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local path="" found=""',
        '    (( COMP_CWORD > 1 )) && path="${COMP_WORDS[1]}"',
        '    (( COMP_CWORD > 2 )) && path="$path ${COMP_WORDS[2]}"',
        '    case "$path $last" in',
        *(
            f'    "{" ".join(level.path)} "*"{option}") found="{" ".join(choices)}" ;;'
            for level in levels
            for option, choices in level.values.items()
        ),
        '    *) case "$path" in',
        *(
            f'        {_match(level, levels)}) found="{" ".join(level.words)}" ;;'
            for level in levels
        ),
        "        esac ;;",
        "    esac",
        '    COMPREPLY=($(compgen -W "$found" -- "$typed"))',
        "}",
        "complete -o default -F _talaria talaria",
    ]


def _write_zsh(levels: Sequence[Level]) -> list[str]:
    return [
        "#compdef talaria",
        "# Completion of talaria for zsh.",
        "_talaria() {",
        '    local path_typed="" last="${words[CURRENT-1]}"',
        "    local -a found",
        '    (( CURRENT > 2 )) && path_typed="${words[2]}"',
        '    (( CURRENT > 3 )) && path_typed="$path_typed ${words[3]}"',
        '    case "$path_typed $last" in',
        *(
            f'    ("{" ".join(level.path)} "*"{option}") found=({" ".join(choices)}) ;;'
            for level in levels
            for option, choices in level.values.items()
        ),
        '    (*) case "$path_typed" in',
        *(
            f"        ({_match(level, levels)})"
            f" found=({' '.join(_quote(_join_zsh(*word)) for word in level.words.items())}) ;;"
            for level in levels
        ),
        "        esac ;;",
        "    esac",
        "    _describe talaria found || _files",
        "}",
        # zsh calls a file in its fpath as the function itself; a file that is sourced registers it.
        'if [[ "$funcstack[1]" == _talaria ]]; then _talaria "$@"',
        "else compdef _talaria talaria; fi",
    ]


def _write_fish(levels: Sequence[Level]) -> list[str]:
    return [
        "# Completion of talaria for fish.",
        "function __talaria_typed; string join -- ' ' (commandline -opc)[2..]; end",
        'function __talaria_after; set -l typed (__talaria_typed); test "$typed" = "$argv"; end',
        'function __talaria_in; string match -q -- "$argv*" (__talaria_typed); end',
        *chain(*map(_list_fish, levels)),
    ]


def _list_fish(level: Level) -> Iterator[str]:
    """Yield one line for each word. A condition names the command and the verb before it."""
    verbs = [word for word in level.words if not word.startswith("-")]
    typed = " ".join(level.path)
    for word, meaning in level.words.items():
        described = f" -d {_quote(meaning)}" if meaning else ""
        if word in verbs:
            yield f"complete -c talaria -f -n '__talaria_after {typed}' -a {word}{described}"
            continue
        kind = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
        values = level.values.get(word)
        taken = f" -x -a {_quote(' '.join(values))}" if values else ""
        yield f"complete -c talaria -n '__talaria_in {typed}' {kind}{taken}{described}"


def _match(level: Level, levels: Sequence[Level]) -> str:
    """Return the pattern of a level; any word may follow a command without verbs."""
    path = " ".join(level.path)
    is_open = len(level.path) == 1 and all(one.path[:-1] != level.path for one in levels)
    return f'"{path}"|"{path} "*' if is_open else f'"{path}"'


def _quote(text: str) -> str:
    """Return a text in single quotes for zsh and fish, without apostrophes and backslashes."""
    return "'" + text.replace("'", "’").replace("\\", "") + "'"


def _join_zsh(word: str, meaning: str) -> str:
    return f"{word}:{meaning}" if meaning else word


_WRITE: Mapping[str, Callable[[Sequence[Level]], list[str]]] = {
    "bash": _write_bash,
    "zsh": _write_zsh,
    "fish": _write_fish,
}
