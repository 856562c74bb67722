"""Merging of two people after both sides have confirmed, and unlinking of an account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agent_core.chats import Chat
from agent_core.ids import LinkId
from agent_core.memory.merge_memories import list_unmerged, merge_memories, merge_rest, split_memory
from agent_core.memory.provenance import UnlinkedAccount
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, NewQuestion, Question, QuestionKind
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people, split_person
from agent_core.state.lifecycle.merge_people import Rename
from agent_core.state.people import account_links, audit, codes, people
from agent_core.state.people.account_links import Link, LinkState, OtherSide
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Account, NewAccount, Person
from agent_core.state.queues import curations, outbox, reviews, skill_tests, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.transcript import flatten
from gateway.conversation_keys import rename_conversation
from gateway.errors import Declined
from gateway.outbound.questions import Answerer, AnswerOutcome, drop, make_secret
from gateway.outbound.webhooks import events
from gateway.outbound.webhooks.events import store_news
from gateway.people.admission import LOCAL_PLATFORM, name_after, slug_of
from gateway.people.retargeting import retarget_jobs
from gateway.texts import people as people_texts

_MERGE_LASTS = 30 * 24 * 3_600_000
"""Milliseconds during which the question about notes stays open; `/accounts keep` works later."""

_LONGEST_QUOTED = 120
"""Characters of a question in a sentence about it."""

_LEARNING = tasks.Queue(kinds=(reviews.KIND, curations.KIND, skill_tests.KIND))

YES, NO, KEEP, LEAVE = "yes", "no", "keep", "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlinkRequest:
    """An account to unlink, and whether it may talk in its own right."""

    account: Account
    is_admitted: bool


class QuestionsFirst(Declined):
    """An account can't be unlinked while work goes on; the questions `asked` have to go first."""

    def __init__(self, words: str, asked: Sequence[Question]) -> None:
        super().__init__(words)
        self.asked = asked


