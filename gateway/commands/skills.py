"""The commands of skills: `/skills` lists them, and each skill is a command of its own."""

import asyncio
from collections.abc import Mapping

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.evaluation.cases import agree_to_cases, may_test, read_cases
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.usage import SkillRecord, list_records
from agent_core.state.engine.database import Connection, Database
from gateway.commands.catalog import OWN_NAMES
from gateway.commands.registry import Call, CommandSpec, Handler, Outcome, Reply, SlashCommand
from gateway.operations.skills import ask_for_test
from gateway.outbound.command_buttons import offer_command
from gateway.texts import skills as texts
from gateway.texts.general import OWNER_ONLY

_MOST_SHOWN = 30


class SkillCommands:
    """Lists skills for a person, and starts one, which takes a language model."""

    def __init__(self, directory: SkillDirectory, database: Database, *, has_model: bool) -> None:
        self._directory = directory
        self._database = database
        self._has_model = has_model

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"skills": self._answer}

    async def find(self, name: str) -> SlashCommand | None:
        """Return the command of a skill, such as /digest; underscores stand for hyphens, because
        some platforms allow no hyphen in a command.
        """
        try:
            await self._directory.refresh()
        except SkillBroken:
            return None  # `talaria skills check` reports it; to a person the name is unknown
        wanted = name.replace("_", "-")
        found = next((one for one in self._directory.list_commands() if one.name == wanted), None)
        if found is None:
            return None

        async def follow(call: Call) -> Reply:
            return self._start(call, wanted, call.argument)

        return SlashCommand(spec=CommandSpec(name=name, summary=found.description), run=follow)

    async def _answer(self, call: Call) -> Reply:
        try:
            await self._directory.refresh()
        except SkillBroken:
            return Reply(text=texts.BROKEN())
        given = call.argument.split(maxsplit=2)
        act = {"try": self._try, "cases": self._show_cases, "agree": self._agree}.get(
            given[0] if len(given) > 1 else ""
        )
        if act:
            name = given[1].removeprefix("/").replace("_", "-")
            return await act(call, name, given[2] if len(given) > 2 else "")
        return await self._list(call)

    async def _try(self, call: Call, name: str, words: str) -> Reply:
        """Start a skill, even a draft, on what the caller wants done."""
        if not self._is_command(name):
            return Reply(text=texts.NO_SKILL(name=name))
        return self._start(call, name, words) if words else Reply(text=texts.TRY_HOW(name=name))

    async def _show_cases(self, call: Call, name: str, _: str) -> Reply:
        """Show the cases that are kept for a skill, and whether they count."""
        place = self._directory.catalog.folder / name
        if not self._is_command(name):
            return Reply(text=texts.NO_SKILL(name=name))
        try:
            cases = await asyncio.to_thread(read_cases, place)
        except SkillBroken as error:
            return Reply(text=texts.describe_bad_cases(name, str(error)))
        if not cases:
            return Reply(text=texts.NO_CASES(name=name))
        counts = await self._database.read(may_test, place.parent, name)
        approve = () if counts else offer_command(f"skills agree {name}", texts.APPROVE_CASES())
        return Reply(text=texts.describe_cases(name, cases, counts=counts), buttons=approve)

    async def _agree(self, call: Call, name: str, _: str) -> Reply:
        """Let the cases of a skill count as they are, and test the skill with them."""
        folder = self._directory.catalog.folder
        if not call.person.is_owner:
            return Reply(text=OWNER_ONLY())
        if not self._is_command(name):
            return Reply(text=texts.NO_SKILL(name=name))
        try:
            if not await asyncio.to_thread(read_cases, folder / name):
                return Reply(text=texts.NO_CASES(name=name))
            await asyncio.to_thread(agree_to_cases, folder, name)
        except (SkillBroken, SkillConflict) as error:
            return Reply(text=texts.describe_bad_cases(name, str(error)))

        def work(connection: Connection) -> Outcome:
            ask_for_test(connection, name, call.call_key, call.now)
            return texts.CASES_APPROVED(name=name), ()

        return Reply(effect=work)

    def _is_command(self, name: str) -> bool:
        return any(one.name == name for one in self._directory.list_commands())

    async def _list(self, call: Call) -> Reply:
        usable = self._directory.list_commands()
        if not usable:
            return Reply(text=texts.NONE())
        if call.argument:
            names = {skill.name for skill in usable}
            usable = [one for one in self._directory.search(call.argument) if one.name in names]
            if not usable:
                return Reply(text=texts.NO_HIT())
        known = {one.row.name: one for one in await self._database.read(list_records)}
        shown = [
            texts.describe_skill(
                one.name if one.name in OWN_NAMES else f"/{one.name}",
                self._summarize(one.name) or one.description,
                _count_uses(known.get(one.name)),
            )
            for one in usable[:_MOST_SHOWN]
        ]
        return Reply(text=texts.describe_skills(shown, len(usable) - len(shown)))

    def _start(self, call: Call, name: str, words: str) -> Reply:
        """Begin a turn that follows a skill; without a model, say who connects one."""
        if not self._has_model:
            return Reply(text=texts.NEEDS_MODEL(name=name))
        sentence = texts.FOLLOW if words else texts.FOLLOW_ALONE
        return Reply(pending=call.as_message(sentence(name=name, words=words)))

    def _summarize(self, name: str) -> str | None:
        is_bundled = self._directory.catalog.is_bundled(name)
        return texts.summarize_bundled(name) if is_bundled else None


def _count_uses(known: SkillRecord | None) -> tuple[int, int, int]:
    """Return how often a skill was used, how many uses are judged, and how many went well."""
    if known is None:
        return 0, 0, 0
    tally = known.tally
    return known.row.uses, tally.successes + tally.failures, tally.successes
