"""Sentences on skills in a conversation."""

from collections.abc import Sequence

from agent_core.localization import Plural, Text
from agent_core.transcript import flatten

_LONGEST = 120
_LIST = Text("Send the name of a skill to start it, with more words if you like:\n\n{lines}")
_MORE = Plural(
    "{n} more: send `/skills` with a few words to search.",
    "{n} more: send `/skills` with a few words to search.",
)
NONE = Text("There are no skills yet.")
NO_HIT = Text("I found no skill for that. Send `/skills` to see all of them.")
BROKEN = Text("I can't read the skills now. An owner can run `talaria skills check`.")
FOLLOW = Text("Do this with the skill {name}; read it first with `skill_view`: {words}")
FOLLOW_ALONE = Text("Start the skill {name}; read it first with `skill_view`.")


def describe_skills(skills: Sequence[tuple[str, str]], more: int) -> str:
    """List skills, as command and description."""
    lines = [f"{name} – {flatten(text, _LONGEST)}" for name, text in skills]
    if more:
        lines.append(_MORE(n=more))
    return _LIST(lines="\n".join(lines))