class AccountMerging:
    """Merges and splits people; every method works in its caller's transaction.

    Drop cached people and conversations after that transaction has committed.
    """

    def __init__(self, memory: MemoryStore) -> None:
        self._memory = memory

    def answerers(self) -> Mapping[QuestionKind, Answerer]:
        """Return the handlers of the questions asked while merging."""
        return {"link": self.answer_link, "merge": self.answer_merge}

    def answer_link(
        self, connection: Connection, question: Question, key: str, person: Person, now: int
    ) -> AnswerOutcome:
        """Handle the first side's answer to the question whether the other account is theirs."""
        link = account_links.find(connection, link_id=LinkId(int(question.payload)))
        other = link.other if link else None
        if (
            link is None
            or other is None
            or link.state != "asked"
            or link.person_id != person.id
            or now >= link.expires_at
        ):
            return AnswerOutcome(words=people_texts.LINK_OVER())
        if key != YES:
            _close(connection, link, "refused", person, now)
            reported = _report(connection, other, people_texts.LINK_REFUSED_NOTICE(), now)
            return AnswerOutcome(words=people_texts.LINK_REFUSED(), rows=[reported])
        account = people.find_account(connection, platform=other.platform, user_id=other.user_id)
        them = people.find(connection, person_id=account.person_id) if account else None
        if (them.id if them else None) != other.person_id or (them and them.id == person.id):
            _close(connection, link, "over", person, now)
            return AnswerOutcome(words=people_texts.LINK_CHANGED())
        if them and them.is_owner and not person.is_owner:
            _close(connection, link, "refused", person, now)  # they became an owner meanwhile
            return AnswerOutcome(words=people_texts.LINK_REFUSED())
        if words := self._find_obstacle(connection, person):
            asked = questions.list_awaited(connection, person_id=person.id)
            return AnswerOutcome(words=words, stays_open=True, repeats=asked)
        if them and self._find_obstacle(connection, them):
            is_asked = bool(questions.list_awaited(connection, person_id=them.id))
            there = people_texts.describe_question_there(other.platform)
            return AnswerOutcome(words=there if is_asked else people_texts.BUSY(), stays_open=True)
        return self._join(connection, link, other, person, them, now)

    def _join(
        self,
        connection: Connection,
        link: Link,
        other: OtherSide,
        person: Person,
        them: Person | None,
        now: int,
    ) -> AnswerOutcome:
        left: list[str] = []
        if them:
            try:
                left = self._merge(connection, link, person, them, now)
            except OSError as error:
                return AnswerOutcome(words=_describe(error), stays_open=True)
        _close(connection, link, "joined", person, now)
        gone = them or _meet(connection, other, now)
        rows = end_live(connection, person, now) + end_live(connection, gone, now)
        rename = _rename(gone, person)
        for one in (person, gone):
            store_news(connection, one.id, now)
        merge_people.merge(connection, kept=person.id, absorbed=gone.id, rename=rename, now=now)
        events.restart(connection, person.id)
        for mine in people.list_accounts(connection, person_id=person.id):
            codes.retire_pairings(connection, platform=mine.platform, user_id=mine.user_id, now=now)
        _note(connection, gone, person, "link.joined", f"became {person.slug}", now)
        name_after(connection, person, other.name)
        self._enqueue_files(connection, person, f"link:{link.id}", now)
        reported = people_texts.describe_linked_notice(link.chat.platform, person.name)
        account = people_texts.name_account(other.platform, other.user_id, other.name)
        return AnswerOutcome(
            words=people_texts.LINKED(account=account),
            rows=[*rows, _report(connection, other, reported, now)],
            asks=[_ask_to_keep(link, account, left, now)] if left else [],
        )

    def _merge(
        self, connection: Connection, link: Link, person: Person, them: Person, now: int
    ) -> list[str]:
        """Merge two memories; return the notes that did not fit."""
        merge_memories(
            connection, self._memory, kept=person, absorbed=them, actor=f"link:{link.id}", now=now
        )
        return list_unmerged(connection, kept=person.id, absorbed=[them.id])

    def answer_merge(
        self, connection: Connection, question: Question, key: str, person: Person, now: int
    ) -> AnswerOutcome:
        """Handle the answer about the notes that did not fit."""
        if key != KEEP:
            return AnswerOutcome(words=people_texts.MERGE_LEFT())
        words, is_done = self.keep(connection, person, f"question:{question.id}", now)
        return AnswerOutcome(words=words, stays_open=not is_done)

    def keep(
        self, connection: Connection, person: Person, occasion: str, now: int
    ) -> tuple[str, bool]:
        """Add all notes that were left out; return the answer, and whether nothing is left."""
        if self._memory.is_at_work(person.id):
            return people_texts.BUSY(), False
        try:
            kept = sum(
                merge_rest(
                    connection, self._memory, kept=person, absorbed=gone, actor="person", now=now
                )
                for gone in merge_people.list_absorbed(connection, person_id=person.id)
            )
        except OSError as error:
            return _describe(error), False
        if not kept:
            return people_texts.MERGE_NOTHING(), True
        _note(connection, person, person, "link.kept", f"{kept} notes", now)
        self._enqueue_files(connection, person, occasion, now)
        return people_texts.KEPT(kept), True

    def count_left(self, connection: Connection, person: Person) -> int:
        """Count the notes that were left out when people were merged."""
        gone = merge_people.list_absorbed(connection, person_id=person.id)
        return len(list_unmerged(connection, kept=person.id, absorbed=gone))

    def unlink(
        self, connection: Connection, person: Person, leaving: UnlinkRequest, now: int
    ) -> tuple[people_texts.Unlinked, Sequence[OutboxRow]]:
        """Unlink an account with everything that began there; return the outbox rows, too.

        Raises `QuestionsFirst` and `Declined`.
        """
        account = leaving.account
        mine = people.list_accounts(connection, person_id=person.id)
        if account.platform == LOCAL_PLATFORM:
            raise Declined(people_texts.UNLINK_LOCAL())
        if account not in mine:
            raise Declined(people_texts.UNLINK_UNKNOWN())
        if len(mine) == 1:
            raise Declined(people_texts.UNLINK_LAST())
        if account.came_from is None and all(one.came_from for one in mine if one != account):
            raise Declined(people_texts.UNLINK_FIRST())
        if words := self._find_obstacle(connection, person):
            raise QuestionsFirst(words, questions.list_awaited(connection, person_id=person.id))
        old = _find_old(connection, account)
        try:
            for one in (person, old) if old else (person,):
                self._memory.adopt_hand_edits(connection, one.id, one.slug, now)
        except OSError as error:
            raise Declined(_describe(error)) from error
        rows = end_live(connection, person, now)
        back = old or _make_person(connection, account.display_name, now)
        entries = split_memory(
            connection,
            self._memory,
            kept=person,
            back=back,
            unlinked=_part(account, mine),
            now=now,
        )
        parted = split_person.split(
            connection, account, into=back.id, rename=_rename(person, back), now=now
        )
        if old:
            split_person.restore_person(connection, back=old.id)
        for one in (person, back):
            retarget_jobs(connection, one.id)
        self._note_unlinked(connection, person, back, account, now)
        done = people_texts.Unlinked(
            account=people_texts.name_account(
                account.platform, account.user_id, account.display_name
            ),
            sessions=parted.sessions,
            kept=parted.kept,
            entries=entries,
            is_admitted=leaving.is_admitted,
        )
        return done, rows

    def _note_unlinked(
        self, connection: Connection, person: Person, back: Person, account: Account, now: int
    ) -> None:
        name = f"{account.platform}:{account.user_id}"
        _note(
            connection, person, person, "unlink", f"{name} is {back.slug} (person {back.id})", now
        )
        _note(connection, back, person, "unlink", f"{name} was {person.slug}", now)
        for one in (person, back):
            self._enqueue_files(connection, one, f"unlink:{account.id}:{now}:{one.id}", now)

    def _find_obstacle(self, connection: Connection, person: Person) -> str:
        """Say why a person can't be merged or split now; "" if nothing prevents it.

        A turn of the person or learning from it runs, or their memory is written. A review that
        runs would lose its answer, because its row moves to the other person. A turn may also wait
        for the person themselves.
        """
        if asked := questions.list_awaited(connection, person_id=person.id):
            return people_texts.ANSWER_FIRST(question=flatten(asked[0].text, _LONGEST_QUOTED))
        is_busy = (
            merge_people.has_running(connection, person_id=person.id)
            or tasks.has_running(connection, queue=_LEARNING, person_id=person.id)
            or self._memory.is_at_work(person.id)
        )
        return people_texts.BUSY() if is_busy else ""

    def _enqueue_files(self, connection: Connection, person: Person, key: str, now: int) -> None:
        """Enqueue a task that writes a person's memory files; it survives a crash."""
        tasks.enqueue(
            connection, kind="memory", key=key, person_id=person.id, payload=person.slug, now=now
        )


