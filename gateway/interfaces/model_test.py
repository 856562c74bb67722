"""`talaria models test` and `trust`: try a model with small tasks, or trust it without."""

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.waiting import load_settings
from gateway.operations.fitness_types import StepTest, TestedTask, TrustModel
from gateway.operations.model_types import KnownModels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gateway.app.settings import Settings

_PATIENCE = 800.0
"""Seconds for one task; the first one may have to wait for the model to load."""
_STOPPED = 130
"""The exit status of a program that Ctrl-C stops."""


def test(environ: Mapping[str, str], name: str) -> int:
    """Run the test, show each task, and print the card at the end. Raises `Declined`."""
    from gateway.texts.fitness import describe_card, describe_task

    home = open_home(environ)
    load = cache(partial(load_settings, environ))  # reading them removes keys from the environment
    print("Each task is one short request. Ctrl-C stops; the same command goes on.", flush=True)
    asked = StepTest(name=name, begins=True)
    try:
        while True:
            step = _step(home, load, asked)
            print(describe_task(step), flush=True)
            if step.facts:
                break
            asked = StepTest(name=name)
    except KeyboardInterrupt:
        print("\nStopped. `talaria models test` goes on from here.")
        return _STOPPED
    print("\n".join(("", f"{step.model}, at {step.server}:", *describe_card(step.facts))))
    return 0


def _step(home: "Path", load: "Callable[[], Settings]", asked: StepTest) -> TestedTask:
    return client.perform_typed(
        home, "fitness.step", asked, TestedTask, timeout=_PATIENCE, load_settings=load
    )


def trust(environ: Mapping[str, str], name: str) -> int:
    """Let a model review and write skills without a passed test. Raises `Declined`."""
    client.perform_typed(
        open_home(environ),
        "fitness.trust",
        TrustModel(name=name),
        KnownModels,
        load_settings=partial(load_settings, environ),
    )
    print(f"{name} may review conversations and write skills, whatever its test says.")
    print(f"`talaria models forget {name}` takes that back, with all that is known of it.")
    return 0
