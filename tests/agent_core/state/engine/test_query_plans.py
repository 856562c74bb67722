"""No query walks through a table that grows with every message."""

import inspect
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_core.chats import Chat, Place
from agent_core.ids import (
    AccountId,
    ApprovalId,
    ArchiveId,
    BlockId,
    CallId,
    ConversationId,
    InboxId,
    JobId,
    LinkId,
    MessageId,
    OutboxId,
    PersonId,
    ProcessId,
    PromptHash,
    QuestionId,
    RoomId,
    RunId,
    SessionId,
    TaskId,
    TurnId,
)
from agent_core.state.conversations import (
    approvals,
    client_calls,
    compactions,
    delegated_turns,
    files,
    messages,
    page_fetches,
    past_import,
    past_sessions,
    plans,
    private_history,
    questions,
    session_list,
    sessions,
    staged_import,
    transcripts,
    turns,
    usage,
    usage_sums,
)
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.conversations.compactions import NewCompaction
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.past_import import PastTurn
from agent_core.state.conversations.plans import PlanItem
from agent_core.state.conversations.private_history import Present
from agent_core.state.conversations.questions import NewQuestion
from agent_core.state.conversations.sessions import Conversation, NewConversation
from agent_core.state.conversations.transcripts import ForkPoint
from agent_core.state.conversations.turns import Step, TurnRequest
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine import meta
from agent_core.state.jobs import (
    calendar_runs,
    job_history,
    job_marks,
    job_owners,
    job_runs,
    job_versions,
    jobs,
    processes,
    waiting_jobs,
)
from agent_core.state.jobs.job_history import JobMessage
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, Options
from agent_core.state.jobs.processes import NewProcess
from agent_core.state.lifecycle import (
    chat_moves,
    disappearing,
    erase_person,
    export,
    group_notes,
    merge_people,
    person_data,
    redact,
    removed_conversations,
    retention,
    scrubbing,
    split_person,
)
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.lifecycle.retention import Span
from agent_core.state.memory import (
    archive,
    blocks,
    evidence,
    external_sync,
    ledger,
    memory_owners,
    shares,
    skill_changes,
    skill_uses,
    skills,
)
from agent_core.state.memory.archive import ArchiveEntry, ArchiveFilter
from agent_core.state.memory.blocks import NewBlock
from agent_core.state.memory.ledger import Change, Origin, Projection
from agent_core.state.memory.shares import Share
from agent_core.state.people import (
    account_links,
    agent_uses,
    api_tokens,
    audit,
    browser_logins,
    codes,
    deeds,
    delivery_targets,
    learning,
    mcp_accounts,
    owners,
    people,
    presence,
    reading_consents,
    rooms,
)
from agent_core.state.people.account_links import OtherSide
from agent_core.state.people.api_tokens import ApiToken
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.deeds import Deed, Doer, NewDeed
from agent_core.state.people.people import Account, NewAccount, Person
from agent_core.state.queues import (
    agent_messages,
    batch_tasks,
    curations,
    dead_letters,
    deferred_messages,
    inbox,
    incidents,
    outbox,
    person_events,
    reviews,
    skill_tests,
    tasks,
    unreachable_chats,
)
from agent_core.state.queues.agent_messages import AgentMessage
from agent_core.state.queues.batch_tasks import BatchRow
from agent_core.state.queues.deferred_messages import NewDeferredMessage
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.state.search import message_index, passages
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import NewDelivery
from agent_core.state.webhooks.webhooks import NewWebhook, Webhook
from agent_core.transcript import Message, Receipt, TextPart
from tests.agent_core.state.schema import create_schema
from tests.tables import check_each

