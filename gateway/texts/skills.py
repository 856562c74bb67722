"""Sentences about skills, in chats and on their page."""

from collections.abc import Mapping, Sequence

from agent_core.localization import LANGUAGES, Plural, Text, use_language
from agent_core.skills.evaluation.cases import EvalCase
from agent_core.skills.parser import is_name
from agent_core.state.memory.ledger import Change
from agent_core.transcript import flatten

NEEDS_MODEL = Text(
    "/{name} needs a language model, which an owner connects on the console page, under Model, or"
    " with `talaria setup`."
)
LAST_TEST = Text("Last test")
ABOUT_TESTS = Text(
    "A test repeats requests several times, with the skill and without it, until the difference is"
    " clear."
)
CASES = Plural(
    "{n:,} test case is stored for this skill.", "{n:,} test cases are stored for this skill."
)
NEVER_TESTED = Text("This version has not been tested.")
TEST_RUNS = Text("The test is running: {done} of at most {number} attempts are done.")
CASE = Text("Case")
WITHOUT = Text("Without the skill")
WITH = Text("With the skill")
STEPS = Text("Steps")
SUM = Text("Total")
RIGHT_OF = Text("{done} of {count} right")
NOT_REPEATED = Text("could not be repeated")
NOT_YET = Text("not tried yet")
RESULT = Text("Result")

USES_BY_WEEK = Text("Uses by week")
NUMBERS_BY_WEEK = Text("Table by week")
WEEK_FROM = Text("Week from")
NO_VERDICT = Text("Unclear")
NOT_USED = Text("Not used in the last {number} weeks.")

HISTORY = Text("History")
NO_HISTORY = Text("The state of this skill has never changed.")
WHEN = Text("When")
CHANGE = Text("What changed")
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
    "same": Text("no difference"),
    "few": Text("too few cases"),
}
_NO_RESULT = Text("no result")

_LONGEST = 120
_BUNDLED: Mapping[str, Text] = {
    "csv-report": Text("Makes a report from a table, with totals and charts"),
    "diff-review": Text("Reviews a change of code: bugs, missing tests, unclear places"),
    "digest": Text("Sums up what is new and what is ahead"),
    "github-triage": Text("Sorts the open issues and pull requests of a GitHub repository"),
    "meeting-summary": Text("Sums up a meeting: decisions, tasks, open questions"),
    "nginx-logs": Text("Finds errors, slow requests and attacks in the log of a web server"),
    "routine-planner": Text("Plans routines and habits, with reminders"),
    "skill-author": Text("Writes and improves skills"),
    "web-research": Text("Researches a question on the web, with sources"),
    "writing-style": Text("Writes in your own style"),
}
_LIST = Text("Send the name of a skill to start it, with more words if you like:\n\n{lines}")
_MORE = Plural(
    "{n} more skill: send /skills with a few words to search.",
    "{n} more skills: send /skills with a few words to search.",
)
_USED = Plural("(used once)", "(used {n:,} times)")
_JUDGED = Plural("(worked well in {done} of {n} use)", "(worked well in {done:,} of {n:,} uses)")
UNKNOWN = Text("There's no change to a skill “{name}”. /skills lists the skills.")
_UNDONE = {
    "add": Text("The skill “{name}” is back."),
    "remove": Text("I've removed the skill “{name}”. It's in the archive."),
    "replace": Text("The skill “{name}” is as it was before."),
}
_KEPT = Text("I can't undo that. Details: “{reason}.”")
NONE = Text("There are no skills yet.")
NO_HIT = Text("I found no skill for that. Send /skills to see all of them.")
NO_CHANGE = Text("There is no change {number} of a skill.")
NOBODY_PAYS = Text("Nobody can pay for the test: there is no owner yet.")
CHANGED_SINCE_TEST = Text("The skill “{name}” has changed; test it again.")
UNWRITABLE = Text("The skill can't be changed: {reason}.")
CHANGED_MEANWHILE = Text("The skill “{name}” has changed meanwhile; look at it again.")
IS_BUNDLED = Text("The skill “{name}” comes with Talaria and can't be changed.")
IS_OF_PROJECT = Text("The skill “{name}” belongs to the working folder; change it there.")
WRITTEN_LATER = Text(
    "The change is noted, but can't be saved in the file yet. Talaria tries again."
)
BROKEN = Text(
    "I can't read the skills now. An owner can find the reason with `talaria skills check`."
)
FOLLOW = Text("Do this with the skill {name}; read it first with `skill_view`: {words}")
NO_SKILL = Text("There's no skill “{name}”. /skills lists the skills.")
TRY_HOW = Text("Add what I should do, for example: /skills try {name} sum up my notes")
NO_CASES = Text(
    "The skill “{name}” has no test cases of its own. I test it with your earlier requests."
)
_CASES_COUNT = Text("These test cases are for the skill “{name}”:\n\n{lines}")
_CASES_WAIT = Text(
    "I wrote these test cases for the skill “{name}” myself, so they don't count until an"
    " owner approves them:\n"
    "\n"
    "{lines}"
)
APPROVE_CASES = Text("Approve")
CASES_APPROVED = Text(
    "These test cases count from now on, and I test the skill “{name}” with them. If their"
    " file changes, they no longer count."
)
_BAD_CASES = Text("I can't read the test cases of the skill “{name}”. Details: “{reason}.”")
FOLLOW_ALONE = Text("Start the skill {name}; read it first with `skill_view`.")


