"""List the effects of a bash command: delete, install, send, fetch, write, or only run."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent_core.tools.policy import programs, transfers
from agent_core.tools.policy.contract import Action, ActionKind
from agent_core.tools.policy.hidden_code import (
    edits_in_place,
    is_simple_edit,
    may_run_words,
    names_local_program,
)
from agent_core.tools.policy.outputs import (
    is_short_for,
    list_operands,
    list_outputs,
    merges_unknown,
)
from agent_core.tools.policy.paths import (
    ANYWHERE,
    LISTED,
    OUTSIDE,
    ROOT,
    SYSTEM,
    WORKSPACE,
    is_obeyed,
    place_of,
)
from agent_core.tools.policy.runners import (
    changes_path,
    find_shell_text,
    program_of,
    unfold,
)
from agent_core.tools.policy.shell import Script, SimpleCommand, Word, parse_script

_DEEPEST = 5
"""Levels of nested scripts that are read."""
_READS = frozenset(("<", "<<", "<<<", "<&", "<<-"))
_NETWORK_FILES = ("/dev/tcp/", "/dev/udp/")
_SANDBOX_HOME = "/tmp/home"  # noqa: S108 - a name to compare with, never opened
_LETTERS = re.compile(r"^-[A-Za-z]+")
_SHOWING = frozenset(("cat", "tac", "head", "tail", "nl", "od", "hexdump", "strings"))
"""Programs that show what is in a file, so that an approval to read it holds for each of them.

`ls` and `stat` show less, and `grep -r` shows whole folders.
"""
_MOST_ACTIONS = 200
"""Actions of one command; a person can't judge more."""


def list_command_actions(
    text: str,
    workdir: str,
    *,
    has_network: bool,
    is_confined: bool = True,
    has_wall: bool = False,
    is_fresh: bool = False,
) -> tuple[Action, ...]:
    """Return every action that a bash command may take. Never raises.

    `workdir` is its folder, relative to the workspace. Without a network, it fetches and sends
    nothing. In an unconfined place, an unknown word may change files outside the workspace. With a
    wall, an unknown program reaches the listed hosts only. A fresh shell is in the workspace.
    """
    lister = _Lister(text=text, has_network=has_network, is_confined=is_confined, has_wall=has_wall)
    if is_fresh:
        lister.folders = [ROOT]
    if workdir:
        if is_obeyed(workdir):
            lister.doubt(text.strip())
        path, place = place_of(workdir, (ROOT,))
        lister.folders = [path]
        if place == OUTSIDE:
            lister.add("read", path, lister.reading_place)
    lister.read(parse_script(text), 0)
    whole = f"(in {workdir}) {text.strip()}" if workdir else text.strip()
    actions = lister.finish()
    only_reads = all(_only_reads(one) for one in actions)
    return tuple(
        one if only_reads and one.kind == "read" else replace(one, within=whole) for one in actions
    )


def _only_reads(action: Action) -> bool:
    """Return whether an action is a read, or a program that does nothing but show a file."""
    name = action.target.split()[:1]
    return action.kind == "read" or (action.kind == "run" and bool(name) and name[0] in _SHOWING)


def list_input_actions(text: str, *, has_network: bool, is_confined: bool) -> tuple[Action, ...]:
    """Return the actions of input for a running program: it may do anything with its input."""
    lister = _Lister(text=text, has_network=has_network, is_confined=is_confined)
    lister.doubt(text.strip())
    return lister.finish()


def list_file_actions(path: str, *, has_network: bool, is_confined: bool) -> tuple[Action, ...]:
    """Return the actions of writing a file: none, unless later commands obey it."""
    if not is_obeyed(path):
        return ()
    return list_input_actions(path, has_network=has_network, is_confined=is_confined)


