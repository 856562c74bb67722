"""Every table is known to what erases: whoever adds one has to say what becomes of it."""

import inspect
import re
import sqlite3

from agent_core.privacy.erasure import person
from agent_core.state.lifecycle import erase_person, redact
from agent_core.state.memory import archive, ledger

NOBODYS = {
    "read_positions": "numbers of channels, and how far each was read; no words",
    "incidents": "what is wrong with the gateway; no words of people",
    "meta": "what the gateway remembers of itself, but for projections and marks of work owed",
    "model_facts": "what servers of models can do; no words of people",
    "message_search_config": "the index's own",
    "prompts": "emptied, where no other talk has them",
    "skill_uses": "numbers of skills and turns, and how each went; no words",
    "usage_sums": "sums of the numbers that `usage` keeps of someone erased; no words",
    "skills": "names of folders of the gateway's, and how often jobs used them",
}
HANDLED = {
    *("accounts", "archive", "archive_search", "audit", "block_readers", "blocks"),
    *(
        "conversations",
        "files",
        "compactions",
        "guesses",
        "deferred_messages",
        "inbox",
        "job_marks",
        "job_runs",
        "job_versions",
        "jobs",
    ),
    *(
        "ledger",
        "link_codes",
        "link_requests",
        "message_search",
        "messages",
        "external_sync",
        "outbox",
    ),
    *(
        "people",
        "processes",
        "questions",
        "unreachable_chats",
        "rooms",
        "sessions",
        "shares",
        "steps",
        "tasks",
    ),
    *("room_presence", "strangers", "approvals", "api_tokens", "mcp_accounts"),
    *("webhooks", "webhook_deliveries"),
    *("browser_logins", "login_links", "reading_consents"),
    *("page_fetches", "turn_files", "turns", "usage"),
}


def test_whoever_adds_a_table_says_what_erasing_does_to_it(connection: sqlite3.Connection) -> None:
    tables = {
        row[0]
        for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not re.search(r"_search_\w+$|^sqlite_", row[0])
    }
    assert tables - set(NOBODYS) == HANDLED


def test_every_such_table_is_written_by_what_erases() -> None:
    source = "".join(map(inspect.getsource, (erase_person, redact, archive, ledger, person)))
    written = set(re.findall(r"(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)", source))
    # By way of `message_index.drop_message`, `jobs.redact`, and a name put into the statement.
    indirect = {"message_search", "job_marks", "jobs", "job_versions", "steps", "turn_files"}
    assert HANDLED - written <= indirect
