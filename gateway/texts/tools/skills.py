"""Sentences on skills in a conversation."""

from collections.abc import Sequence

from agent_core.localization import LANGUAGES, Plural, Text, use_language
from agent_core.state.memory.ledger import Change
from agent_core.transcript import flatten

_LONGEST = 120
_LIST = Text("Send the name of a skill to start it, with more words if you like:\n\n{lines}")
_MORE = Plural(
    "{n} more: send /skills with a few words to search.",
    "{n} more: send /skills with a few words to search.",
)
_USED = Plural("(used once)", "(used {n:,} times)")
_JUDGED = Plural("({done} of {n} use went well)", "({done:,} of {n:,} uses went well)")
UNKNOWN = Text("There's no change to a skill {name}. /skills lists the skills.")
_UNDONE = {
    "add": Text("The skill {name} is back."),
    "remove": Text("I've removed the skill {name}. It's in the archive."),
    "replace": Text("I've undone the newest change to the skill {name}."),
}
_KEPT = Text("I can't undo that. Details in English: “{reason}.”")
NONE = Text("There are no skills yet.")
NO_HIT = Text("I found no skill for that. Send /skills to see all of them.")
BROKEN = Text("I can't read the skills now. An owner can run `talaria skills check`.")
FOLLOW = Text("Do this with the skill {name}; read it first with `skill_view`: {words}")
FOLLOW_ALONE = Text("Start the skill {name}; read it first with `skill_view`.")


def find_words(request: str) -> str:
    """Return what a person wrote beside the name of a skill; any other request as it is."""
    for language in LANGUAGES:
        with use_language(language):
            for sentence in (FOLLOW, FOLLOW_ALONE):
                before, _, after = sentence(name="\0", words="").partition("\0")
                if request.startswith(before) and after in request:
                    return request.partition(after)[2].strip()
    return request


def describe_undone(name: str, change: Change) -> str:
    """Say what the undo of a change did to a skill."""
    return _UNDONE[change.operation](name=name)


def describe_kept(reason: str) -> str:
    """Say why a change was not undone."""
    return _KEPT(reason=reason.rstrip("."))


def describe_skill(name: str, text: str, uses: tuple[int, int, int]) -> str:
    """Describe a skill. `uses` are all of them, the judged ones, and those that went well."""
    count, judged, good = uses
    line = f"{name} – {flatten(text, _LONGEST)}"
    if judged:
        return f"{line} {_JUDGED(n=judged, done=good)}"
    return f"{line} {_USED(n=count)}" if count else line


def describe_skills(lines: Sequence[str], more: int) -> str:
    """List skills by their lines."""
    lines = [*lines]
    if more:
        lines.append(_MORE(n=more))
    return _LIST(lines="\n".join(lines))
