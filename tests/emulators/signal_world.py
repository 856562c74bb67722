"""Signal as signal-cli 0.14 shows it to one account: people, groups, what was sent, what arrives.

The forms of envelopes and answers are those of signal-cli's source (org.asamk.signal.json) and of
answers recorded from 0.13.19.
"""

import base64
import itertools
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

ACCOUNT = "+4915110000000"
ACI = "a0000000-0000-4000-8000-000000000000"
_STYLE = re.compile(r"(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)\Z")
_DATA_URI = re.compile(r"data:(?P<type>[^;,]+)(?P<parameters>(?:;[^;,]+=[^;,]*)*);base64,")
_MOST_EDITS = 10

Json = dict[str, Any]
Outcome = Literal[
    "SUCCESS", "NETWORK_FAILURE", "UNREGISTERED_FAILURE", "IDENTITY_FAILURE", "RATE_LIMIT_FAILURE"
]


class Refusal(Exception):
    """An error answer."""

    def __init__(self, code: int, message: str, response: Json | None = None) -> None:
        self.error = {
            "code": code,
            "message": message,
            "data": None if response is None else {"response": response},
        }
        super().__init__(message)


@dataclass(kw_only=True)
class Person:
    """An account, and how its devices are."""

    number: str
    uuid: str
    name: str
    is_online: bool = True
    """Whether a device confirms what it receives."""
    outcome: Outcome = "SUCCESS"
    """What becomes of a message to them."""
    retry_after: int = 0
    is_trusted: bool = True
    """Whether signal-cli trusts their present safety number."""
    owed: list[int] = field(default_factory=list)
    """Times to confirm once a device is online."""


@dataclass(kw_only=True)
class Group:
    """A group, and whether we are in it."""

    id: str
    name: str
    members: list[Person]
    is_member: bool = True


@dataclass(kw_only=True)
class Sent:
    """A message of ours as the devices of its recipients show it."""

    sent_at: int
    chat: str
    """The account id of a person, or the id of a group."""
    text: str
    styles: list[str] = field(default_factory=list)
    files: list[tuple[str, bytes, str]] = field(default_factory=list)
    quote: tuple[int, str] | None = None
    is_voice: bool = False
    notifies_self: bool = False
    revisions: list[int] = field(default_factory=list)
    """Times of its versions; an app accepts an edit of the newest one only."""
    is_deleted: bool = False


