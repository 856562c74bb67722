"""Today: what is still to come, what waits for an answer, what was done, and its cost."""

from datetime import datetime, time, timedelta
from typing import Any

from agent_core.ids import QuestionId, TurnId
from agent_core.schedule.triggers import milliseconds
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.conversations import messages, questions, turns, usage
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.queues import person_events
from gateway.errors import Declined
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.jobs.listing import list_coming
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing
from gateway.texts import pages as texts
from gateway.texts.usage import describe_charged
from gateway.turns.proposals import list_held, list_refused

_DAY = 86_400_000
_MOST = 12
_MOST_BYTES = 64_000
"""Most bytes of a form: an answer of 4,000 characters, each encoded as up to 12 bytes."""


async def show(look: Look) -> Fields:
    """Read the content of the page Today."""
    person_id, now, clock = look.person.id, look.gateway.now(), look.viewer.clock
    tomorrow = datetime.combine(clock.today + timedelta(days=1), time(), find_zone(clock.zone))
    midnight = milliseconds(tomorrow)
    since = now - _DAY

    def work(connection: Connection) -> dict[str, Any]:
        recent = turns.list_of_person(connection, person_id=person_id, before=LARGEST, limit=_MOST)
        running = [turn for turn in recent if turn.state == "running"]
        for oldest in person_events.list_running(connection, person_id=person_id)[:1]:
            if oldest not in [turn.id for turn in running]:
                found = turns.find_of_person(
                    connection, turn_id=TurnId(oldest), person_id=person_id
                )
                running += [found] if found else []

        def describe(turn: StoredTurn) -> tuple[StoredTurn, str]:
            asked = messages.request_of_turn(connection, turn_id=turn.id, person_id=person_id)
            return turn, asked

        done = [turn for turn in recent if turn.ended_at and turn.ended_at >= since]
        coming = list_coming(connection, look)
        charged = usage.charged_since(connection, person_id=person_id, since=since, until=now + 1)
        return {
            "running": [describe(turn) for turn in running],
            # A picture or a press of a button has no words; the page Activity lists it.
            "done": [one for one in map(describe, done) if one[1].strip() not in ("", FORGOTTEN)],
            "coming": [one for one in coming if one[0] < midnight],
            "following": next((one for one in coming if one[0] >= midnight), None),
            "held": len(list_held(connection, person_id)),
            "refused": len(list_refused(connection, person_id)),
            "waiting": questions.find_open(connection, person_id=person_id),
            "cost": describe_charged(charged),
        }

    return await look.gateway.database.read(work)


async def answer(look: Look) -> Fields:
    """Answer a question to the person. Raises `Missing` and `Declined`."""
    number = QuestionId(look.find_id("question"))
    choice = (await read_form(look.request, _MOST_BYTES)).get("choice", [""])[0]
    gateway = look.gateway
    found = await gateway.database.read(questions.find, question_id=number)
    if found is None or found.person_id != look.person.id:
        raise Missing
    if not choice.strip() or not await gateway.questions.decide(look.person, number, choice):
        raise Declined(texts.QUESTION_CLOSED())
    gateway.forget_known()  # the answer may have merged two people
    return {}