def name_result(result: str) -> str:
    """Return the result of a finished test in words."""
    return _RESULTS.get(result, _NO_RESULT)()


def find_name(request: str) -> str:
    """Return the name of the skill that a request starts; "" for any other request."""
    return _split(request)[0]


def find_words(request: str) -> str:
    """Return what a person wrote beside the name of a skill; any other request as it is."""
    name, words = _split(request)
    return words if name else request


def _split(request: str) -> tuple[str, str]:
    """Split a request that starts a skill into the skill's name and the person's words.

    Code in its words may have been left out.
    """
    for language in LANGUAGES:
        with use_language(language):
            for sentence in (FOLLOW, FOLLOW_ALONE):
                whole = sentence(name="\0", words="")
                for form in (whole, whole.replace("`skill_view`", " ")):
                    before, _, after = form.partition("\0")
                    name, found, words = request.removeprefix(before).partition(after)
                    if request.startswith(before) and found and is_name(name):
                        return name, words.strip()
    return "", ""


def describe_undone(name: str, change: Change) -> str:
    """Say what the undo of a change did to a skill."""
    return _UNDONE[change.operation](name=name)


def describe_kept(reason: str) -> str:
    """Say why a change was not undone."""
    return _KEPT(reason=reason)


def describe_cases(name: str, cases: Sequence[EvalCase], *, counts: bool) -> str:
    """Show the cases of a skill's file, and whether its tests use them."""
    lines = [f"- {_describe_case(one)}" for one in cases]
    sentence = _CASES_COUNT if counts else _CASES_WAIT
    return sentence(name=name, lines="\n".join(lines))


def describe_bad_cases(name: str, reason: str) -> str:
    """Say why the cases of a skill can't be read."""
    return _BAD_CASES(name=name, reason=reason)


def _describe_case(case: EvalCase) -> str:
    wanted = [f"{one.kind} {one.value!r}" for one in case.checks]
    wanted += [one for one in (case.expected, *case.assertions) if one and not case.checks]
    said = flatten(case.prompt, _LONGEST) if case.prompt else f"turn {case.turn_id}"
    return f"{said} → {flatten('; '.join(wanted), _LONGEST) or '–'}"


def summarize_bundled(name: str) -> str | None:
    """Say what a skill of Talaria itself does; None for another one.

    Its description in the file is for the model, and in English only.
    """
    known = _BUNDLED.get(name)
    return known() if known else None


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
