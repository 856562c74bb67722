"""Requests by schemathesis to every operation of the API, with tokens of two people in turn."""

import asyncio
import io
import json
import secrets
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import aiohttp
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import api_tokens, people
from gateway.people.console_links import hash_secret
from tests.fakes.chat import FakeChat
from tests.integration.canaries import Planter
from tests.integration.interfaces.api_setup import read_spec
from tests.integration.served import Served, served

_CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
_NUMBERED = (
    "turn",
    "job",
    "change",
    "question",
    "approval",
    "conversation",
    "entry",
    "number",
    "webhook",
    "delivery",
)


@dataclass
class Side:
    """A person with many tokens, each of which may ask 120 times a minute, and their canary."""

    person_id: PersonId
    canary: str
    tokens: Sequence[str]
    turns: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self.turns = cycle(self.tokens)

    def store_tokens(self, connection: Connection) -> None:
        """Store the tokens, half of which may change data."""
        for number, secret in enumerate(self.tokens):
            api_tokens.insert(
                connection,
                person_id=self.person_id,
                name=f"fuzz {number}",
                scope="manage" if number % 2 else "api",
                secret_hash=hash_secret(secret),
                now=1,
            )


@dataclass
class Fuzz:
    """Fuzzes a server, and counts the answers by status."""

    address: str
    sides: tuple[Side, Side]
    newest: int
    """The highest id worth a try: of turns, jobs and all that."""
    statuses: Counter[int] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    """How often an answer held a canary of its own person."""

    def run(self, spec: dict[str, Any], *, examples: int, seed: bool) -> None:
        """Make `examples` requests to each operation. Raises what a check finds."""
        # A stream of events has no end.
        schema = schemathesis.openapi.from_dict(spec).exclude(path="/api/events")
        for found in schema.get_all_operations():
            self._try(found.ok(), examples, is_fixed=seed)

    def _try(self, operation: Any, examples: int, *, is_fixed: bool) -> None:
        numbers = st.integers(1, self.newest)
        sides = st.sampled_from((0, 1))
        headers = st.sampled_from(("", "one", "two"))

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=is_fixed,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(), st.booleans(), numbers, sides, headers)
        def ask(case: Any, is_real: bool, number: int, side: int, key: str) -> None:
            if is_real:
                for name in _NUMBERED:
                    if case.path_parameters and name in case.path_parameters:
                        case.path_parameters[name] = number
            self._ask(case, side, key)

        ask()

    def _ask(self, case: Any, side: int, key: str) -> None:
        own, other = self.sides[side], self.sides[1 - side]
        headers = {"Authorization": f"Bearer {next(own.turns)}"}
        if key:
            headers["Idempotency-Key"] = key
        response = case.call(base_url=self.address, headers=headers, timeout=60)
        self.statuses[response.status_code] += 1
        case.validate_response(response, checks=_CHECKS)
        text = json.dumps(_read_words(response.content))
        is_named = case.operation.path == "/api/people"  # an owner sees who there is
        self.shown[own.canary] += own.canary in text
        assert is_named or other.canary not in text, (case.as_curl_command(), text)


def _read_words(data: bytes) -> str:
    """Return the words of an answer; of an export, those of all its files."""
    if not data.startswith(b"PK"):
        return data.decode()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())


async def fuzz(home: Path, *, tokens: int, examples: int, is_fixed: bool) -> Fuzz:
    """Fuzz a gateway in which two people have talked; return the counts."""
    async with served(home, adapters={"fake": FakeChat()}, model=Planter()) as running:
        database = running.gateway.database
        everybody = await database.read(people.list_all)
        canaries = {"olga": "redkite", "zebrana": "bluefish"}
        olga, zebrana = (
            Side(one.id, canaries[one.slug], [secrets.token_hex() for _ in range(tokens)])
            for one in everybody
        )
        for side in (olga, zebrana):
            await database.write("test", side.store_tokens)
        for side in (olga, zebrana):
            await tell(running, side)
        spec = await read_spec(running)
        done = Fuzz(str(running.address.origin()), (olga, zebrana), newest=40)
        await asyncio.to_thread(done.run, spec, examples=examples, seed=is_fixed)
    assert all(done.shown[side.canary] > 0 for side in (olga, zebrana))
    return done


async def tell(running: Served, side: Side) -> None:
    """Say a person's canary to the assistant, and plan a job with it."""
    head = {"Authorization": f"Bearer {side.tokens[1]}"}
    job = {"kind": "message", "text": f"{side.canary} job", "cron": "0 9 1 1 *"}
    async with aiohttp.ClientSession(running.address.origin(), headers=head) as session:
        for path, body in (("messages", {"text": f"{side.canary} said"}), ("jobs", job)):
            async with session.post(f"/api/{path}", json=body) as answer:
                assert answer.status in (200, 201), await answer.text()
