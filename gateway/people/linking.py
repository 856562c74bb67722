"""The command `/link`: codes with which a person links another account."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adapters.abilities import CanInvite, SpellsCommands
from adapters.contract import ChatAdapter
from adapters.messages import InboundMessage, Sender
from agent_core.chats import Chat
from agent_core.ids import InboxId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import account_links, people
from agent_core.state.people.account_links import OtherSide
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import make_chat, name_chat
from gateway.known_platforms import find_title
from gateway.outbound.questions import Questions
from gateway.people import merging
from gateway.people.admission import (
    UNATTENDED,
    AccountRef,
    count_wrong_code,
    is_silenced,
    note,
    spoil,
)
from gateway.people.merging import AccountMerging
from gateway.people.onboarding import hash_code, make_code
from gateway.texts import general
from gateway.texts import people as people_texts

LASTS = 600_000
"""Milliseconds during which a code is valid and its question may be answered."""
CANCEL = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A received `/link`: the account, the chat, and the words after the command."""

    platform: str
    sender: Sender
    chat: str
    is_direct: bool
    words: str

    @property
    def asker(self) -> AccountRef:
        """The account for which wrong codes are counted."""
        return AccountRef(platform=self.platform, sender=self.sender)


LinkReply = tuple[str, Sequence[OutboxRow]]
"""The answer to the sender, empty for silence, and further outbox rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking:
    """Handles every `/link`."""

    database: Database
    questions: Questions
    merging: AccountMerging
    adapters: Mapping[str, ChatAdapter]
    now: Callable[[], int]

    async def handle_stranger(
        self, platform: str, message: InboundMessage, inbox_id: InboxId, words: str
    ) -> list[OutboxRow]:
        """Handle `/link` from an account that may not talk yet. Raises `StoreError`.

        Strangers in rooms get no answer, but a code shown there becomes invalid.
        """
        sent = read_link(platform, message, words)
        now = self.now()

        def work(connection: Connection) -> list[OutboxRow]:
            inbox.finish(connection, inbox_id=inbox_id, reason="link")
            inbox.drop_payload(connection, inbox_id=inbox_id)
            reported, rows = self.take(connection, sent, None, now)
            reply_address = message.reply_address
            is_news = sent.is_direct and reported not in ("", people_texts.LINK_NOTHING())
            if not is_news and reply_address is None:
                return list(rows)
            outgoing = NewOutboxMessage(
                chat=make_chat(platform, reply_address or message.address),
                body=reported or general.STRANGER_AGAIN(),
            )
            return [outbox.enqueue(connection, outgoing, now=now), *rows]

        return await self.database.write("people.link", work)

    def take(
        self, connection: Connection, sent: Sent, person: Person | None, now: int
    ) -> LinkReply:
        """Handle a `/link` in the caller's transaction.

        `person` is the sender; None stands for a stranger.
        """
        words = sent.words
        if words.casefold() == CANCEL:
            return self._cancel(connection, sent, person, now)
        if not sent.is_direct:
            reported = people_texts.LINK_IN_GROUP()
            is_code = words and not find_title(words.casefold())
            return spoil(connection, sent.asker, words, reported, now) if is_code else reported, []
        if person and words.casefold() in self.adapters:
            return self._begin(connection, sent, person, now)
        if person and find_title(words.casefold()):
            return people_texts.describe_missing_platform(words.casefold()), []
        if words and is_silenced(connection, sent.asker, now):
            return "", []
        if words and sent.asker.is_person:
            return general.CODE_ON_PAGE(), []
        if words:
            return self._take_code(connection, sent, now)
        return self._begin(connection, sent, person, now) if person else ("", [])

    def _begin(self, connection: Connection, sent: Sent, person: Person, now: int) -> LinkReply:
        """Make a new code; a person has one at a time."""
        rows = [
            row
            for link in account_links.list_live(connection, person_id=person.id)
            for row in merging.end(connection, link, people_texts.LINK_REPLACED(), now)
        ]
        code = make_code()
        account_links.insert(
            connection,
            person_id=person.id,
            code_hash=hash_code(code),
            chat=Chat(platform=sent.platform, address=sent.chat),
            now=now,
            expires_at=now + LASTS,
        )
        note(connection, sent.asker, person, "link.code", "made a code", now)
        return people_texts.describe_code(code, self._list_ways(sent, code)), rows

    def _list_ways(self, sent: Sent, code: str) -> list[str]:
        """List how to send a code on the other platforms, or on the one that was named."""
        named = sent.words.casefold()
        ways = []
        for platform, adapter in self.adapters.items():
            if platform in {sent.platform, *UNATTENDED} or named not in ("", platform):
                continue
            address = adapter.invite(f"link-{code}") if isinstance(adapter, CanInvite) else None
            is_whole = isinstance(adapter, CanInvite) and adapter.invites_with_words
            prefix = adapter.command_prefix if isinstance(adapter, SpellsCommands) else "/"
            command = "" if is_whole and address else f"{prefix}link {code}"
            ways.append(people_texts.describe_way(platform, address, command))
        return ways

    def _take_code(self, connection: Connection, sent: Sent, now: int) -> LinkReply:
        """Use up a code sent by another account, and ask the first side to confirm."""
        link = account_links.find_open(connection, code_hash=hash_code(sent.words), now=now)
        if link is None:
            return count_wrong_code(connection, sent.asker, general.CODE_INVALID(), now), []
        sender = sent.sender
        account = {"platform": sent.platform, "user_id": str(sender.user_id)}
        them = people.find_by_account(connection, **account)
        if them and them.id == link.person_id:
            return people_texts.LINK_SAME(), []
        person = people.find(connection, person_id=link.person_id)
        if them and them.is_owner and not (person and person.is_owner):
            # The confirming side gets everything: a code must not trick an owner into that.
            note(connection, sent.asker, person, "link.refused", "an owner sent the code", now)
            rows = merging.end(connection, link, people_texts.LINK_REFUSED(), now)
            return people_texts.LINK_OWNER_FIRST(), rows
        rows = [
            row
            for earlier in account_links.list_asked(connection, **account)
            for row in merging.end(connection, earlier, people_texts.LINK_OVER(), now)
        ]
        other = OtherSide(
            **account,
            name=sender.display_name or str(sender.user_id),
            chat=sent.chat,
            person_id=them.id if them else None,
        )
        account_links.redeem(connection, link_id=link.id, other=other)
        question = merging.ask_to_join(link, other)
        rows += self.questions.pose(connection, question, now)
        note(connection, sent.asker, person, "link.asked", "sent the code", now)
        return people_texts.describe_asked(link.chat.platform, person.name if person else "?"), rows

    def _cancel(
        self, connection: Connection, sent: Sent, person: Person | None, now: int
    ) -> LinkReply:
        """Cancel a request; either side may do so until it is done."""
        mine = account_links.list_live(connection, person_id=person.id) if person else []
        theirs = account_links.list_asked(
            connection, platform=sent.platform, user_id=str(sent.sender.user_id)
        )
        rows = []
        for link in (*mine, *theirs):
            rows += merging.end(connection, link, people_texts.LINK_CANCELLED_THERE(), now)
            if link in mine and link.other:
                outgoing = NewOutboxMessage(
                    chat=Chat(platform=link.other.platform, address=link.other.chat),
                    body=people_texts.LINK_CANCELLED_NOTICE(),
                )
                rows.append(outbox.enqueue(connection, outgoing, now=now))
            first = people.find(connection, person_id=link.person_id)
            note(connection, sent.asker, first, "link.cancelled", f"request {link.id}", now)
        return (
            people_texts.LINK_CANCELLED() if mine or theirs else people_texts.LINK_NOTHING(),
            rows,
        )


def read_link(platform: str, message: InboundMessage, words: str) -> Sent:
    """Read a `/link` message; `words` are those after the command."""
    return Sent(
        platform=platform,
        sender=message.sender,
        chat=name_chat(message.address),
        is_direct=message.address.is_direct,
        words=words,
    )
