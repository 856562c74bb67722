"""Sentences about where a note comes from."""

from agent_core.localization import use_language
from agent_core.memory.explanations import Basis, ChangeStep, Explanation, SourceMessage
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from agent_core.tools.clock import ReaderClock
from gateway.texts import memory


def test_what_was_written_in_the_terminal_names_the_console_in_german() -> None:
    change = Change(operation="add", position=0, before=None, after="Hat eine Katze")
    row = LedgerEntry(
        id=2,
        target="user",
        change=change,
        origin=Origin(actor="turn:1", now=0),
    )
    said = SourceMessage(author="", text="Ich habe eine Katze", platform="console", at=0)
    reason = Explanation(
        name="2",
        words="Hat eine Katze",
        made_by=row,
        basis=Basis(source_messages=(said,), hidden=0, evidence="", sources=()),
        steps=(ChangeStep(number=2, row=row, counts=True),),
        is_forgotten=False,
    )
    viewer = memory.MemoryViewer(clock=ReaderClock(zone="UTC", now=0), is_direct=True)
    with use_language("de"):
        assert ", Konsole: `Ich habe eine Katze`" in memory.explain(reason, viewer)