GROWING = (
    *(
        "approvals",
        "archive",
        "audit",
        "files",
        "inbox",
        "ledger",
        "messages",
        "outbox",
        "questions",
        "sessions",
        "shares",
        "webhook_deliveries",
    ),
    *(
        "compactions",
        "job_runs",
        "jobs",
        "page_fetches",
        "steps",
        "processes",
        "skill_uses",
        "tasks",
        "turn_files",
        "turns",
        "usage",
        "usage_sums",
    ),
)
DOER = Doer(person_id=PersonId(1), owner_id=PersonId(1), platform="p")
ROOMS = (
    agent_uses,
    batch_tasks,
    approvals,
    archive,
    client_calls,
    audit,
    blocks,
    codes,
    dead_letters,
    deeds,
    erase_person,
    export,
    files,
    compactions,
    curations,
    evidence,
    learning,
    delegated_turns,
    deferred_messages,
    delivery_targets,
    private_history,
    agent_messages,
    inbox,
    incidents,
    job_marks,
    job_versions,
    job_owners,
    job_runs,
    calendar_runs,
    job_history,
    jobs,
    waiting_jobs,
    merge_people,
    group_notes,
    memory_owners,
    ledger,
    account_links,
    chat_moves,
    messages,
    page_fetches,
    meta,
    external_sync,
    outbox,
    owners,
    passages,
    past_import,
    past_sessions,
    people,
    plans,
    presence,
    processes,
    questions,
    disappearing,
    redact,
    removed_conversations,
    retention,
    api_tokens,
    browser_logins,
    mcp_accounts,
    deliveries,
    person_events,
    webhooks,
    reading_consents,
    unreachable_chats,
    rooms,
    scrubbing,
    message_index,
    session_list,
    sessions,
    shares,
    staged_import,
    skill_changes,
    skill_uses,
    skills,
    split_person,
    reviews,
    skill_tests,
    tasks,
    person_data,
    transcripts,
    turns,
    usage,
    usage_sums,
)
BESIDE = "for `Database.browse`: on a connection and a thread of its own"
WALKS = {
    "chat_moves.move": "once for each group that gets a new id",
    "jobs.move_targets": "once for each group that gets a new id",
    "turns.list_recent": "backwards, and it stops at its limit",
    "dead_letters.list_delays": "backwards, and it stops at its limit",
    "person_data.find_subject": BESIDE,
    "person_data.list_foreign_prompts": BESIDE,
    "person_data.list_referenced": BESIDE,
    "outbox.find_by_key": "once for each message that fails after it was accepted",
    "agent_uses.count_jobs": "once for each agent that is archived",
    "person_data.walk_sent": BESIDE,
    "erase_person.erase_answers": "once for each person who is erased",
    "erase_person.erase_audit": "once for each person who is erased",
    "skills.list_needed": "once a week, and when an owner asks",
    "ledger.list_recent": "backwards, and it stops at its limit",
    "turns.list_with_step": "the rows that its limit leaves",
    "outbox.list_all_newest_ids": "backwards, and it stops at its limit",
}

OUTBOX_ROW = OutboxRow(
    chat=Chat(platform="p", address="c"),
    body="b",
    id=OutboxId(1),
    key="k",
    is_live=False,
    state="owed",
    message_id=None,
    shown=None,
    anchor=None,
    attempts=0,
    reason="",
    created_at=1,
    is_whole=True,
)
ENTRY = ArchiveEntry(id=ArchiveId(1), text="t", tags=(), created_at=1, updated_at=1)

ADDED = NewWebhook(
    person_id=PersonId(1), name="n", url="u", kinds=("turn.ended",), secret="s", place="0---0-0"
)

WHOSE = DataSubject(person_ids=(PersonId(1),), accounts=(("p", "u"),), chats=(("p", "c"),))

