"""Sentences of the console's page about a skill: its tests, its uses and its history."""

from collections.abc import Mapping

from agent_core.localization import Plural, Text

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


def name_result(result: str) -> str:
    """Return the result of a finished test in words."""
    return _RESULTS.get(result, _NO_RESULT)()
