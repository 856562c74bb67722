"""The interactive prompt: input below, the growing answer above it, final text in the
scrollback.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from gateway.home import CHAT_HISTORY, CONSOLE_SOCKET
from gateway.interfaces.terminal.choices import Offer, mark_choices, write_choices
from gateway.interfaces.terminal.render import render_markdown, wrap
from gateway.interfaces.terminal.socket_client import (
    Choice,
    Complaint,
    ConsoleLink,
    Gone,
    Line,
    News,
    Shown,
    Typing,
)

_WENT = "Talaria has stopped. What you write is kept until it is back."
_CAME = "Talaria is back."
_SIGN_LASTS = 6.0
"""Seconds that a typing indicator stays on; the gateway repeats it more often."""
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_REFRESH = 0.1
_LINES_BELOW = 8
"""Terminal lines below a growing answer that stay free."""
_STYLE = Style.from_dict(
    {
        "mark": "ansicyan bold",
        "live": "ansibrightblack",
        "sign": "ansicyan",
        "bottom-toolbar": "noreverse ansibrightblack",
        "completion-menu.completion": "bg:default ansibrightblack",
        "completion-menu.completion.current": "noreverse ansicyan bold",
        "completion-menu.meta.completion": "bg:default ansibrightblack",
        "completion-menu.meta.completion.current": "noreverse ansicyan",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:ansibrightblack",
    }
)


class PromptChat:
    """An interactive chat in the terminal."""

    def __init__(
        self,
        home: Path,
        *,
        commands: Mapping[str, str],
        greeting: str,
        saves_to: Path | None = None,
    ) -> None:
        """`commands` are the slash commands with their summaries.

        `saves_to` is an existing folder in which files of answers are saved.
        """
        self._link = ConsoleLink(
            home / CONSOLE_SOCKET, self._hear, shows_buttons=True, saves_to=saves_to
        )
        self._greeting = greeting
        self._live: dict[str, str] = {}
        self._final: dict[str, tuple[str, tuple[Choice, ...]]] = {}
        self._offer = Offer()
        self._is_up = True
        self._is_waiting = False
        self._sign_until = 0.0
        self._hint = ""
        self._saying: set[asyncio.Task[None]] = set()
        self._session: PromptSession[str] = PromptSession(
            message=self._compose_message,
            history=FileHistory(str(_prepare_history(home / CHAT_HISTORY))),
            completer=SlashCompleter(commands),
            complete_while_typing=True,
            key_bindings=self._bind_keys(),
            erase_when_done=True,
            bottom_toolbar=self._compose_toolbar,
            refresh_interval=_REFRESH,
            style=_STYLE,
        )

    async def hold(self) -> int:
        """Chat until Ctrl-D."""
        _write([("ansibrightblack", self._greeting)])
        line = asyncio.create_task(self._link.run())
        try:
            while True:
                text = (await self._session.prompt_async()).strip()
                self._hint = ""
                if choice := self._offer.find(text):
                    self._press(choice)
                elif text:
                    self._echo(text)
                    self._say(text)
        except EOFError:
            self._name_unsent()
            return 0
        finally:
            tasks = (line, *self._saying)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _name_unsent(self) -> None:
        """Show at the end which messages no gateway has taken: they end with this chat."""
        for text in self._link.list_unsent():
            _write([("ansibrightblack", f"Not sent: {text}")])

    def _say(self, text: str) -> None:
        self._send(self._link.say(text))

    def _press(self, choice: Choice) -> None:
        message_id = self._offer.message_id
        self._echo(choice.label)
        # The outcome is printed even if its text is the same as before.
        self._final[message_id] = "", ()
        self._send(self._link.press(message_id, choice.key))

    def _send(self, saying: Coroutine[object, object, None]) -> None:
        self._is_waiting = True
        task = asyncio.create_task(saying)
        self._saying.add(task)
        task.add_done_callback(self._saying.discard)

    async def _hear(self, news: News) -> None:
        if isinstance(news, Shown):
            await self._show(news)
        elif isinstance(news, Gone):
            self._live.pop(news.id, None)
            self._offer.drop(news.id)
        elif isinstance(news, Typing):
            self._sign_until = self._time() + _SIGN_LASTS
        elif isinstance(news, Line):
            await self._note_line(is_up=news.is_up)
        elif isinstance(news, Complaint):
            self._hint = f"{news.text} Trying again."

    async def _note_line(self, *, is_up: bool) -> None:
        """Say in one line that the gateway has gone or is back; the first contact needs none."""
        if is_up != self._is_up:
            line = f"  {_CAME if is_up else _WENT}\n"
            await run_in_terminal(lambda: _write([("ansibrightblack", line)]))
        self._is_up = is_up
        self._sign_until = 0.0
        if is_up:
            self._live.clear()  # the gateway sends live messages again

    async def _show(self, shown: Shown) -> None:
        if shown.is_live:
            self._sign_until = self._time() + _SIGN_LASTS
            self._live[shown.id] = shown.text
            return
        self._live.pop(shown.id, None)
        self._sign_until, self._is_waiting = 0.0, False
        known, words = self._final.get(shown.id), (shown.text, shown.choices)
        if known != words:
            self._final[shown.id] = words
            self._offer.take(shown, is_new=known is None)
            await run_in_terminal(lambda: self._print(shown))

    def _print(self, shown: Shown) -> None:
        columns = self._session.output.get_size().columns
        parts = render_markdown(shown.text, width=columns, indent=2)
        if shown.choices:
            parts += [("", "\n  "), *write_choices(mark_choices(shown)), ("", "\n")]
        _write(parts)

    def _echo(self, text: str) -> None:
        _write([("class:mark", "› "), ("bold", text), ("", "\n")])

    def _compose_message(self) -> StyleAndTextTuples:
        size = self._session.output.get_size()
        parts: StyleAndTextTuples = []
        if self._live:
            live = "\n\n".join(self._live.values())
            shown = fit_tail(live, width=size.columns - 2, height=size.rows - _LINES_BELOW)
            parts.append(("class:live", "".join(f"  {line}\n" for line in shown)))
        now = self._time()
        # The gateway still reports typing for a turn that waits for its person; hide that.
        if self._is_at_work() and (self._is_waiting or not self._offer.choices):
            frame = _FRAMES[int(now / _REFRESH) % len(_FRAMES)]
            parts.append(("class:sign", f"  {frame}\n"))
        parts.append(("class:mark", "› "))
        return parts

    def _compose_toolbar(self) -> str:
        if not self._is_up:
            return "  Talaria is stopped. What you write is sent when it is back · Ctrl-D leaves"
        if self._hint:
            return f"  {self._hint}"
        is_busy = self._is_waiting or self._is_at_work()
        stop = "Ctrl-C stops the answer" if is_busy else "Ctrl-D leaves"
        if self._offer.choices:
            return f"  Its number or letter alone presses a button · /help lists commands · {stop}"
        return f"  /help lists commands · Alt-Enter makes a new line · {stop}"

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()

        # While an answer is printed, the terminal turns Ctrl-C into a signal.
        @keys.add("c-c")
        @keys.add("<sigint>")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            elif self._is_up and (self._is_waiting or self._is_at_work()):
                self._say("/stop")
            else:
                self._hint = "Ctrl-D leaves."

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        return keys

    def _is_at_work(self) -> bool:
        return self._time() < self._sign_until

    def _time(self) -> float:
        return asyncio.get_running_loop().time()


class SlashCompleter(Completer):
    """Completes slash commands at the start of a line."""

    def __init__(self, commands: Mapping[str, str]) -> None:
        self._commands = commands

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterable[Completion]:
        """Yield the commands that begin with the typed text."""
        typed = document.text
        if typed.startswith("/") and " " not in typed:
            for name, summary in self._commands.items():
                if f"/{name}".startswith(typed):
                    yield Completion(f"/{name}", start_position=-len(typed), display_meta=summary)


def fit_tail(text: str, *, width: int, height: int) -> list[str]:
    """Return the last lines of a text that fit into the given columns and rows."""
    lines = wrap([("", text)], max(width, 10))
    joined = ["".join(part for _, part in line).rstrip() for line in lines]
    return joined[-max(height, 1) :]


def _write(parts: StyleAndTextTuples) -> None:
    print_formatted_text(FormattedText(parts), style=_STYLE)


def _prepare_history(path: Path) -> Path:
    """Create the history file with mode 0600: typed text is as private as the answers."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    return path