VALUES: dict[str, Any] = {
    "subject": WHOSE,
    "span": Span(after=0, until=1, before=1),
    "marks": {"key": "value"},
    "guest": "Ben",
    "index": "message_search",
    "pages": 1,
    "period": 1,
    "room_ids": [RoomId(1)],
    "redacted": Message(role="user", parts=()),
    "cleaned": Message(role="user", parts=()),
    "person_ids": [PersonId(1)],
    "owner_ids": [PersonId(1)],
    "group_id": PersonId(1),
    "texts": ["t"],
    "failed": ("tidy",),
    "pieces": ("tidy",),
    "process_id": ProcessId(1),
    "process_ids": [ProcessId(1)],
    "known": [ProcessId(1)],
    "is_pinned": True,
    "fault": "f",
    "is_alone": bool,
    "is_wanted": bool,
    "mark": "[forgotten]",
    "prefix": "k",
    "outbox_ids": [1],
    "leaves": True,
    "question_ids": [1],
    "tasks": [1],
    "sync_items": [1],
    "keys": ["k"],
    "letters": ["lisbon"],
    "step": Step(call_id=CallId("c"), name="n", outcome="o", is_error=False),
    "step_id": 1,
    "turn_file_id": 1,
    "after_key": "a",
    "audit_id": 1,
    "item_id": 1,
    "provider": "honcho",
    "server": "web",
    "listing": "{}",
    "is_shared": False,
    "upto": 9,
    "table": "ledger",
    "to": PersonId(1),
    "before": 1,
    "is_removed": False,
    "spans": [(0, 1)],
    "job_spans": [(JobId(1), 0, 1)],
    "again": ArchiveId(3),
    "archive_id": ArchiveId(1),
    "archive_ids": [ArchiveId(1)],
    "within": ArchiveFilter(person_id=PersonId(1)),
    "newest": 1,
    "offset": 0,
    "tags": (),
    "action": "forget",
    "actor": "house",
    "chat_id": "c",
    "entry": "e",
    "mode": "room",
    "room_id": RoomId(1),
    "share": Share(target="user", entry="e", audience="everyone"),
    "shown": "[]",
    "skill_id": 1,
    "account_id": AccountId(1),
    "request": TurnRequest(
        person_id=PersonId(1), account_id=None, place=Place(chat=Chat(platform="p", address="c"))
    ),
    "asker": None,
    "audience": "room:1",
    "question": NewQuestion(
        person_id=PersonId(1),
        kind="choice",
        text="t",
        choices=(),
        secret="s",
        chat=Chat(platform="p", address="c"),
        expires_at=1,
        turn_id=TurnId(1),
        call_id=CallId("c"),
    ),
    "question_id": QuestionId(1),
    "approval": NewApproval(
        person_id=PersonId(1), decided_by=PersonId(1), scope="once", subject="d", expires_at=1
    ),
    "approval_id": ApprovalId(1),
    "digest": "d",
    "token": ApiToken(
        id=1, person_id=PersonId(1), name="n", scope="mcp", created_at=1, last_used_at=None
    ),
    "token_id": 1,
    "added": ADDED,
    "webhook": Webhook(
        person_id=PersonId(1),
        name="n",
        url="u",
        kinds=("turn.ended",),
        secret="s",
        place="0---0-0",
        id=1,
        state="active",
        reason="",
        failures=0,
        due_at=0,
        created_at=1,
        old_secret="",
        old_until=0,
    ),
    "old_until": 1,
    "webhook_id": 1,
    "status": 200,
    "delivery": NewDelivery(event_id="e", kind="turn.ended", payload="{}"),
    "delivery_id": 1,
    "failures": 1,
    "process": NewProcess(
        conversation_id=ConversationId(1), turn_id=TurnId(1), workspace="ana", wants_note=True
    ),
    "queue": tasks.Queue(kinds=("speech",), is_listed=False),
    "learning": "quiet",
    "summary": "daily",
    "until": TurnId(9),
    "reached": {"c": "1"},
    "person": Person(id=PersonId(1), slug="s", name="n", role="member", time_zone=None),
    "by": PersonId(1),
    "account": NewAccount(platform="p", user_id="u", display_name="d", admitted_by="code"),
    "saying": JobMessage(
        turn_id=TurnId(1),
        run_id=RunId(1),
        conversation_id=ConversationId(1),
        session_id=SessionId(1),
        person_id=PersonId(1),
        account_id=None,
        chat=Chat(platform="p", address="c"),
    ),
    "back": PersonId(1),
    "block_id": BlockId(1),
    "description": "d",
    "is_read_only": True,
    "label": "l",
    "agent": "coder",
    "chats": ("a", "b"),
    "first": TurnId(1),
    "second": TurnId(2),
    "reactions": [("m", "👍")],
    "verdict": "liked",
    "made_id": None,
    "new": NewBlock(slug="s", label="l", description="d", limit=1, made_by=PersonId(1)),
    "entry_id": 1,
    "compaction": NewCompaction(
        turn_id=None,
        made_after=MessageId(1),
        shortened_to=MessageId(1),
        summarized_to=MessageId(1),
        kept=(),
        summary="s",
        reason="near",
        tokens_before=2,
        tokens_after=1,
        created_at=1,
    ),
    "absorbed": PersonId(2),
    "into": PersonId(2),
    "kept": PersonId(1),
    "link_id": LinkId(1),
    "other": OtherSide(platform="p", user_id="u", name="n", chat="c", person_id=None),
    "out_of": PersonId(1),
    "rename": str.upper,
    "turn_ids": [TurnId(1)],
    "after": "m",
    "anchor": None,
    "answers": None,
    "body": "b",
    "buttons": (),
    "call_id": CallId("c"),
    "call_key": "k",
    "calls": [(CallId("c"), "n", "read")],
    "change": Change(operation="add", position=0, before=None, after="a"),
    "chat": "c",
    "code_hash": "h",
    "secret_hash": "h",
    "reader_id": PersonId(2),
    "code_id": 1,
    "conversation": Conversation(
        id=ConversationId(1), key="k", kind="direct", person_id=PersonId(1), scope="p1"
    ),
    "conversation_id": ConversationId(1),
    "data": b"d",
    "outgoing": NewOutboxMessage(chat=Chat(platform="p", address="c"), body="b"),
    "due_at": 1,
    "event_id": "e",
    "events": [("e", "{}")],
    "expires_at": 1,
    "field": SearchFilter(person_id=PersonId(1), scope="p1", except_turn=TurnId(0)),
    "at": 1,
    "days": [6, 7],
    "names": ["terminal", "todo"],
    "message": NewDeferredMessage(
        person_id=PersonId(1),
        chat=Chat(platform="p", address="c"),
        title="t",
        body="b",
        release_at=1,
    ),
    "ids": [1],
    "is_over": False,
    "job_id": JobId(1),
    "job_ids": [JobId(1)],
    "missed": 1,
    "run_id": RunId(1),
    "version_id": 1,
    "slot": ("s", 1),
    "is_open": False,
    "choices": (),
    "slots": [("s", 1)],
    "run": Run(
        id=RunId(1),
        job_id=JobId(1),
        slot="s",
        slot_at=1,
        due_at=1,
        state="waiting",
        missed=1,
        attempts=0,
        reason="",
        started_at=None,
        ended_at=None,
    ),
    "inbox_id": InboxId(1),
    "inbox_ids": [InboxId(1)],
    "is_direct": True,
    "key": "k",
    "kind": "k",
    "limit": 1,
    "local_platform": "console",
    "media_type": "text/plain",
    "message_id": "m",
    "model": "m",
    "name": "n",
    "note": "n",
    "now": 1,
    "origin": Origin(actor="hand", now=1),
    "outbox_id": OutboxId(1),
    "outcome": "o",
    "outcome_at": 7,
    "payload": "{}",
    "person_id": PersonId(1),
    "place": Place(chat=Chat(platform="p", address="c")),
    "platform": "p",
    "projection": Projection(current="a", previous=None, base=0),
    "prompt_hash": PromptHash("h"),
    "purpose": "pairing",
    "reason": "r",
    "detail": "e",
    "role": "member",
    "scope": "p1",
    "session_id": SessionId(1),
    "owner_id": PersonId(1),
    "plan": [PlanItem(text="t")],
    "session_ids": [SessionId(1)],
    "since": 0,
    "today": 0,
    "words": "w",
    "text_row": 1,
    "row_id": 1,
    "why": "w",
    "skill": (1, "n", 1),
    "cause": "0",
    "is_asked": False,
    "slug": "s",
    "call": ModelCall(
        purpose="p",
        model="m",
        input_tokens=1,
        cache_read_tokens=1,
        cache_write_tokens=1,
        output_tokens=1,
        micro_dollars=1,
    ),
    "sites": {"s": 1},
    "state": "running",
    "system": "s",
    "target": "user",
    "task_id": TaskId(1),
    "text": "t",
    "title": "t",
    "tools": "[]",
    "turn_id": TurnId(1),
    "caller_id": TurnId(1),
    "user_id": "u",
    "user_ids": ["u"],
    "value": "v",
    "term": Term(word="a"),
    "terms": [Term(word="a")],
    "message_ids": [MessageId(1)],
    "most": 1,
    "oldest_first": False,
    "reach": 1,
}
PAST_TURN = PastTurn(began_at=1, ended_at=1, said=())
JOB = Job(
    id=JobId(1),
    person_id=PersonId(1),
    room_id=None,
    kind="prompt",
    title="t",
    body="b",
    timing="cron 0 8 * * 1",
    zone="UTC",
    late="skip",
    options=Options(),
    targets=(),
    is_urgent=False,
    next_slot=("s", 1),
    actor="turn:1",
    state="active",
    reason="",
    failures=0,
    created_at=1,
)
AGENT_MESSAGE = AgentMessage(
    turn_id=TurnId(1),
    call_id=CallId("c"),
    agent="a",
    chain=("",),
    base="direct:1",
    owner_id=PersonId(1),
    person_id=PersonId(1),
    is_private=True,
    room_id=None,
    is_tainted=False,
)
ODD_VALUES: dict[str, dict[str, Any]] = {
    "codes.find_pairing": {"code": "h"},
    "past_import.list_present": {"table": "messages", "rows": [(1, 1)]},
    "chat_moves.move": {"chat_ids": ("-7", "-100"), "starts": ('["-7",', '["-100",')},
    "jobs.move_targets": {"starts": ('["-7",', '["-100",')},
    "webhooks.move_place": {"place": "0---0-0"},
    "webhooks.restore": {"place": "0---0-0"},
    "webhooks.change": {"name": "n", "url": "u", "kinds": ("turn.ended",)},
    "webhooks.replace_secret": {"secret": "s"},
    "external_sync.list_changed": {"after": 0},
    "outbox.list_newest_shown": {"chat": Chat(platform="p", address="c")},
    "outbox.mark_sent": {"version": "2"},
    "outbox.find_shown": {"chat": Chat(platform="p", address="c"), "message_id": "m"},
    "delivery_targets.set_home": {"chat": Chat(platform="p", address="c")},
    "account_links.insert": {"chat": Chat(platform="p", address="c")},
    "client_calls.record": {"chat": Chat(platform="p", address="c")},
    "questions.move": {"chat": Chat(platform="p", address="c")},
    "turns.list_with_step": {"step": "n", "among": 1},
    "past_import.begin_session": {"began_at": 1},
    "staged_import.begin": {"began_at": 1},
    "staged_import.publish": {
        "into": NewConversation(key="k", kind="direct", person_id=PersonId(1), is_direct=True)
    },
    "past_import.begin_turn": {"turn": PAST_TURN},
    "past_import.insert_turn": {"turn": PAST_TURN},
    "private_history.list_history": {
        "chat": Chat(platform="p", address='["c"]'),
        "present": Present(
            conversation_id=ConversationId(1), session_id=SessionId(1), title="", since=1
        ),
    },
    "session_list.list_newest": {"skip": 0, "words": "w"},
    "session_list.find_end": {"message_id": MessageId(1), "later": 1},
    "deferred_messages.redirect": {"deferred_id": 1, "chat": Chat(platform="p", address="c")},
    "jobs.insert": {"job": JOB},
    "jobs.change": {"job": JOB},
    "person_data.walk_texts": {"kind": "titles"},
    "disappearing.note": {"due_at": 1},
    "disappearing.begin_telling": {"chat": "digest"},
    "retention.find_newest": {"kind": "inbox"},
    "message_index.drop_message": {"message_id": MessageId(1), "entries": ["p1_a"]},
    "retention.has_old": {"kind": "outbox"},
    "memory_owners.list_all": {"after": PersonId(0)},
    "incidents.begin": {"subject": "s", "details": {}},
    "incidents.end": {"subject": "s"},
    "skill_changes.list_later": {"after": 1},
    "transcripts.list_timed_turns": {"after": 1, "open_turns": [TurnId(1)]},
    "usage.has_answered": {"after": 1},
    "evidence.add_turn_evidence": {"origin": Origin(actor="turn:1", now=1)},
    "archive.delete": {"entry": ENTRY},
    "messages.append": {
        "place": TranscriptPlace(
            session_id=SessionId(1),
            turn_id=TurnId(1),
            person_id=PersonId(1),
            conversation_id=ConversationId(1),
            platform="p",
        ),
        "messages": [Message(role="user", parts=(TextPart(text="a"),))],
    },
    "audit.record": {
        "entry": AuditEntry(person_id=PersonId(1), actor="a", action="b", detail="c", created_at=1)
    },
    "deeds.record": {
        "doer": DOER,
        "deed": NewDeed(undo="jobs delete 1 yes", did="a"),
        "pressed": (),
    },
    "deeds.record_receipts": {
        "doer": DOER,
        "receipts": [Receipt(text="a", undo="jobs delete 1 yes")] * 2,
    },
    "deeds.take_back": {
        "doer": DOER,
        "deed": Deed(id=1, undo="jobs delete 1 yes", at=1),
        "redo": "jobs restore 1",
    },
    "deeds.leave_out": {"doer": DOER, "deed": Deed(id=1, undo="jobs delete 1 yes", at=1)},
    "deeds.list_standing": {"doer": DOER},
    "deeds.list_taken_back": {"doer": DOER},
    "deeds.find_last_id": {"doer": DOER},
    "deeds.find_last_moment": {"doer": DOER},
    "deeds.drop_words": {"deed_id": 1},
    "deeds.bring_back": {"doer": DOER, "deed_id": 1},
    "deeds.find_brought": {"doer": DOER, "deed_id": 1},
    "deeds.find_redo": {"doer": DOER, "deed_id": 1},
    "archive.update": {"old": ENTRY, "new": ENTRY},
    "sessions.ensure_conversation": {
        "new": NewConversation(key="k", kind="room", person_id=PersonId(1), is_direct=False)
    },
    "message_index.index_message": {"message_id": MessageId(1), "entries": ["p1_a"]},
    "processes.end": {"status": 0, "reason": ""},
    "outbox.bind": {"row": OUTBOX_ROW},
    "job_history.list_answers": {"after": MessageId(1), "turns": 1},
    "job_runs.answer": {"known": ""},
    "job_runs.is_unwanted": {"slot": "s"},
    "job_runs.want_again": {"slot": "s"},
    "batch_tasks.insert": {"row": BatchRow(id=1, line=1, payload="{}", state="owed")},
    "passages.list_around": {"message_id": MessageId(1)},
    "outbox.count": {"state": "owed"},
    "delegated_turns.find": {"key": "helper:1:1:c"},
    "agent_messages.send": {"message": AGENT_MESSAGE},
    "agent_messages.find_call": {"message": AGENT_MESSAGE},
    "merge_people.empty_conversation": {"into": ConversationId(2)},
    "account_links.close": {"outcome": "over"},
    "removed_conversations.set_removed": {"removed_at": 1},
    "past_sessions.fork": {
        "point": ForkPoint(
            conversation_id=ConversationId(1),
            session_id=SessionId(1),
            title="",
            is_running=False,
            until=MessageId(1),
        )
    },
    "removed_conversations.mark": {"removed_at": 1},
    "split_person.move_turns": {"out_of": VALUES["conversation"], "to": VALUES["conversation"]},
    "split_person.split": {
        "account": Account(
            id=AccountId(1),
            person_id=PersonId(1),
            platform="p",
            user_id="u",
            display_name="d",
            admitted_by="code",
            created_at=1,
            came_from=None,
        )
    },
}