class SignalWorld:
    """What Signal's servers and devices know."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.groups: dict[str, Group] = {}
        self.sent: list[Sent] = []
        self.reactions: dict[tuple[int, str], list[str]] = {}
        """By message and author: our reactions."""
        self.read: list[tuple[str, int]] = []
        self.typing: list[str] = []
        self.files: dict[str, bytes] = {}
        self.notify: Callable[[Json], None] = lambda _: None
        """Takes an envelope that arrives for the account."""
        self.version = "0.14.6"
        self._last = 0
        self._numbers = itertools.count(1)

    def person(self, number: str, name: str) -> Person:
        """Return the person of a number, who is made if need be."""
        if number not in self.people:
            count = len(self.people) + 1
            uuid = f"{count:08x}-0000-4000-8000-000000000000"
            self.people[number] = Person(number=number, uuid=uuid, name=name)
        return self.people[number]

    def group(self, name: str, members: list[Person]) -> Group:
        """Make a group with us in it."""
        group_id = base64.b64encode(f"{name:_<32}"[:32].encode()).decode()
        return self.groups.setdefault(group_id, Group(id=group_id, name=name, members=members))

    def now(self) -> int:
        """Return the next time that nobody has used: signal-cli gives each message its own."""
        self._last = max(time.time_ns() // 1_000_000, self._last + 1)
        return self._last

    # What arrives

    def envelope(self, person: Person, sent_at: int, *, device: int = 1, **fields: Any) -> Json:
        """Return an envelope as `JsonMessageEnvelope` writes it."""
        return {
            "source": person.number or person.uuid,
            "sourceNumber": person.number or None,
            "sourceUuid": person.uuid,
            "sourceName": person.name,
            "sourceDevice": device,
            "timestamp": sent_at,
            "serverReceivedTimestamp": sent_at + 20,
            "serverDeliveredTimestamp": sent_at + 40,
            **fields,
        }

    def data(self, sent_at: int, text: str | None, group: Group | None, **fields: Any) -> Json:
        """Return a message as `JsonDataMessage` writes it."""
        found: Json = {
            "timestamp": sent_at,
            "message": text,
            "expiresInSeconds": 0,
            "isExpirationUpdate": False,
            "viewOnce": False,
            **fields,
        }
        if group:
            found["groupInfo"] = {
                "groupId": group.id,
                "groupName": group.name,
                "revision": 3,
                "type": "DELIVER",
            }
        return found

    def says(
        self, person: Person, text: str | None, *, group: Group | None = None, **fields: Any
    ) -> int:
        """A person writes; return the time of the message."""
        sent_at = self.now()
        data = self.data(sent_at, text, group, **fields)
        self.notify(self.envelope(person, sent_at, dataMessage=data))
        return sent_at

    def mention(self) -> Json:
        """Return a mention of us at the beginning of a text."""
        return {"name": ACCOUNT, "number": ACCOUNT, "uuid": ACI, "start": 0, "length": 1}

    def edits(self, person: Person, target: int, text: str) -> int:
        """A person changes a message; return the time of the new version."""
        sent_at = self.now()
        edit = {"targetSentTimestamp": target, "dataMessage": self.data(sent_at, text, None)}
        self.notify(self.envelope(person, sent_at, editMessage=edit))
        return sent_at

    def reacts(self, person: Person, sign: str, target: int, *, is_on: bool) -> None:
        """A person reacts to one of our messages."""
        reaction = {
            "emoji": sign,
            "targetAuthor": ACCOUNT,
            "targetAuthorNumber": ACCOUNT,
            "targetAuthorUuid": ACI,
            "targetSentTimestamp": target,
            "isRemove": not is_on,
        }
        self.says(person, None, reaction=reaction)

    def attach(self, name: str | None, media_type: str, data: bytes) -> Json:
        """Return an attachment that signal-cli has stored."""
        file_id = f"file{next(self._numbers)}"
        self.files[file_id] = data
        return {
            "contentType": media_type,
            "filename": name,
            "id": file_id,
            "size": len(data),
            "width": None,
            "height": None,
            "caption": None,
            "uploadTimestamp": None,
        }

    def confirm(self, person: Person, *times: int) -> None:
        """A device of a person confirms messages; one that is offline does later."""
        person.owed += times
        if not person.is_online or not person.owed:
            return
        receipt: Json = {
            "when": self.now(),
            "isDelivery": True,
            "isRead": False,
            "isViewed": False,
            "timestamps": list(person.owed),
        }
        person.owed.clear()
        self.notify(self.envelope(person, receipt["when"], receiptMessage=receipt))

    # Calls

    def call(self, method: str, params: Json) -> Any:
        """Carry out a call of our account. Raises `Refusal`."""
        handle = getattr(self, f"_do_{method}", None)
        if handle is None:
            raise Refusal(-32601, "Method not implemented")
        return handle(params)

    def _do_version(self, _: Json) -> Json:
        return {"version": self.version}

    def _do_listIdentities(self, _: Json) -> list[Json]:  # noqa: N802
        return [
            {
                "number": one.number,
                "uuid": one.uuid,
                "fingerprint": "05 0a",
                "safetyNumber": "12345 " * 12,
                "scannableSafetyNumber": None,
                "trustLevel": "TRUSTED_UNVERIFIED" if one.is_trusted else "UNTRUSTED",
                "addedTimestamp": 1,
            }
            for one in self.people.values()
        ]

    def _do_getUserStatus(self, params: Json) -> list[Json]:  # noqa: N802 - the method's name
        uuids = {ACCOUNT: ACI} | {one.number: one.uuid for one in self.people.values()}
        return [
            {"recipient": r, "number": r, "uuid": uuids.get(r), "isRegistered": r in uuids}
            for r in params["recipient"]
        ]

    def _do_listGroups(self, params: Json) -> list[Json]:  # noqa: N802
        wanted = params.get("groupId") or list(self.groups)
        ours = {"number": ACCOUNT, "uuid": ACI}
        return [
            {
                "id": one.id,
                "name": one.name,
                "description": "",
                "isMember": one.is_member,
                "isBlocked": False,
                "messageExpirationTime": 0,
                "members": [
                    ours,
                    *({"number": each.number, "uuid": each.uuid} for each in one.members),
                ],
                "pendingMembers": [],
                "requestingMembers": [],
                "admins": [ours],
                "banned": [],
                "groupInviteLink": None,
            }
            for one in self.groups.values()
            if one.id in wanted
        ]

    def _do_getAttachment(self, params: Json) -> Json:  # noqa: N802
        if params.get("id") not in self.files:
            raise Refusal(-1, f"Could not find attachment with ID: {params.get('id')}")
        return {"data": base64.b64encode(self.files[params["id"]]).decode()}

    def _do_sendTyping(self, params: Json) -> Json:  # noqa: N802
        chat, people = self._recipients(params)
        self.typing.append(chat)
        return self._results(people, self.now(), params, confirms=False)

    def _do_sendReceipt(self, params: Json) -> Json:  # noqa: N802
        person = self._find(params["recipient"])
        self.read += [(person.uuid, sent_at) for sent_at in params["targetTimestamp"]]
        return self._results([person], self.now(), params, confirms=False)

    def _do_sendReaction(self, params: Json) -> Json:  # noqa: N802
        _, people = self._recipients(params)
        key = (params["targetTimestamp"], self._name(params["targetAuthor"]))
        signs = self.reactions.setdefault(key, [])
        if params["emoji"] in signs:
            signs.remove(params["emoji"])
        if not params.get("remove"):
            signs.append(params["emoji"])
        return self._results(people, self.now(), params)

    def _do_remoteDelete(self, params: Json) -> Json:  # noqa: N802
        """Delete as Signal's Android app does: it knows a message by author and time.

        It looks at no chat, and each version of an edited message is the message.
        """
        _, people = self._recipients(params)
        for one in self.sent:
            if params["targetTimestamp"] in one.revisions:
                one.is_deleted = True
        return self._results(people, self.now(), params)

    def _do_send(self, params: Json) -> Json:
        chat, people = self._recipients(params)
        text, files = params.get("message") or "", params.get("attachments") or []
        if not text and not files:
            raise Refusal(
                -1,
                "Sending empty message is not allowed, either a message, attachment or sticker"
                " must be given.",
            )
        styles = params.get("textStyle") or []
        units = len(text.encode("utf-16-le")) // 2
        for style in styles:
            found = _STYLE.match(style)
            if not found:
                raise Refusal(-1, f"Invalid textStyle syntax ({style})")
            assert int(found[1]) + int(found[2]) <= units, "a style beyond the text"
        sent_at = self.now()
        result = self._results(people, sent_at, params)
        if (target := params.get("editTimestamp")) is not None:
            self._replace(chat, target, text, styles, sent_at)
            return result
        quoted = params.get("quoteTimestamp")
        author = self._name(params["quoteAuthor"]) if quoted is not None else ""
        self.sent.append(
            Sent(
                sent_at=sent_at,
                chat=chat,
                text=text,
                styles=styles,
                files=[_read_data_uri(one) for one in files],
                quote=None if quoted is None else (quoted, author),
                is_voice=bool(params.get("voiceNote")),
                notifies_self=bool(params.get("notifySelf")),
                revisions=[sent_at],
            )
        )
        return result

    def _replace(self, chat: str, target: int, text: str, styles: list[str], sent_at: int) -> None:
        """Change a message as apps do: they drop an edit of any version but the newest."""
        for one in self.sent:
            is_open = not one.is_deleted and len(one.revisions) <= _MOST_EDITS
            if one.chat == chat and one.revisions[-1] == target and is_open:
                one.text, one.styles = text, styles
                one.revisions.append(sent_at)

    def _recipients(self, params: Json) -> tuple[str, list[Person]]:
        if (group_id := params.get("groupId")) is not None:
            group = self.groups.get(group_id)
            if group is None:
                raise Refusal(-1, f"Group not found: {group_id}")
            if not group.is_member:
                raise Refusal(-1, f"User is not a member in group: {group.name} ({group_id})")
            return group_id, group.members
        (recipient,) = params["recipient"]
        if self._name(recipient) == ACI:
            return ACI, []
        person = self._find(recipient)
        return person.uuid, [person]

    def _find(self, name: str) -> Person:
        for one in self.people.values():
            if name in (one.number, one.uuid):
                return one
        raise Refusal(-1, f"Unregistered user: {name}")

    def _name(self, name: str) -> str:
        return ACI if name in (ACCOUNT, ACI) else self._find(name).uuid

    def _results(
        self, people: Iterable[Person], sent_at: int, params: Json, *, confirms: bool = True
    ) -> Json:
        """Send to devices; return each outcome, or refuse as signal-cli does if all failed."""
        people = list(people)
        results = []
        for one in people:
            result: Json = {
                "recipientAddress": {"uuid": one.uuid, "number": one.number, "username": None},
                "type": one.outcome,
            }
            if one.outcome == "RATE_LIMIT_FAILURE":
                result |= {"token": None, "retryAfterSeconds": one.retry_after}
            if group_id := params.get("groupId"):
                result["groupId"] = group_id
            results.append(result)
        answer = {"timestamp": sent_at, "results": results}
        outcomes = {one.outcome for one in people}
        if outcomes and "SUCCESS" not in outcomes:
            _refuse(outcomes, answer)
        for one in people:
            if confirms and one.outcome == "SUCCESS":
                self.confirm(one, sent_at)
        return answer


def _refuse(outcomes: set[Outcome], answer: Json) -> None:
    """Raise what `SendMessageResultUtils` makes of results without a success."""
    if outcomes == {"IDENTITY_FAILURE"}:
        raise Refusal(-4, "Failed to send message due to untrusted identities", answer)
    if outcomes == {"RATE_LIMIT_FAILURE"}:
        raise Refusal(-5, "Failed to send message due to rate limiting", answer)
    raise Refusal(-1, "Failed to send message", answer)


def _read_data_uri(written: str) -> tuple[str, bytes, str]:
    found = _DATA_URI.match(written)
    if not found:
        raise Refusal(-1, f"Failed to send message: {written[:40]}: No such file")
    parameters = dict(one.split("=", 1) for one in found["parameters"].split(";") if one)
    data = base64.b64decode(written[found.end() :], validate=True)
    return unquote(parameters.get("filename", "")), data, found["type"]
