"""Try everyday requests with a real model, and print what became of each.

    python -m tools.try_model [--kept | --all] [--requests FILE] [--mode tools|guided] [ID ...]

`make try-model` starts the model first; see docs/models-and-cost.md. Each request meets a fresh
copy of one home, and is judged by what is in the database afterwards. The usual half are the
requests with an odd number; the others are kept for the end.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from gateway.app.build import run
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.home import CONSOLE_SOCKET, CONTROL_SOCKET, make_home
from gateway.interfaces.http.control import serving_control
from gateway.interfaces.terminal.socket_client import Choice, ConsoleLink, News, Shown
from tools.try_model.home import JOBS, NOTES, OLD, OWNER, PERSON, load_requests, read_state
from tools.try_model.judge import ZONE, Run, find_due, judge

_REQUESTS = Path(__file__).parent / "requests.jsonl"
_PATIENCE = 600.0
_QUIET = "http://localhost/quiet?platform=console"
_IS_RIGHT = "Is that time right?"
"""How guided mode asks whether it has read a time rightly."""
_REMINDS, _KEEP = "Shall I remind you?", "Only keep it in mind"
"""How it asks whether a fact with a time is meant as a reminder, and the other button."""
_ACTS = {"delete": "deleted", "pause": "paused", "move": "moved", "forget": "gone"}
"""The goals for which a question about an act is right, by the act."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_CONFIRMS = "shall I send this?"
"""The product's own question before a recurring job."""


@dataclass(slots=True)
class Person:
    """Writes messages, and answers questions as somebody who knows what they want."""

    home: Path
    wanted: str = ""
    """The word on the button to press."""
    due: datetime | None = None
    """The time that is wanted, if it is asked about."""
    refuses: Sequence[str] = ()
    """Acts that are not wanted, as a question names them."""
    keeps: bool = False
    """True if something is to be remembered."""
    texts: dict[str, str] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    _open: list[Shown] = field(default_factory=list)
    _link: ConsoleLink = field(init=False)

    def __post_init__(self) -> None:
        self._link = ConsoleLink(self.home / CONSOLE_SOCKET, self._hear, shows_buttons=True)

    async def talk(self, messages: Sequence[str]) -> None:
        """Send messages one after the other, each after the answer to the last one."""
        line = asyncio.create_task(self._link.run())
        try:
            for text in messages:
                self.texts.clear()
                await self._link.say(text)
                await self._wait()
                while self._open:
                    question = self._open.pop()
                    self.questions.append(question.text)
                    await self._link.press(
                        question.id, self._choose(question.text, question.choices).key
                    )
                    await self._wait()
        finally:
            line.cancel()
            await asyncio.gather(line, return_exceptions=True)

    def _choose(self, question: str, choices: Sequence[Choice]) -> Choice:
        if question.startswith(_REMINDS) and self.keeps:
            return next(one for one in choices if one.label == _KEEP)
        if question.endswith(_IS_RIGHT) or question.startswith(_REMINDS):
            return choices[0 if self._is_due(question) else -1]
        if any(f"shall I {verb}" in question for verb in self.refuses):
            return choices[-1]
        named = [one for one in choices if self.wanted and self.wanted in one.label.casefold()]
        return (named or [one for one in choices if one.style == "good"] or [choices[-1]])[0]

    def _is_due(self, question: str) -> bool:
        found = _MOMENT.search(question)
        if found is None or self.due is None:
            return False
        asked = datetime.fromisoformat(found[0]).replace(tzinfo=ZONE)
        return abs(asked - self.due) < timedelta(minutes=5)

    async def _wait(self) -> None:
        connector = aiohttp.UnixConnector(str(self.home / CONTROL_SOCKET))
        timeout = aiohttp.ClientTimeout(total=_PATIENCE)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
            session.get(_QUIET, raise_for_status=True),
        ):
            pass

    async def _hear(self, news: News) -> None:
        if not isinstance(news, Shown):
            return
        self.texts[news.id] = news.text
        if news.choices and not news.is_live and "?" in news.text:  # others offer to undo
            self._open.append(news)


@asynccontextmanager
async def running(environment: Mapping[str, str]) -> AsyncIterator[None]:
    """Run a gateway on the home of an environment."""
    stop, ready = asyncio.Event(), asyncio.Event()

    async def serve_control(gateway: Gateway) -> None:
        async with serving_control(gateway):
            ready.set()
            await asyncio.Event().wait()

    serving = asyncio.create_task(run(load(environment), stop=stop, companions=(serve_control,)))
    try:
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        stop.set()
        await serving