class Recording(sqlite3.Connection):
    """A connection that remembers what it was asked, with the values."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.asked: list[tuple[str, Any]] = []

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self.asked.append((sql, parameters))
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any) -> sqlite3.Cursor:
        rows = list(parameters)
        if rows:
            self.asked.append((sql, rows[0]))
        return super().executemany(sql, rows)


def _queries() -> dict[str, Callable[..., object]]:
    """Every public function that asks the database, by room and name."""
    return {
        f"{room.__name__.rpartition('.')[2]}.{name}": function
        for room in ROOMS
        for name, function in inspect.getmembers(room, inspect.isfunction)
        if function.__module__ == room.__name__
        and not name.startswith("_")
        and "connection" in inspect.signature(function).parameters
    }


QUERIES = _queries()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    """One database for all queries; each is taken back."""
    path = tmp_path_factory.mktemp("plans") / "plans.db"
    connection = sqlite3.connect(path, isolation_level=None, factory=Recording)
    create_schema(connection)
    # A plan shows walks that the keys would need only if a row were missing its parent.
    connection.execute("PRAGMA foreign_keys = OFF")
    message_index.index_message(
        connection, message_id=MessageId(1), entries=["p1_a"]
    )  # can be let go of
    yield connection
    connection.close()


@contextmanager
def _transaction(filled: Recording) -> Iterator[Recording]:
    """A transaction, as a query has it in the gateway."""
    filled.execute("BEGIN")
    filled.asked.clear()
    try:
        yield filled
    finally:
        filled.rollback()


@pytest.fixture
def recording(filled: Recording) -> Iterator[Recording]:
    with _transaction(filled) as recording:
        yield recording


def _ask(name: str, connection: Recording) -> None:
    """Call a query with any values; that it finds nothing or breaks a key does not matter."""
    function = QUERIES[name]
    values = {**VALUES, **ODD_VALUES.get(name, {})}
    wanted = [key for key in inspect.signature(function).parameters if key != "connection"]
    try:
        given = function(connection, **{key: values[key] for key in wanted})
        if inspect.isgenerator(given):
            deque(given, maxlen=0)
    except (sqlite3.IntegrityError, TypeError, IndexError):
        assert connection.asked


def _walks(connection: Recording) -> list[str]:
    """Steps in the plans of what was asked that read a growing table from end to end."""
    found = []
    for sql, parameters in list(connection.asked):
        plan = sqlite3.Connection.execute(connection, f"EXPLAIN QUERY PLAN {sql}", parameters)
        for *_, detail in plan.fetchall():
            if any(detail == f"SCAN {table}" for table in GROWING):
                found.append(f"{detail}: {sql}")
    return found


def test_no_query_walks_through_a_growing_table(filled: Recording) -> None:
    def check(name: str) -> None:
        with _transaction(filled) as recording:
            if name == "scrubbing.vacuum":
                recording.rollback()  # SQLite refuses it within a transaction
            _ask(name, recording)
            assert recording.asked
            assert bool(_walks(recording)) == (name in WALKS)

    check_each(sorted(QUERIES), check)


def test_few_texts_of_a_person_are_found_by_a_walk(filled: Recording) -> None:
    def check(kind: str) -> None:
        with _transaction(filled) as recording:
            deque(person_data.walk_texts(recording, kind=kind, subject=VALUES["subject"]), 0)
            assert bool(_walks(recording)) == (kind in ("foreign_changes", "tasks"))

    check_each(sorted(person_data.TEXTS), check)


def test_a_walk_would_be_seen(recording: Recording) -> None:
    recording.execute("SELECT COUNT(*) FROM inbox WHERE payload = :payload", {"payload": "x"})
    assert _walks(recording) == ["SCAN inbox: SELECT COUNT(*) FROM inbox WHERE payload = :payload"]


def test_every_query_module_is_covered() -> None:
    folder = Path(inspect.getfile(inbox)).parents[1]
    no_queries = {"__init__", "inspect", "images", "foreign_sessions", "missed_slots"}
    no_queries |= {"search_scope", "token_scopes"}
    no_queries |= {file.stem for file in (folder / "engine").glob("*.py")} - {"meta"}
    no_queries |= {file.stem for file in (folder / "backups").glob("*.py")}
    covered = {room.__name__.rpartition(".")[2] for room in ROOMS}
    assert {file.stem for file in folder.glob("*/*.py")} - no_queries == covered
