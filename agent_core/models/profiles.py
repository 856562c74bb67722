"""What is known of each model at its server."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal, cast

from agent_core.errors import StoreError
from agent_core.state import model_facts
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.database import now as read_clock
from agent_core.state.model_facts import FactSource, ModelFact

ModelMode = Literal["tools", "guided", "unfit"]
"""How a model works: it calls tools by the API, takes forced decisions, or is not to be used."""

MODE, CARD, WINDOW = "mode", "card", "window"
"""Kinds of facts besides those of a dialect: a `ModelMode`, the results of a fitness test, and the
tokens that the server says the model reads.
"""

_LEARNED_FOR = 30 * 86_400_000
"""Milliseconds after which what was learned is tried again."""
_RANKS: tuple[FactSource, ...] = ("learned", "fitness", "owner")
"""Of two facts of one kind, that of the later source holds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """What is known of one model; `facts` are by kind, of the source that holds."""

    server: str
    model: str
    facts: Mapping[str, ModelFact] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    """The facts' values by kind, parsed."""

    @property
    def mode(self) -> ModelMode | None:
        """How the model works; None while nobody has decided."""
        return cast(ModelMode | None, self.values.get(MODE))

    @property
    def window(self) -> int:
        """The tokens that the server says the model reads; 0 if it never said."""
        return int(self.values.get(WINDOW, 0))

    @property
    def card(self) -> Mapping[str, Any] | None:
        """The results of the last fitness test; None without one."""
        return self.values.get(CARD)


class Profiles:
    """The profiles of all models: in memory for the calls, and in the database for the next start.

    What was learned holds for thirty days and for one version of Talaria, because servers change.
    """

    def __init__(self, now: Callable[[], int] = read_clock) -> None:
        """`now` is in milliseconds since the epoch, UTC. Nothing is stored until `open`."""
        self._now = now
        self._version = version("talaria")
        self._database: Database | None = None
        self._facts: dict[tuple[str, str], list[ModelFact]] = {}
        self._found: dict[tuple[str, str], tuple[int, ModelProfile]] = {}

    async def open(self, database: Database) -> None:
        """Read what earlier processes stored, and store what is learned from now on."""
        for fact in await database.read(model_facts.list_all):
            self._facts.setdefault((fact.server, fact.model), []).append(fact)
        self._found.clear()
        self._database = database

    def find(self, server: str, model: str) -> ModelProfile:
        """Return what is known of a model now; empty for an unknown one."""
        until, profile = self._found.get((server, model), (0, None))
        if profile is None or until <= self._now():
            until, profile = self._make(server, model)
            self._found[server, model] = until, profile
        return profile

    def list_known(self) -> list[ModelProfile]:
        """List the profiles of the models of which something is known."""
        found = (self.find(*key) for key in sorted(self._facts))
        return [profile for profile in found if profile.facts]

    async def learn(
        self,
        server: str,
        model: str,
        values: Mapping[str, object],
        source: FactSource = "learned",
    ) -> None:
        """Note facts of a model by kind; None forgets one. Without a change, nothing is written.

        They count from now on, even if they can't be stored.
        """
        known = {one.kind: one for one in self._list_valid(server, model) if one.source == source}
        new: list[ModelFact] = []
        gone: list[ModelFact] = []
        for kind, value in values.items():
            text = json.dumps(value, sort_keys=True, ensure_ascii=False)
            before = known.get(kind)
            if value is None and before:
                gone.append(before)
            elif value is not None and not (before and before.value == text):
                new.append(self._make_fact(server, model, kind, text, source))
        if new or gone:
            self._replace(server, model, new, gone)
            await self._store(new, gone)

    async def forget(self, profile: ModelProfile) -> tuple[ModelFact, ...]:
        """Forget everything of a model, and return what was known. Raises `StoreError`."""
        key = profile.server, profile.model
        gone = tuple(self._facts.get(key, ()))
        if self._database and gone:
            await self._database.write("models.forget", _change, (), gone)
        self._facts.pop(key, None)
        self._found.pop(key, None)
        return gone

    def _make(self, server: str, model: str) -> tuple[int, ModelProfile]:
        """Make a profile; also return when one of its facts has to be tried again."""
        facts = sorted(self._list_valid(server, model), key=lambda one: _RANKS.index(one.source))
        by_kind = {fact.kind: fact for fact in facts}
        values = {kind: json.loads(fact.value) for kind, fact in by_kind.items()}
        learned = [one.learned_at for one in facts if one.source == "learned"]
        until = min(learned, default=self._now()) + _LEARNED_FOR
        return until, ModelProfile(server=server, model=model, facts=by_kind, values=values)

    def _list_valid(self, server: str, model: str) -> list[ModelFact]:
        oldest = self._now() - _LEARNED_FOR
        return [
            fact
            for fact in self._facts.get((server, model), ())
            if fact.source != "learned"
            or (fact.version == self._version and fact.learned_at > oldest)
        ]

    def _make_fact(
        self, server: str, model: str, kind: str, text: str, source: FactSource
    ) -> ModelFact:
        return ModelFact(
            server=server,
            model=model,
            kind=kind,
            source=source,
            value=text,
            learned_at=self._now(),
            version=self._version,
        )

    def _replace(
        self, server: str, model: str, new: Iterable[ModelFact], gone: Iterable[ModelFact]
    ) -> None:
        facts = {(one.kind, one.source): one for one in self._facts.get((server, model), ())}
        facts.update({(one.kind, one.source): one for one in new})
        for one in gone:
            facts.pop((one.kind, one.source), None)
        self._facts[server, model] = list(facts.values())
        self._found.pop((server, model), None)

    async def _store(self, new: Iterable[ModelFact], gone: Iterable[ModelFact]) -> None:
        if self._database is None:
            return
        try:
            await self._database.write("models.learn", _change, new, gone)
        except StoreError as error:
            _log.warning("what was learned of a model could not be stored: %s", error)


def _change(connection: Connection, new: Iterable[ModelFact], gone: Iterable[ModelFact]) -> None:
    for fact in gone:
        model_facts.drop(connection, fact)
    for fact in new:
        model_facts.put(connection, fact)