async def make_template(home: Path, base: Mapping[str, str]) -> None:
    """Make the home that every request starts from, with the stand-in."""
    make_home(home)
    scripted = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__MODE": "tools"}
    environment = {**base, **scripted, "TALARIA_HOME": str(home)}
    async with running(environment):
        facts = [f"remember about me that {one}" for one in PERSON]
        notes = [f"remember that {one}" for one in NOTES]
        await Person(home).talk(["hello", OLD, "/new", *facts, *notes, "/new"])
    thursday = datetime.now(ZONE)
    thursday += timedelta(days=(3 - thursday.weekday()) % 7 or 7)
    for words in JOBS:
        given = [word.format(library=f"{thursday:%Y-%m-%d}T16:00") for word in words]
        command = [sys.executable, "-m", "gateway", "jobs", "add", "--person", OWNER]
        process = await asyncio.create_subprocess_exec(
            *command, "--zone", str(ZONE), *given, env=environment, stdout=asyncio.subprocess.PIPE
        )
        await process.communicate()
        if process.returncode:
            raise SystemExit(f"the job can't be made: {given}")


async def try_request(
    asked: dict[str, Any], template: Path, base: Mapping[str, str]
) -> dict[str, Any]:
    """Try a request in a copy of the template; return what became of it."""
    want = asked["want"]
    wanted = want.get("deleted") or want.get("paused") or want.get("moved")
    wanted = wanted or next(iter(want.get("gone", ())), "")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(template, home)
        before = read_state(home)
        began, started = datetime.now(ZONE), time.monotonic()
        person = Person(home, wanted=str(wanted).casefold(), keeps="added" in want)
        person.refuses = [verb for verb, goal in _ACTS.items() if goal not in want]
        person.due = find_due(want, began, before)
        async with running({**base, "TALARIA_HOME": str(home)}):
            started = time.monotonic()
            await person.talk(asked["say"])
            seconds = time.monotonic() - started
        answer = "\n".join(person.texts.values())
        made = Run(want=want, began=began, before=before, after=read_state(home), answer=answer)
    return {
        "id": asked["id"],
        "verdict": judge(made),
        "questions": sum(_CONFIRMS not in one for one in person.questions),
        "confirmed": sum(_CONFIRMS in one for one in person.questions),
        "seconds": round(seconds, 1),
        "answer": answer,
    }


def show_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the results, and their sums."""
    verdicts = Counter(one["verdict"] for one in results)
    count, asked = len(results), sum(bool(one["questions"]) for one in results)
    lines = ["| request | verdict | questions | answer |", "|---|---|---|---|"]
    lines += [
        f"| {one['id']} | {one['verdict']} | {one['questions']} |"
        f" {' '.join(one['answer'].split())[:160]} |"
        for one in results
    ]
    sums = ", ".join(f"{name} {number}" for name, number in verdicts.most_common())
    return "\n".join([*lines, "", f"{count} requests: {sums}; a question in {asked}."])


async def main() -> None:
    """Try the chosen requests one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tools.try_model")
    parser.add_argument("--kept", action="store_true", help="the half that is kept for the end")
    parser.add_argument("--all", action="store_true", help="both halves")
    parser.add_argument("--requests", type=Path, default=_REQUESTS, help="another file of requests")
    parser.add_argument("--mode", default="guided", choices=("tools", "guided"))
    parser.add_argument("ids", nargs="*", help="only these requests")
    chosen = parser.parse_args()
    base = {
        **os.environ,
        "TALARIA_MODEL__MODE": chosen.mode,
        "TALARIA_MODEL__PROVIDER": "openai",
        "TALARIA_PEOPLE__TIME_ZONE": str(ZONE),
    }
    results = []
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "template"
        await make_template(template, base)
        for asked in load_requests(chosen.requests):
            is_kept = int(asked["id"][1:]) % 2 == 0
            if chosen.ids and asked["id"] not in chosen.ids:
                continue
            if not chosen.ids and not chosen.all and is_kept != chosen.kept:
                continue
            results.append(await try_request(asked, template, base))
            print(json.dumps(results[-1], ensure_ascii=False), flush=True)
    print(show_table(results))


if __name__ == "__main__":
    asyncio.run(main())
