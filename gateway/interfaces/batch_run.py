"""`talaria batch run`: run the tasks of a file with the settings of the home."""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from agent_core.agent.budget import Limits
from agent_core.batch.report import make_report
from agent_core.batch.run import BatchLimits, BatchRun, TasksChanged
from agent_core.batch.task_file import TaskFile, read_task_file
from agent_core.errors import StoreFull
from agent_core.library.ai_agent import AIAgent
from agent_core.library.options import AgentOptions
from agent_core.money import count_micro_dollars
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.web.catalog import make_web_tools
from gateway.app import factories
from gateway.app.backends import load_backend
from gateway.app.extensions import Extensions, add_plugins
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.settings import Settings
from gateway.errors import Declined, suggest
from gateway.interfaces.foreground import make_loop
from gateway.interfaces.waiting import read_settings
from gateway.texts.batch import describe_faults, describe_report, describe_stop, draw_progress

_CLEAR = "\r\x1b[K"
_PAUSE = 0.1
"""Seconds between two pictures of the progress on a terminal."""
_LINE_PAUSE = 30.0
"""The same, in seconds, where lines are written to a file."""
_PATIENCE = 600.0
"""Seconds that a task waits for a model that does not answer."""


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the tasks; return 1 if one failed or is left. Raises `Declined` and `StoreError`."""
    settings = read_settings(environ)
    try:
        data = arguments.file.read_bytes()
    except OSError as error:
        raise Declined(f"{arguments.file} can't be read: {error.strerror or error}.") from error
    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(_run(arguments, settings, data))


async def _run(arguments: argparse.Namespace, settings: Settings, data: bytes) -> int:
    external = ExternalPlugins(settings)
    settings, _ = add_plugins(settings, Extensions(), external)
    name = arguments.model or settings.model.name
    if name not in settings.model.named:
        near = suggest(name, settings.model.named)
        raise Declined(f"There is no model {name} in the settings; {near}")
    if arguments.budget and not settings.prices.is_known(name):
        raise Declined(
            f"The price of {name} is unknown, so --budget can't be kept. Set it in cost.prices, or"
            " limit --steps and --seconds instead."
        )
    code: int | None = None
    try:
        async with AsyncExitStack() as stack:
            batch = await _open(stack, arguments, settings, external, data)
            stopped = await batch.run()
            code = _conclude(batch, stopped)
    except StoreFull:  # a full disk can't be tidied in the end, which loses nothing
        if code is None:
            raise
    return code


async def _open(
    stack: AsyncExitStack,
    arguments: argparse.Namespace,
    settings: Settings,
    external: ExternalPlugins,
    data: bytes,
) -> BatchRun:
    """Open the folder of the run, and load its tasks. Raises `Declined` and `StoreError`."""
    name = arguments.model or settings.model.name
    folder: Path = arguments.into or arguments.file.with_suffix(".run")
    model = factories.load_model(settings, external)
    stack.push_async_callback(model.close)
    backend = await load_backend(settings, folder)
    if backend:
        stack.push_async_callback(backend.close)
    options = replace(_choose(arguments, settings), backend=backend)
    opened = AIAgent.open(folder, model=(name, model), options=options)
    agent = await stack.enter_async_context(opened)
    file = read_task_file(data, agent.tool_names, has_place=backend is not None)
    batch = BatchRun(agent, backend, _limit(arguments), show=_Progress())
    await _load(batch, _with_tools(file, arguments.tools, agent.tool_names))
    _announce(file, folder)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _ask_to_stop, batch, number)
    return batch


async def _load(batch: BatchRun, file: TaskFile) -> None:
    try:
        await batch.load(file)
    except TasksChanged as error:
        raise Declined(str(error)) from error


def _choose(arguments: argparse.Namespace, settings: Settings) -> AgentOptions:
    """Return the options of the assistant: the settings of the home, and what was typed."""
    turns = settings.turns
    dollars = turns.max_cost_usd if arguments.task_usd is None else arguments.task_usd
    limits = Limits(
        steps=arguments.steps or turns.max_steps,
        tokens=turns.max_tokens,
        micro_dollars=count_micro_dollars(dollars),
        seconds=turns.max_seconds if arguments.task_seconds is None else arguments.task_seconds,
    )
    try:
        system = arguments.system.read_text("utf-8") if arguments.system else ""
    except (OSError, UnicodeDecodeError) as error:
        raise Declined(f"{arguments.system} can't be read: {error}.") from error
    return AgentOptions(
        tools=make_web_tools(factories.make_web_options(settings), ReaderPool()),
        instructions=system,
        limits=limits,
        patience=_PATIENCE,
        max_output_tokens=settings.model.max_output_tokens,
        commands=settings.tools.command_seconds,
        prices=settings.prices,
    )


def _limit(arguments: argparse.Namespace) -> BatchLimits:
    return BatchLimits(
        at_once=arguments.at_once,
        attempts=arguments.retries + 1,
        micro_dollars=count_micro_dollars(arguments.budget),
        seconds=arguments.seconds,
    )


def _with_tools(file: TaskFile, given: str | None, known: tuple[str, ...]) -> TaskFile:
    """Give the tools of the run to tasks that name none. Raises `Declined`."""
    if given is None:
        return file
    names = tuple(one.strip() for one in given.split(",") if one.strip())
    if unknown := [one for one in names if one not in known]:
        raise Declined(f"There is no tool {unknown[0]} here; there are {', '.join(known)}.")
    tasks = (one if one.tools is not None else replace(one, tools=names) for one in file.tasks)
    return replace(file, tasks=tuple(tasks))


def _announce(file: TaskFile, folder: Path) -> None:
    for line in describe_faults([(one.line, one.fault) for one in file.faults]):
        print(line, file=sys.stderr)
    if file.ignored:
        print(f"No task has these fields, so they are ignored: {', '.join(file.ignored)}.")
    print(f"The run is in {folder}. Ctrl-C stops it; the same command goes on.", flush=True)


def _ask_to_stop(batch: BatchRun, number: int) -> None:
    """Stop in order; a second signal ends the process at once, without loss."""
    signal.signal(number, signal.SIG_DFL)
    batch.stop("asked")


def _conclude(batch: BatchRun, stopped: str) -> int:
    report = make_report(batch.records)
    if sys.stderr.isatty():
        print(_CLEAR, end="", file=sys.stderr, flush=True)
    print("\n".join(describe_report(report)))
    left = report["waiting"]
    if stopped and left:
        print(describe_stop(stopped, batch.detail, left))
    return 1 if left or report["failed"] or report["no_task"] else 0


class _Progress:
    """Shows how far a run is: a bar on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = 0.0
        self._is_live = sys.stderr.isatty()

    def __call__(self, batch: BatchRun) -> None:
        """Show the run after a task, unless it was shown just now."""
        now = time.monotonic()
        if now - self._shown < (_PAUSE if self._is_live else _LINE_PAUSE):
            return
        self._shown = now
        line = draw_progress(batch.records, now - self._began)
        if self._is_live:
            print(f"{_CLEAR}{line}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
