"""Asks Talaria over HTTP, with nothing but the standard library."""

import http.client
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, cast
from urllib.parse import quote, urlencode, urlsplit

from talaria_client import types

_PAGE = 100
_PATIENCE = 600.0
"""Seconds for an answer: a turn may wait ten minutes for an approval."""


class TalariaError(Exception):
    """A refused request. `code` is for programs, the message for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Talaria:
    """One person's access to one Talaria. Each method raises `TalariaError` and `OSError`."""

    def __init__(self, address: str, token: str, *, timeout: float = _PATIENCE) -> None:
        """Ask at `address`, such as http://127.0.0.1:8765; `timeout` is in seconds."""
        parts = urlsplit(address)
        self._kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self._host, self._prefix = parts.netloc, parts.path.rstrip("/")
        self._token, self._timeout = token, timeout

    def ask(self, text: str, *, conversation: str = "", key: str = "") -> str:
        """Send a message, wait, and return the answer."""
        return self.send(text, conversation=conversation, key=key)["answer"] or ""

    def send(
        self,
        text: str,
        *,
        conversation: str = "",
        reply: Literal["wait", "later"] = "wait",
        key: str = "",
    ) -> types.SentMessage:
        """Send a message; with `later`, `message` tells its answer afterwards."""
        body = {"text": text, "conversation": conversation, "reply": reply}
        return cast(types.SentMessage, self._post("/messages", body, key))

    def stream(self, text: str, *, conversation: str = "", key: str = "") -> Iterator[str]:
        """Send a message, and give the pieces of the answer as they are written."""
        body = {"text": text, "conversation": conversation, "reply": "stream"}
        for _, name, fields in self._listen("POST", "/messages", body, _name(key)):
            if name == "delta":
                yield fields["text"]
            elif "error" in fields:
                raise TalariaError(200, fields["error"]["code"], fields["error"]["message"])

    def message(self, message_id: str) -> types.SentMessage:
        """Show what became of a message."""
        return cast(types.SentMessage, self._get(f"/messages/{quote(message_id)}"))

    def me(self) -> types.PersonModel:
        """Show the person of the token."""
        return cast(types.PersonModel, self._get("/me"))

    def settings(self) -> dict[str, str]:
        """Return your settings, as you would enter them."""
        return cast(dict[str, str], self._get("/settings"))

    def change_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Change some of your settings, or none if one value is wrong; "" resets one."""
        answer = json.loads(self._ask("PATCH", "/settings", dict(settings)))
        return cast(dict[str, str], answer)

    def people(self) -> Iterator[types.PersonModel]:
        """List everybody, newest first; for owners."""
        return self._walk("/people", "people")

    def conversations(self) -> Iterator[types.ConversationModel]:
        """List all conversations, newest first."""
        return self._walk("/conversations", "conversations")

    def removed_conversations(self) -> Iterator[types.ConversationModel]:
        """List the removed conversations, newest first."""
        return self._walk("/conversations", "conversations", removed="true")

    def fork(self, conversation: int, message: int, *, key: str = "") -> types.ConversationModel:
        """Begin a conversation with what another one holds up to a message."""
        made = self._post(f"/conversations/{conversation}/fork", {"message": message}, key=key)
        return cast(types.ConversationModel, made)

    def remove_conversation(self, conversation: int) -> None:
        """Remove a forked conversation from lists and search."""
        self._ask("DELETE", f"/conversations/{conversation}")

    def restore_conversation(self, conversation: int) -> types.ConversationModel:
        """Bring a removed conversation back."""
        return cast(types.ConversationModel, self._post(f"/conversations/{conversation}/restore"))

    def messages(self, conversation: int) -> Iterator[types.MessageModel]:
        """List all messages of a conversation, newest first."""
        return self._walk(f"/conversations/{conversation}/messages", "messages")

    def recall(self, query: str, *, limit: int = 10) -> list[types.HitModel]:
        """Search everything that was said."""
        found = self._get("/recall", query=query, limit=limit)
        return cast(types.RecallModel, found)["hits"]

    def turns(self) -> Iterator[types.TurnModel]:
        """List all turns, newest first."""
        return self._walk("/turns", "turns")

    def turn(self, turn: int) -> types.TurnDetail:
        """Show a turn with its steps and its cost."""
        return cast(types.TurnDetail, self._get(f"/turns/{turn}"))

    def requests(self, turn: int) -> types.TurnRequests:
        """Show what the model read in a turn."""
        return cast(types.TurnRequests, self._get(f"/turns/{turn}/requests"))

    def judge(self, turn: int, verdict: Literal["good", "bad", "none"]) -> None:
        """Say whether an answer that was made with a skill was good; `none` takes it back."""
        self._ask("PUT", f"/turns/{turn}/verdict", {"verdict": verdict})

    def file(self, turn: int, number: int) -> bytes:
        """Return a file that a turn made."""
        return self._ask("GET", f"/turns/{turn}/files/{number}")

    def files(self, folder: str = "") -> list[types.WorkspaceFile]:
        """Return what is in a folder of the workspace."""
        return cast(types.WorkspaceFolder, self._get("/files", folder=folder))["files"]

    def read_file(self, path: str) -> bytes:
        """Return a file of the workspace."""
        return self._ask("GET", f"/files/content?{urlencode({'path': path})}")

    def add_file(self, path: str, data: bytes) -> str:
        """Add a file to the workspace, and return its path. It replaces nothing."""
        answer = json.loads(self._ask("POST", f"/files?{urlencode({'path': path})}", data))
        return cast(types.AddedFile, answer)["path"]

    def memory(self) -> types.MemoryModel:
        """Show what is remembered."""
        return cast(types.MemoryModel, self._get("/memory"))

    def remember(self, text: str, *, list_name: Literal["user", "memory"] = "user") -> int:
        """Add an entry to your memory, and return the number of the change."""
        return self._edit("POST", "", {"text": text, "list": list_name})

    def change_memory(self, entry: int, text: str) -> int:
        """Change an entry of your memory, and return the number of the change."""
        return self._edit("PATCH", f"/{entry}", {"text": text})

    def forget(self, entry: int) -> int:
        """Remove an entry of your memory, and return the number of the change."""
        return self._edit("DELETE", f"/{entry}", None)

    def share(self, entry: int, sees: Literal["everyone", "nobody"] = "everyone") -> None:
        """Let everyone see an entry of your memory in groups, or nobody else."""
        self._ask("PUT", f"/memory/entries/{entry}/audience", {"sees": sees})

    def _edit(self, method: str, path: str, body: object) -> int:
        answer = json.loads(self._ask(method, f"/memory/entries{path}", body))
        return cast(types.UndoneModel, answer)["id"]

    def changes(self) -> Iterator[types.ChangeModel]:
        """List all changes of memory, newest first."""
        return self._walk("/memory/ledger", "changes")

    def undo(self, change: int) -> int:
        """Undo a change of memory; return the id of the change that does so."""
        return cast(types.UndoneModel, self._post(f"/memory/ledger/{change}/undo"))["id"]

    def archive(self, query: str = "") -> Iterator[types.ArchiveModel]:
        """List all notes, newest first, or the best for a query."""
        return self._walk("/archive", "entries", step="offset", query=query)

    def note(self, entry: int) -> types.ArchiveModel:
        """Show a note."""
        return cast(types.ArchiveModel, self._get(f"/archive/{entry}"))

    def blocks(self) -> list[types.BlockModel]:
        """List the shared lists that the person sees."""
        return cast(types.BlockList, self._get("/blocks"))["blocks"]

    def make_block(self, block: types.NewBlock) -> types.BlockAnswer:
        """Make a memory block, which only you see until you share it."""
        return cast(types.BlockAnswer, self._post("/blocks", block))

    def change_block(self, name: str, change: types.BlockChange) -> types.BlockAnswer:
        """Change a memory block that you made."""
        asked = self._ask("PATCH", f"/blocks/{quote(name)}", change)
        return cast(types.BlockAnswer, json.loads(asked))

    def drop_block(self, name: str) -> types.BlockAnswer:
        """Delete a memory block that you made."""
        return cast(types.BlockAnswer, json.loads(self._ask("DELETE", f"/blocks/{quote(name)}")))

    def share_block(self, name: str, reader: str) -> types.BlockAnswer:
        """Let somebody see a memory block; owners can name everyone."""
        path = f"/blocks/{quote(name)}/readers/{quote(reader)}"
        return cast(types.BlockAnswer, json.loads(self._ask("PUT", path)))

    def unshare_block(self, name: str, reader: str) -> types.BlockAnswer:
        """Hide a memory block from somebody, or from `me`."""
        path = f"/blocks/{quote(name)}/readers/{quote(reader)}"
        return cast(types.BlockAnswer, json.loads(self._ask("DELETE", path)))

    def questions(self) -> list[types.QuestionModel]:
        """List what waits for the person."""
        return cast(types.QuestionList, self._get("/questions"))["questions"]

    def answer(self, question: int, choice: str) -> None:
        """Answer a question with the key of a choice."""
        self._post(f"/questions/{question}/answer", {"choice": choice})

    def dismissed(self) -> list[types.QuestionModel]:
        """List the changes that the person did not accept, newest first."""
        return cast(types.QuestionList, self._get("/questions/dismissed"))["questions"]

    def restore(self, question: int) -> None:
        """Let a dismissed change wait for an answer again."""
        self._post(f"/questions/{question}/restore")

    def approvals(self) -> list[types.ApprovalModel]:
        """List what is allowed in advance."""
        return cast(types.ApprovalList, self._get("/approvals"))["approvals"]

    def revoke(self, approval: int) -> None:
        """Revoke an approval."""
        self._ask("DELETE", f"/approvals/{approval}")

    def jobs(self) -> list[types.JobModel]:
        """List the jobs."""
        return cast(types.JobList, self._get("/jobs"))["jobs"]

    def job(self, job: int) -> types.JobDetail:
        """Show a job with its words."""
        return cast(types.JobDetail, self._get(f"/jobs/{job}"))

    def runs(self, job: int) -> list[types.RunModel]:
        """List the newest runs of a job."""
        return cast(types.RunList, self._get(f"/jobs/{job}/runs", limit=_PAGE))["runs"]

    def create_job(self, new: types.NewJob, *, key: str = "") -> types.JobDetail:
        """Create a job."""
        return cast(types.JobDetail, self._post("/jobs", new, key))

    def change_job(self, job: int, change: types.JobChange) -> types.JobDetail:
        """Change a job."""
        return cast(types.JobDetail, json.loads(self._ask("PATCH", f"/jobs/{job}", change)))

    def act_on_job(
        self, job: int, verb: Literal["run", "pause", "resume", "restore", "undo"], *, key: str = ""
    ) -> types.JobDetail:
        """Run, pause, resume or restore a job, or undo its last change."""
        return cast(types.JobDetail, self._post(f"/jobs/{job}/{verb}", None, key))

    def delete_job(self, job: int) -> None:
        """Delete a job."""
        self._ask("DELETE", f"/jobs/{job}")

    def webhooks(self) -> list[types.WebhookModel]:
        """List the outgoing webhooks."""
        return cast(types.WebhookList, self._get("/webhooks"))["webhooks"]

    def webhook(self, webhook: int) -> types.WebhookModel:
        """Show an outgoing webhook."""
        return cast(types.WebhookModel, self._get(f"/webhooks/{webhook}"))

    def add_webhook(self, new: types.NewWebhook, *, key: str = "") -> types.AddedWebhook:
        """Add a webhook; only this answer has its secret."""
        return cast(types.AddedWebhook, self._post("/webhooks", new, key))

    def act_on_webhook(
        self, webhook: int, verb: Literal["test", "pause", "resume", "restore"], *, key: str = ""
    ) -> types.WebhookModel:
        """Test, pause or resume a webhook, or bring a removed one back."""
        return cast(types.WebhookModel, self._post(f"/webhooks/{webhook}/{verb}", None, key))

    def change_webhook(self, webhook: int, change: types.WebhookChange) -> types.WebhookModel:
        """Change a webhook."""
        answer = self._ask("PATCH", f"/webhooks/{webhook}", change)
        return cast(types.WebhookModel, json.loads(answer))

    def rotate_webhook(self, webhook: int) -> types.RotatedWebhook:
        """Replace the secret of a webhook; only this answer has the new one."""
        return cast(types.RotatedWebhook, self._post(f"/webhooks/{webhook}/rotate"))

    def deliveries(self, webhook: int) -> Iterator[types.DeliveryModel]:
        """List all deliveries of a webhook, newest first."""
        return self._walk(f"/webhooks/{webhook}/deliveries", "deliveries")

    def redeliver(self, webhook: int, delivery: int) -> types.DeliveryModel:
        """Send a delivery again."""
        place = f"/webhooks/{webhook}/deliveries/{delivery}/redeliver"
        return cast(types.DeliveryModel, self._post(place))

    def remove_webhook(self, webhook: int) -> None:
        """Remove a webhook."""
        self._ask("DELETE", f"/webhooks/{webhook}")

    def skills(self) -> list[types.SkillModel]:
        """List the skills."""
        return cast(types.SkillList, self._get("/skills"))["skills"]

    def skill(self, name: str) -> types.SkillDetail:
        """Show a skill with its text."""
        return cast(types.SkillDetail, self._get(f"/skills/{quote(name)}"))

    def agents(self) -> list[types.AgentDetail]:
        """List the named agents."""
        return cast(types.AgentDetails, self._get("/agents"))["agents"]

    def agent(self, name: str) -> types.AgentDetail:
        """Show a named agent."""
        return cast(types.AgentDetail, self._get(f"/agents/{quote(name)}"))

    def make_agent(self, new: types.NewAgent) -> types.AgentDetail:
        """Make a named agent, as an owner."""
        return cast(types.AgentDetail, self._post("/agents", new))

    def change_agent(self, name: str, change: types.AgentChange) -> types.AgentDetail:
        """Change a named agent, as an owner."""
        answer = self._ask("PATCH", f"/agents/{quote(name)}", change)
        return cast(types.AgentDetail, json.loads(answer))

    def move_agent(self, name: str, source: str, target: str) -> types.AgentDetail:
        """Move an agent from one team to another, as an owner."""
        move = {"source": source, "target": target}
        return cast(types.AgentDetail, self._post(f"/agents/{quote(name)}/move", move))

    def act_on_agent(self, name: str, verb: Literal["archive", "restore"]) -> None:
        """Put an agent away or bring it back, as an owner."""
        self._post(f"/agents/{quote(name)}/{verb}")

    def import_agent(self, file: bytes, *, name: str = "") -> types.ImportedAgentModel:
        """Bring in an agent from an agent file (`.af`), as an owner."""
        answer = self._ask("POST", f"/agents/import?{urlencode({'name': name})}", file)
        return cast(types.ImportedAgentModel, json.loads(answer))

    def export_agent(self, name: str) -> bytes:
        """Return an agent file with an agent, its blocks and your messages, as an owner."""
        return self._ask("GET", f"/agents/{quote(name)}/file")

    def teams(self) -> list[types.TeamModel]:
        """List the teams of agents."""
        return cast(types.TeamList, self._get("/teams"))["teams"]

    def team(self, name: str) -> types.TeamModel:
        """Show a team of agents."""
        return cast(types.TeamModel, self._get(f"/teams/{quote(name)}"))

    def make_team(self, new: types.NewTeam) -> types.TeamModel:
        """Make a team of agents, as an owner."""
        return cast(types.TeamModel, self._post("/teams", new))

    def change_team(self, name: str, change: types.TeamChange) -> types.TeamModel:
        """Change a team of agents, as an owner."""
        return cast(
            types.TeamModel, json.loads(self._ask("PATCH", f"/teams/{quote(name)}", change))
        )

    def act_on_team(self, name: str, verb: Literal["archive", "restore"]) -> None:
        """Put a team away or bring it back, as an owner."""
        self._post(f"/teams/{quote(name)}/{verb}")

    def export(self) -> bytes:
        """Return a zip archive of all data of the person."""
        return self._ask("GET", "/export")

    def forget_words(
        self, words: str, *, has_messages: bool = False, delete: bool = False
    ) -> types.ForgottenModel:
        """Find words in the data of the person; with `delete`, delete them for good."""
        asked = {"words": words, "has_messages": has_messages, "delete": delete}
        return cast(types.ForgottenModel, self._post("/forget", asked))

    def curator(self) -> types.CuratorModel:
        """Show how tidy the memory is, and what the curator suggests."""
        return cast(types.CuratorModel, self._get("/curator"))

    def tidy_up(self) -> types.StartedModel:
        """Tidy up now."""
        return cast(types.StartedModel, self._post("/curator/run"))

    def decide_proposal(self, key: str, choice: Literal["accept", "decline"]) -> types.DecidedModel:
        """Accept or decline a suggestion of the curator."""
        return cast(types.DecidedModel, self._post(f"/curator/proposals/{quote(key)}/{choice}"))

    def rooms(self) -> list[types.RoomModel]:
        """List the groups and channels, as an owner."""
        return cast(types.RoomModels, self._get("/rooms"))["rooms"]

    def change_room(self, number: int, change: types.RoomChange) -> types.RoomModel:
        """Change how a group is answered, or its name, as an owner."""
        return cast(types.RoomModel, json.loads(self._ask("PATCH", f"/rooms/{number}", change)))

    def usage(self, *, days: int = 30) -> types.UsageModel:
        """Show the usage of the last days."""
        return cast(types.UsageModel, self._get("/usage", days=days))

    def events(self, last: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Follow what happens, as (id, name, fields); an id is where `last` continues."""
        return self._listen("GET", "/events", None, {"Last-Event-ID": last} if last else {})

    def _walk(self, path: str, name: str, *, step: str = "before", **query: Any) -> Iterator[Any]:
        """Give the items of all pages."""
        while True:
            page = self._get(path, limit=_PAGE, **query)
            yield from page[name]
            if page["next"] is None:
                return
            query[step] = page["next"]

    def _get(self, path: str, **query: Any) -> Any:
        return json.loads(self._ask("GET", f"{path}?{urlencode(query)}" if query else path))

    def _post(self, path: str, body: object = None, key: str = "") -> Any:
        answer = self._ask("POST", path, body, _name(key))
        return json.loads(answer) if answer else None

    def _ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        with self._open(method, path, body, headers or {}) as answer:
            return answer.read()

    @contextmanager
    def _open(
        self, method: str, path: str, body: object, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request; the connection ends with the block. Raises `TalariaError`."""
        sent = {"Authorization": f"Bearer {self._token}", **headers}
        if body is not None:
            is_file = isinstance(body, bytes)
            sent["Content-Type"] = "application/octet-stream" if is_file else "application/json"
        connection = self._kind(self._host, timeout=self._timeout)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body)
            connection.request(method, f"{self._prefix}/api{path}", data, sent)
            answer = connection.getresponse()
            if answer.status >= http.HTTPStatus.BAD_REQUEST:
                raise _read_error(answer)
            yield answer
        finally:
            connection.close()

    def _listen(
        self, method: str, path: str, body: object, headers: Mapping[str, str]
    ) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Give the events of a stream as (id, name, fields)."""
        with self._open(method, path, body, headers) as answer:
            fields: dict[str, str] = {}
            for raw in answer:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if name in ("id", "event", "data"):
                    fields[name] = value
                elif not name and "data" in fields:
                    yield fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"])
                    fields = {}


def _name(key: str) -> dict[str, str]:
    """Return the head that names a request, so that a repeat of it happens once."""
    return {"Idempotency-Key": key or uuid.uuid4().hex}


def _read_error(answer: http.client.HTTPResponse) -> TalariaError:
    text = answer.read().decode(errors="replace")
    try:
        error = json.loads(text)["error"]
        return TalariaError(answer.status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return TalariaError(answer.status, "unknown", text.strip() or answer.reason)
