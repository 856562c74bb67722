"""The commands of skills: `/skills` lists them, and each skill is a command of its own."""

from collections.abc import Mapping

from agent_core.errors import SkillBroken
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.usage import SkillRecord, list_records
from agent_core.state.engine.database import Database
from gateway.commands.catalog import COMMANDS, HIDDEN
from gateway.commands.registry import Call, CommandSpec, Handler, Reply, SlashCommand
from gateway.texts import skills as texts

_MOST_SHOWN = 30
_TAKEN = frozenset(spec.name for spec in (*COMMANDS, *HIDDEN))
"""Commands of Talaria, which win over a skill of the same name."""


class SkillCommands:
    """Lists skills for a person, and starts one."""

    def __init__(self, directory: SkillDirectory, database: Database) -> None:
        self._directory = directory
        self._database = database

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"skills": self._list}

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
            sentence = texts.FOLLOW if call.argument else texts.FOLLOW_ALONE
            return Reply(pending=call.as_message(sentence(name=wanted, words=call.argument)))

        return SlashCommand(spec=CommandSpec(name=name, summary=found.description), run=follow)

    async def _list(self, call: Call) -> Reply:
        try:
            await self._directory.refresh()
        except SkillBroken:
            return Reply(text=texts.BROKEN())
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
                one.name if one.name in _TAKEN else f"/{one.name}",
                one.description,
                _count_uses(known.get(one.name)),
            )
            for one in usable[:_MOST_SHOWN]
        ]
        return Reply(text=texts.describe_skills(shown, len(usable) - len(shown)))


def _count_uses(known: SkillRecord | None) -> tuple[int, int, int]:
    """Return how often a skill was used, how many uses are judged, and how many went well."""
    if known is None:
        return 0, 0, 0
    tally = known.tally
    return known.row.uses, tally.successes + tally.failures, tally.successes
