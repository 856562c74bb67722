"""A model that follows the skills it reads: it runs what they say, and answers what came out."""

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import ToolResultPart
from tests.fakes.model import Play, ask, call, say

_ASKED = re.compile(r"with the skill ([a-z-]+); read it first")
_RUN = re.compile(r"^Run: (.+)$", re.MULTILINE)
_SHOWN = re.compile(r"^Skill ([a-z-]+):", re.MULTILINE)
KEEP = "keep how we do this: "


class Follower:
    """Decides by the request alone, so that turns, reviews and tests may come in any order."""

    provider = "fake"

    def __init__(
        self,
        written: Mapping[str, tuple[str, Mapping[str, str]]],
        patches: Mapping[str, Sequence[tuple[str, str]]],
    ) -> None:
        """`written` are the text and the files of each skill that people may ask to keep.

        `patches` are the changes that reflections on a skill propose in turn: old and new passage.
        """
        self._written = written
        self._patches = {name: deque(changes) for name, changes in patches.items()}
        self.requests: list[ModelRequest] = []
        self._unwritten: deque[dict[str, str]] = deque()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        await asyncio.sleep(0)
        for piece in self._answer(request):
            assert isinstance(piece, TextDelta | ModelAnswer)
            yield piece

    async def check(self, model: str) -> None:
        """Accept every model."""

    async def close(self) -> None:
        """Do nothing."""

    def _answer(self, request: ModelRequest) -> Play:
        last = request.messages[-1]
        if request.system.startswith("The same thing went wrong"):
            return self._reflect(last.text)
        if not request.system.startswith("You are"):
            return say("nothing")
        results = [part for part in last.parts if isinstance(part, ToolResultPart)]
        if not results:
            return self._begin(request.system, last.text)
        result = results[-1]
        if result.name == "skill_view":
            asked = next(one.text for one in reversed(request.messages) if one.role == "user")
            return _run(result.text, asked)
        if result.name == "terminal":
            return say("It failed." if result.is_error else f"Result: {result.text.strip()}")
        return self._write_next()

    def _begin(self, system: str, said: str) -> Play:
        if name := _ASKED.search(said):
            return ask(call("skill_view", json.dumps({"name": name[1]})))
        if said.startswith(KEEP):
            return self._write(said.removeprefix(KEEP).strip())
        if _RUN.search(system):
            return _run(system, said)
        return say("Hello." if said == "hi" else "No idea.")

    def _write(self, name: str) -> Play:
        text, files = self._written[name]
        given = [{"action": "create", "name": name, "text": text}]
        given += [
            {"action": "add_file", "name": name, "file": path, "text": content}
            for path, content in files.items()
        ]
        self._unwritten.extend(given)
        return self._write_next()

    def _write_next(self) -> Play:
        """Make one change, because a file needs the skill that the change before has made."""
        if not self._unwritten:
            return say("Kept.")
        left = len(self._unwritten)
        given = json.dumps(self._unwritten.popleft())
        return ask(call("skill_manage", given, f"c{left}"))

    def _reflect(self, shown: str) -> Play:
        name = _SHOWN.search(shown)
        waiting = self._patches.get(name[1]) if name else None
        if not name or not waiting:
            return say("nothing")
        old, text = waiting.popleft()
        return ask(call("patch", json.dumps({"name": name[1], "old": old, "text": text})))


def _run(skill: str, said: str) -> Play:
    """Put the lines of a request into a file, and run what a skill says."""
    found = _RUN.search(skill)
    assert found
    lines = said.partition("\n")[2]
    command = f"cat > input.txt <<'END'\n{lines}\nEND\n{found[1]}"
    return ask(call("terminal", json.dumps({"command": command})))