@dataclass(slots=True)
class _Lister:
    """Collects the actions of a command.

    `folders` are the possible working directories, or empty: a shell continues somewhere.
    """

    text: str
    has_network: bool
    is_confined: bool
    has_wall: bool = False
    folders: list[str] = field(default_factory=list)
    actions: dict[Action, None] = field(default_factory=dict)
    has_fetched: bool = False
    runs_input: bool = False
    has_other_path: bool = False
    """True once a program may look for others without the `PATH` that commands get."""

    @property
    def reading_place(self) -> str:
        """The place of files outside the workspace that are only read."""
        return SYSTEM if self.is_confined else OUTSIDE

    def add(self, kind: ActionKind, target: str, place: str, *, is_outward: bool = False) -> None:
        self.actions[Action(kind=kind, target=target, place=place, is_outward=is_outward)] = None

    def finish(self) -> tuple[Action, ...]:
        """Return the actions; if there are too many, return the worst possible ones instead."""
        if self.has_fetched and self.runs_input:
            self.install(self.text.strip())
        if len(self.actions) > _MOST_ACTIONS:
            self.actions = dict.fromkeys(list(self.actions)[:_MOST_ACTIONS])
            self.doubt(self.text.strip())
        if not self.actions:
            self.add("run", self.text.strip(), WORKSPACE)
        return tuple(self.actions)

    def doubt(self, target: str) -> None:
        """Add the worst possible actions of something unknown."""
        self.add("run", target, WORKSPACE)
        if self.has_network:
            place = LISTED if self.has_wall else ANYWHERE
            self.add("send", target, place, is_outward=True)
        self.trust(target)

    def trust(self, target: str) -> None:
        """Add what a program may do to this machine, where nothing confines it."""
        if not self.is_confined:
            self.add("delete", target, OUTSIDE)

    def send(self, target: str, place: str) -> None:
        if self.has_network:
            self.add("send", target, place, is_outward=True)

    def fetch(self, url: str) -> None:
        self.has_fetched = True
        if self.has_network:
            self.add("fetch", url, transfers.host_of(url) or ANYWHERE, is_outward=True)

    def install(self, target: str) -> None:
        self.add("install", target, WORKSPACE, is_outward=self.has_network)

    def touch(self, kind: ActionKind, word: Word) -> None:
        """Add a change to the file that a word names."""
        path, place = self._place(word.value)
        self.add(kind, path or word.source, place)
        if kind == "write" and (word.value is None or is_obeyed(word.value)):
            self.doubt(word.source)

    def _place(self, value: str | None) -> tuple[str, str]:
        """Return the path of a word and its place; in a sandbox, only the workspace can change."""
        is_known = value is not None and (bool(self.folders) or value.startswith(("/", "~")))
        if not is_known and self.is_confined:
            return value or "", WORKSPACE
        return place_of(value, self.folders or (ROOT,) if is_known else (), home=self._home)

    @property
    def _home(self) -> str:
        return _SANDBOX_HOME if self.is_confined else "/home"

    def read(self, script: Script, depth: int) -> None:
        """Add the actions of a script's commands."""
        if script.is_unclear or depth > _DEEPEST:
            self.doubt(self.text.strip())
        for command in script.commands:
            self._read_redirections(command)
            if any(programs.is_strange(name) for name in command.assignments):
                self.doubt(command.source or self.text.strip())
            if command.words:
                self._read_words(command.words, command, depth)

    def _read_redirections(self, command: SimpleCommand) -> None:
        for redirection in command.redirections:
            value = redirection.target.value
            if value is not None and value.startswith(_NETWORK_FILES):
                self.send(value, value.split("/")[3])
            elif redirection.operator in _READS:
                if redirection.operator == "<":
                    self._look_at(redirection.target)
            elif redirection.operator == ">&" and value is not None and value.isdigit():
                continue
            elif value != "-":
                self.touch("write", redirection.target)

    def _look_at(self, word: Word) -> None:
        """Add a read of a file, if it is or may be outside the workspace."""
        value = word.value
        if value is None:
            if not self.is_confined:
                self.add("read", word.source, OUTSIDE)
            return
        if "/" not in value and not value.startswith("~") and value != "..":
            return
        value = value.partition("=")[2] or value
        path, place = self._place(value[value.find("/") :] if value.startswith("-") else value)
        if place == OUTSIDE:
            self.add("read", path, self.reading_place)

    def _read_words(self, words: Sequence[Word], command: SimpleCommand, depth: int) -> None:
        """Add the actions of one command, also if another program runs it."""
        shown = _show(words)
        name = program_of(words[0].value)
        if name is not None and changes_path(name, words):
            self.has_other_path = True
        if name is not None and name in programs.RUNNERS:
            self.add("run", shown, WORKSPACE)
            inner = unfold(name, words)
            if inner is None or depth > _DEEPEST:
                self.doubt(shown)
            elif inner:
                self._read_words(inner, command, depth + 1)
            return
        self.add("run", shown, WORKSPACE)
        if name not in programs.SPEAKERS and name not in programs.DECLARING:
            for word in words[1:]:
                self._look_at(word)
        if name is None:
            self.doubt(shown)
        elif name in programs.SHELLS or name in ("eval", "source", ".", "trap"):
            self._read_shell(name, words, command, depth)
        else:
            self._read_program(name, words, shown, depth)

    def _read_shell(
        self, name: str, words: Sequence[Word], command: SimpleCommand, depth: int
    ) -> None:
        """Read a script that a shell gets as a word; a script from elsewhere is unknown."""
        text: str | None = None
        if name in programs.SHELLS:
            values = [word.value for word in words[1:]]
            text = find_shell_text(name, values)
            if text is None and not any(one is None or not one.startswith("-") for one in values):
                self.runs_input = True
        elif name in ("eval", "trap"):
            values = [word.value for word in words[1:]]
            parts = [value for value in values if value is not None]
            if len(parts) == len(values):
                text = " ".join(parts if name == "eval" else parts[:1])
        if text is None:
            self.doubt(_show(words))
        else:
            self.read(parse_script(text), depth + 1)

    def _read_program(self, name: str, words: Sequence[Word], shown: str, depth: int) -> None:
        is_writer = name not in programs.READERS and name not in programs.DELETERS
        obeyed = is_writer and any(word.value and _names_obeyed(word.value) for word in words[1:])
        # The guard is found by its name, in the `PATH` of commands.
        is_bypass = name == "git" and (self.has_other_path or words[0].value != name)
        if obeyed or is_bypass or may_run_words(name, words[1:]) or merges_unknown(name, words[1:]):
            self.doubt(shown)
        for word in list_outputs(name, words[1:]):
            self.touch("write", word)
        if name in ("cd", "pushd", "popd"):
            self._change_folder(words[1:])
        elif name in programs.DELETERS:
            for word in list_operands(words[1:]):
                self.touch("delete", word)
        elif name in programs.DESTROYERS or name.startswith("mkfs"):
            self.add("delete", shown, OUTSIDE)
        elif name in programs.WRITERS:
            for word in list_operands(words[1:])[_owners(name) :]:
                self.touch("write", word)
            if name == "patch":
                self.doubt(shown)  # the patch names the files, and may hold a script for `ed`
        elif name in programs.COPIERS:
            self._copy(name, words[1:])
        elif name == "find":
            self._find(words, depth)
        elif name == "dd":
            self._copy_blocks(words[1:])
        elif name == "sed":
            self._edit(words[1:], shown)
        elif name not in programs.DECLARING:
            self._read_transfer(name, words, shown)

    def _read_transfer(self, name: str, words: Sequence[Word], shown: str) -> None:
        """Add the actions of a program that may use the network or run other programs."""
        found = transfers.judge(name, words[1:])
        if found is None:
            if name not in programs.LOCAL:
                self.doubt(shown)
            return
        for setting in found.settings:
            self._allow_setting(setting)
        if found.installs:
            self.install(shown)
        for url in found.urls:
            self.fetch(url)
        if found.sends:
            self.has_fetched = True
            self.send(shown, found.host or ANYWHERE)
            if names_local_program(name, words[1:]):
                self.trust(shown)
        for word in found.written:
            self.touch("write", word)
        for word in found.deleted:
            self.touch("delete", word)
        if found.is_unclear:
            self.doubt(shown)

    def _allow_setting(self, setting: str) -> None:
        """Ask for one repository's own hook, filter or helper, by its name."""
        known = len(self.folders) == 1
        place = f"repository {self.folders[0]}" if known else ANYWHERE
        self.add("run", f"git -c {setting}", place, is_outward=self.has_network)

    def _change_folder(self, words: Sequence[Word]) -> None:
        """Note the folders in which later commands may run."""
        operands = list_operands(words)
        value = operands[0].value if operands else "~"
        if value is None:
            self.doubt(f"cd {operands[0].source}")
        if value is None or value == "-":
            self.folders = [*self.folders, "/"] if self.folders else []
            return
        if value.startswith(("/", "~")) or self.folders:
            path, _ = place_of(value, self.folders[-1:] or (ROOT,), home=self._home)
            if path not in self.folders:
                self.folders = [*self.folders, path]

    def _copy(self, name: str, words: Sequence[Word]) -> None:
        operands = list_operands(words)
        for word in words:
            value = word.value or ""
            is_long = is_short_for(value, "--target-directory")
            if is_long or (value.startswith("-t") and len(value) > 2):
                named = value.partition("=")[2] if is_long else value[2:]
                self.touch("write", Word(source=word.source, value=named or None))
        for word in operands[-1:]:
            self.touch("write", word)
        for word in operands[:-1]:
            if "-t" in {one.value for one in words}:
                self.touch("write", word)
            if name == "mv":
                self.touch("delete", word)
            if name in ("ln", "link") and not self.is_confined:
                self.touch("write", word)  # the link makes its target writable

    def _copy_blocks(self, words: Sequence[Word]) -> None:
        for word in words:
            if word.value is None or word.value.startswith("of="):
                value = word.value and word.value.removeprefix("of=")
                self.touch("write", Word(source=word.source, value=value))

    def _edit(self, words: Sequence[Word], shown: str) -> None:
        """Read `sed`, whose scripts can run programs and write files."""
        values = [word.value for word in words]
        if not is_simple_edit(values):
            self.doubt(shown)
        if any(value is None or edits_in_place(value) for value in values):
            for word in list_operands(words)[1:]:
                self.touch("write", word)

    def _find(self, words: Sequence[Word], depth: int) -> None:
        """Read `find`, which can delete or write files, and run commands for the files found."""
        values = [word.value for word in words]
        begins = [n for n, value in enumerate(values) if value is None or value.startswith("-")]
        starts = words[1 : begins[0]] if begins else words[1:]
        for number, value in enumerate(values):
            if value == "-delete":
                for word in starts or (Word(source=".", value="."),):
                    self.touch("delete", word)
            elif value in ("-fprint", "-fprintf", "-fls", "-fprint0"):
                for word in words[number + 1 : number + 2]:
                    self.touch("write", word)
            elif value in ("-exec", "-execdir", "-ok", "-okdir"):
                inner = list[Word]()
                for word in words[number + 1 :]:
                    if word.value in (";", "+"):
                        break
                    is_found = word.value is None or "{}" in word.value
                    inner.append(Word(source=word.source, value=None) if is_found else word)
                if inner:
                    self._run_for_found(starts, inner, depth)

    def _run_for_found(self, starts: Sequence[Word], inner: Sequence[Word], depth: int) -> None:
        """Read a command that `find` runs: it acts on files below the folders searched."""
        earlier = len(self.actions)
        for start in starts or (Word(source=".", value="."),):
            given = [
                start if word.value is None and "{}" in word.source else word for word in inner
            ]
            self._read_words(given, SimpleCommand(words=tuple(given)), depth + 1)
        if any(action.kind == "write" for action in list(self.actions)[earlier:]):
            self.doubt(_show(inner))


def _names_obeyed(value: str) -> bool:
    """True for an obeyed path, also as the value of an option such as `-oPATH` or `--out=PATH`."""
    parts = {value, value.partition("=")[2], _LETTERS.sub("", value)}
    parts |= {value.rpartition(".")[0]}  # what is unpacked loses the end of its name
    return any(is_obeyed(part) for part in parts)


def _owners(name: str) -> int:
    """Count a program's words in front of its paths, such as a mode or an owner."""
    return 1 if name in ("chmod", "chown", "chgrp", "chattr") else 0


def _show(words: Sequence[Word]) -> str:
    """The words of a command on one line; unknown ones stay as written."""
    return " ".join(
        word.source if word.value is None else shlex.quote(word.value) for word in words
    )
