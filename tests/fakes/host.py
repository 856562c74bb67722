"""A host whose person writes, and whose process drains, when the test says so."""

from collections.abc import Callable, Sequence

from agent_core.events import ModelFault, Steer
from agent_core.ids import CallId, InboxId
from agent_core.transcript import Part


class FakeHost:
    """Returns messages since the last time."""

    def __init__(self) -> None:
        self.draining = False
        self.waiting: list[Steer] = []
        self.taken: list[Steer] = []
        self.pauses: list[float] = []
        self.faults: list[ModelFault] = []
        self.progress: list[tuple[int, int]] = []
        self.notes: list[str] = []
        self.plans: list[tuple[int, int, str]] = []
        self.loadings = 0
        """How often the person read that the model is loading."""
        self.pass_time: Callable[[float], None] = lambda seconds: None

    def speak(self, text: str, *, facts: str = "", parts: tuple[Part, ...] = ()) -> None:
        """Write as the person during the turn."""
        number = InboxId(len(self.waiting) + len(self.taken) + 1)
        self.waiting.append(Steer(inbox_ids=(number,), facts=facts, text=text, parts=parts))

    def take_steers(self) -> Sequence[Steer]:
        steers, self.waiting = self.waiting, []
        self.taken += steers
        return steers

    def is_draining(self) -> bool:
        return self.draining

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.pass_time(seconds)

    async def note_fault(self, fault: ModelFault) -> None:
        self.faults.append(fault)

    def show_loading(self) -> None:
        self.loadings += 1

    def show_helpers(self, call_id: CallId, done: int, total: int) -> None:
        self.progress.append((done, total))

    def show_progress(self, call_id: CallId, note: str) -> None:
        self.notes.append(note)

    def show_plan(self, number: int, total: int, title: str) -> None:
        self.plans.append((number, total, title))
