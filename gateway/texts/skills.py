"""Sentences about skills, in chats and on their page."""

from collections.abc import Mapping, Sequence

from agent_core.localization import LANGUAGES, Plural, Text, use_language
from agent_core.state.memory.ledger import Change
from agent_core.transcript import flatten

LAST_TEST = Text("Last test")
ABOUT_TESTS = Text("A test repeats earlier requests, once with the skill and once without it.")
CASES = Plural("{n:,} case is kept for it.", "{n:,} cases are kept for it.")
NEVER_TESTED = Text("This version has not been tested.")
TEST_RUNS = Text("The test is running: {done} of {count} runs are done.")
CASE = Text("Case")
WITHOUT = Text("Without the skill")
WITH = Text("With the skill")
STEPS = Text("Steps")
SUM = Text("Together")
RIGHT_OF = Text("{done} of {count} right")
RIGHT = Text("right")
WRONG = Text("wrong")
NOT_REPEATED = Text("could not be repeated")
NOT_YET = Text("not run yet")
RESULT = Text("Result")

USES_BY_WEEK = Text("Uses by week")
NUMBERS_BY_WEEK = Text("Numbers by week")
WEEK_FROM = Text("Week from")
NO_VERDICT = Text("No verdict")
NOT_USED = Text("Not used in the last {number} weeks.")

HISTORY = Text("History")
NO_HISTORY = Text("Its state has never changed.")
WHEN = Text("When")
CHANGE = Text("Change")
BY = Text("By")
REASON = Text("Reason")
FROM_TO = Text("from “{old}” to “{new}”")
BACK_TO_VERSION = Text("back to version {number}")
EARLIER_CHANGES = Plural(
    "{n:,} earlier change is not shown.", "{n:,} earlier changes are not shown."
)
EARLIER_VERSIONS = Plural(
    "{n:,} earlier version is not shown.", "{n:,} earlier versions are not shown."
)

_RESULTS: Mapping[str, Text] = {
    "passed": Text("passed"),
    "failed": Text("failed"),
    "few": Text("too few cases"),
}
_NO_RESULT = Text("no result")

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


def name_result(result: str) -> str:
    """Return the result of a finished test in words."""
    return _RESULTS.get(result, _NO_RESULT)()


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
