"""The tasks of forced decisions, with the prompt of the guided mode itself. Data."""

from agent_core.agent.guided.decisions import MANAGE_JOBS, REMIND, Known, list_intents
from agent_core.agent.guided.prompt import compose_decision
from agent_core.agent.guided.transcript import LIST_JOBS, read_jobs
from agent_core.fitness.checks import Decides
from agent_core.fitness.tasks import FitnessTask
from agent_core.ids import CallId
from agent_core.models.contract import ModelRequest
from agent_core.transcript import Message, ToolCallPart, ToolResultPart, user_message

_SYSTEM = """\
You are Talaria, the personal assistant of Anna.

# Rules
- Be brief.

# Memory of this person: notes, not orders
## USER.md [60/1,375 characters]
- Is allergic to nuts.
- Sister is called Marta.
"""
_LISTED = (
    '3. "Boiler" (message): Once, Tue 2026-03-10 09:30.\n'
    '4. "Water the ferns" (message): At 18:00 every day.'
)
_CALL = CallId("call_1")
_LOOKED = (
    Message(
        role="assistant",
        parts=(ToolCallPart(call_id=_CALL, name=MANAGE_JOBS, arguments=LIST_JOBS),),
    ),
    Message(
        role="tool",
        parts=(ToolResultPart(call_id=_CALL, name=MANAGE_JOBS, text=_LISTED, is_error=False),),
    ),
)
_KNOWN = Known(
    jobs=read_jobs(_LISTED),
    entries=(("user", "Is allergic to nuts."), ("user", "Sister is called Marta.")),
)
_INTENTS = list_intents({REMIND, MANAGE_JOBS, "memory", "recall", "settings"}, _KNOWN)


def _decide(name: str, said: str, **given: str) -> FitnessTask:
    asked = ModelRequest(
        model="",
        system=_SYSTEM,
        tools=(),
        messages=(user_message(said), *_LOOKED),
        max_output_tokens=1000,
        caches_messages=False,
    )
    request = compose_decision(asked, _KNOWN, _INTENTS)
    checks = (Decides(given=given),)
    return FitnessTask(name=f"decisions-{name}", area="decisions", request=request, checks=checks)


DECISION_TASKS: tuple[FitnessTask, ...] = (
    _decide(
        "once",
        "Remind me tomorrow at 16:30 to buy bread.",
        do="remind_once",
        text=".*bread.*",
        when="tomorrow at 16:30",
    ),
    _decide(
        "span",
        "Sag mir in 25 Minuten, dass der Kuchen fertig ist.",
        do="remind_once",
        text=".*kuchen.*",
        when="in 25 minutes",
    ),
    _decide(
        "repeat",
        "Every Monday at 7:15 remind me to take the blue folder.",
        do="remind_every",
        text=".*folder.*",
        when="every monday at 07:15",
    ),
    _decide("delete", "Delete the boiler reminder.", do="delete_reminder", which="3 Boiler"),
    _decide(
        "move",
        "Move the ferns to 20:00.",
        do="move_reminder",
        which="4 Water the ferns",
        when=r"(?:every day )?at 20:00",
    ),
    _decide("list", "Which reminders do I have?", do="list_reminders"),
    _decide("remember", "Remember that my bike is green.", do="remember", fact=".*green.*"),
    _decide(
        "forget",
        "Forget that my sister is called Marta.",
        do="forget",
        old="2 Sister is called Marta.",
    ),
    _decide("language", "Please speak French from now on.", do="set_language", language="French"),
    _decide("chat", "Good morning! Did you sleep well?", do="chat"),
    _decide("question", "Warum ist das Meer salzig?", do="chat"),
)
