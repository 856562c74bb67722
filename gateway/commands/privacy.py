"""Commands for a person's data: export, forget, erase."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.ids import PersonId
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations.privacy import export_to_chat, look_for, read_words
from gateway.outbound.progress_lines import ProgressLines
from gateway.outbound.questions import Questions
from gateway.people.data_confirmations import ask_to_erase, ask_to_forget, ask_to_forget_here
from gateway.people.data_erase import check_erase
from gateway.people.data_export import DataExport
from gateway.people.data_forget import DataForget
from gateway.texts import privacy


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyCommands:
    """Exports, redacts and erases the data of a person."""

    exports: DataExport
    forgetting: DataForget
    questions: Questions
    lines: ProgressLines

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"export": self._export, "forget": self._forget, "erase": self._erase}

    async def _export(self, call: Call) -> Reply:
        async with self.lines.show(_address(call)) as report:
            parts = await export_to_chat(self.exports, call.person, call.platform, report)

        def effect(connection: Connection) -> Outcome:
            return "", [
                _enqueue_file(connection, call, number, parts) for number in range(len(parts))
            ]

        return Reply(effect=effect)

    async def _forget(self, call: Call) -> Reply:
        if call.room is not None and not call.argument:
            return Reply(text=privacy.FORGET_USAGE_HERE())
        wanted = read_words(call.argument)
        if call.room is not None:
            return await self._forget_here(call, wanted, call.room.person_id)
        async with self.lines.show(_address(call)) as report:
            preview = await look_for(self.forgetting, call.person, wanted, report)
        chat = call.chat
        question = ask_to_forget(call.person, call.argument, preview, chat=chat, now=call.now)

        def effect(connection: Connection) -> Outcome:
            return "", self.questions.pose(connection, question, call.now)

        return Reply(effect=effect)

    async def _forget_here(self, call: Call, wanted: WordMatcher, group_id: PersonId) -> Reply:
        """Ask which notes of the group to forget; nothing else is shown where others read."""
        found = await self.forgetting.preview_in_group(call.person, wanted, group_id)
        if found is None:
            return Reply(text=privacy.FORGET_NOTHING_HERE())
        chat = call.chat
        question = ask_to_forget_here(call.person, call.argument, found, chat=chat, now=call.now)

        def effect(connection: Connection) -> Outcome:
            return "", self.questions.pose(connection, question, call.now)

        return Reply(effect=effect)

    async def _erase(self, call: Call) -> Reply:
        name = call.argument.casefold()
        if not name:
            return Reply(text=privacy.ERASE_USAGE())
        is_me = name in privacy.ALL_OF_ME
        if not is_me and name != call.person.slug and not call.person.is_owner:
            return Reply(text=privacy.ERASE_OTHERS())
        chat = call.chat

        def effect(connection: Connection) -> Outcome:
            target = call.person if is_me else _find(connection, name)
            if target is None:
                return privacy.ERASE_UNKNOWN(), ()
            check_erase(connection, call.person, target)
            question = ask_to_erase(call.person, target, chat=chat, now=call.now)
            return "", self.questions.pose(connection, question, call.now)

        return Reply(effect=effect)


def _address(call: Call) -> NewOutboxMessage:
    """Address a message without words to the chat and the person of a call."""
    chat = call.chat
    return NewOutboxMessage(chat=chat, body="", person_id=call.person.id)


def _enqueue_file(
    connection: Connection, call: Call, number: int, parts: Sequence[tuple[str, bytes]]
) -> OutboxRow:
    """Enqueue one export file; retention deletes it a day after delivery."""
    name, data = parts[number]
    key = files.store(connection, data=data, media_type="application/zip", now=call.now)
    outgoing = replace(
        _address(call),
        body=privacy.describe_export(len(parts)) if number == 0 else "",
        answers=call.message.message_id,
        is_silent=number > 0,
        file=(key, name),
    )
    return outbox.enqueue(connection, outgoing, now=call.now)


def _find(connection: Connection, name: str) -> Person | None:
    """Return the person with this folder name, if any."""
    return next((one for one in people.list_all(connection) if one.slug == name), None)
