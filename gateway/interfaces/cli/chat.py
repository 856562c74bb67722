"""`talaria chat`: chats with the assistant in the terminal, or through a pipe."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.errors import StartError
from gateway.home import make_home
from gateway.interfaces.client import is_served
from gateway.interfaces.parser import Parser, read_path
from gateway.interfaces.waiting import read_settings

if TYPE_CHECKING:
    from gateway.app.settings import Settings


def configure(parser: Parser) -> None:
    """Add the folder for files; chatting needs only a home directory."""
    parser.add_argument(
        "--save-files",
        metavar="FOLDER",
        type=read_path,
        help="save the files that answers bring in this folder; without it, they are only named",
    )
    parser.examples = (
        "talaria chat",
        "talaria chat --save-files ~/Downloads",
        "echo 'remind me at 9 to feed the dog' | talaria chat",
    )
    parser.epilog = (
        "Connects to the running gateway, or starts one for this chat."
        " Type a button's number or letter alone to press it. With input from a pipe, each line is"
        " a message, and only answers are printed."
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Chat until the end of input.

    Raises `SettingsError`, `Mistaken`, `StartError` and `StoreError`.
    """
    from gateway.app.logging import logging_to
    from gateway.interfaces.cli.setup.local_models import use_local
    from gateway.interfaces.terminal.server_discovery import chat_with_gateway

    given = dict(environ)  # reading the settings wipes the process's own keys
    found = read_settings(environ)
    make_home(found.home)
    if found.has_no_model and not is_served(found.home):
        with redirect_stdout(sys.stdout if sys.stdin.isatty() else sys.stderr):
            found = use_local(found, given)
    folder = _make_folder(arguments.save_files)
    hidden = found.hidden
    with logging_to(found.log, found.home, hidden=hidden, to_stderr=False):
        return asyncio.run(chat_with_gateway(found, partial(_chat, found, folder)))


def _make_folder(folder: Path | None) -> Path | None:
    """Make the folder for files if it is missing. Raises `StartError`."""
    try:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"The folder {folder} can't be made: {error.strerror}.") from error
    return folder


async def _chat(found: "Settings", folder: Path | None, is_started_here: bool) -> int:
    from gateway.commands.catalog import COMMANDS
    from gateway.interfaces.terminal.pipe import LOCAL_PATIENCE, PATIENCE, PipeChat, read_lines
    from gateway.interfaces.terminal.prompt import PromptChat

    if not sys.stdin.isatty():
        is_slow = found.is_model_local or found.has_no_model  # a start finds a server by itself
        patience = LOCAL_PATIENCE if is_slow else PATIENCE
        chat = PipeChat(found.home, sys.stdout, saves_to=folder, patience=patience)
        return await chat.hold(read_lines(sys.stdin.fileno()))
    prompt = PromptChat(
        found.home,
        commands={command.name: command.summary for command in COMMANDS},
        greeting=_greet(found, is_started_here=is_started_here),
        saves_to=folder,
    )
    code = await prompt.hold()
    if is_started_here:
        print("Stopping the gateway of this chat.")
    return code


def _greet(found: "Settings", *, is_started_here: bool) -> str:
    lines = [f"Talaria, {found.model.provider}: {found.model.name}"]
    if found.model.provider == "scripted":
        lines.append("No model key is set, so a stand-in answers. It is no language model.")
    if is_started_here:
        lines.append("No gateway was running; this chat started one and stops it at the end.")
    return "\n".join([*lines, ""])