def find_question(connection: Connection, link: Link) -> Question | None:
    """Return the open question about a link request, if it was asked already."""
    for question in questions.find_open(connection, person_id=link.person_id):
        if question.kind == "link" and question.payload == str(link.id):
            return question
    return None


def end(connection: Connection, link: Link, words: str, now: int) -> list[OutboxRow]:
    """End a link request; its question is replaced with these words."""
    account_links.close(connection, link_id=link.id, outcome="over", now=now)
    question = find_question(connection, link)
    return drop(connection, question, words, now) if question else []


def end_live(connection: Connection, person: Person, now: int) -> list[OutboxRow]:
    """End all open link requests of a person and to a person.

    They were made before the person was merged, or lost an account.
    """
    live = account_links.list_live(connection, person_id=person.id)
    for account in people.list_accounts(connection, person_id=person.id):
        live += account_links.list_asked(
            connection, platform=account.platform, user_id=account.user_id
        )
    return [row for link in live for row in end(connection, link, people_texts.LINK_OVER(), now)]


def ask_to_join(link: Link, other: OtherSide) -> NewQuestion:
    """Return the question for the first side."""
    account = people_texts.name_account(other.platform, other.user_id, other.name)
    return NewQuestion(
        person_id=link.person_id,
        kind="link",
        text=people_texts.ASK_TO_LINK(account=account),
        choices=(
            Choice(key=YES, label=people_texts.YES(), style="good"),
            Choice(key=NO, label=people_texts.NO()),
        ),
        secret=make_secret(),
        chat=link.chat,
        expires_at=link.expires_at,
        payload=str(link.id),
    )


def _ask_to_keep(link: Link, account: str, left: Sequence[str], now: int) -> NewQuestion:
    return NewQuestion(
        person_id=link.person_id,
        kind="merge",
        text=people_texts.ask_to_keep(account, left),
        choices=(
            Choice(key=KEEP, label=people_texts.KEEP()),
            Choice(key=LEAVE, label=people_texts.LEAVE()),
        ),
        secret=make_secret(),
        chat=link.chat,
        expires_at=now + _MERGE_LASTS,
    )


def _close(connection: Connection, link: Link, outcome: LinkState, by: Person, now: int) -> None:
    account_links.close(connection, link_id=link.id, outcome=outcome, now=now)
    if link.other:
        detail = f"{link.other.platform}:{link.other.user_id}"
        if link.other.person_id:
            detail += f", who was person {link.other.person_id}"
        _note(connection, by, by, f"link.{outcome}", detail, now)


def _note(
    connection: Connection, about: Person, by: Person, action: str, detail: str, now: int
) -> None:
    deed = AuditEntry(
        person_id=about.id, actor=f"person:{by.id}", action=action, detail=detail, created_at=now
    )
    audit.record(connection, deed)


def _report(connection: Connection, other: OtherSide, words: str, now: int) -> OutboxRow:
    chat = Chat(platform=other.platform, address=other.chat)
    return outbox.enqueue(connection, NewOutboxMessage(chat=chat, body=words), now=now)


def _meet(connection: Connection, other: OtherSide, now: int) -> Person:
    """Create a person for a stranger's account; the account itself is not admitted."""
    person = _make_person(connection, other.name, now)
    account = NewAccount(
        platform=other.platform,
        user_id=other.user_id,
        display_name=other.name,
        admitted_by="list",
    )
    people.attach_account(connection, account, person_id=person.id, now=now)
    return person


def _find_old(connection: Connection, account: Account) -> Person | None:
    """Return the account's former person, unless another account of theirs was unlinked first."""
    was = account.came_from
    if was is None or was not in merge_people.list_absorbed(
        connection, person_id=account.person_id
    ):
        return None
    return people.find(connection, person_id=was)


def _make_person(connection: Connection, name: str, now: int) -> Person:
    return people.insert(connection, slug=slug_of(name), name=name, role="member", now=now)


def _part(account: Account, mine: Sequence[Account]) -> UnlinkedAccount:
    """Return the accounts whose data leaves with an account: all, if it is the last of its
    person.
    """
    others = {one.came_from for one in mine if one != account}
    was = None if account.came_from in others else account.came_from
    return UnlinkedAccount(account_id=account.id, was=was)


def _rename(old: Person, new: Person) -> Rename:
    return partial(rename_conversation, old=old.id, new=new.id)


def _describe(error: OSError) -> str:
    return people_texts.UNREADABLE(path=str(error.filename or "a file of your memory"))
