"""Sentences of the console's page about health: what is wrong, and delays."""

from agent_core.localization import Text

INCIDENTS = Text("Needs your attention")
SINCE = Text("Since")
DELAYS = Text("How long messages waited before they were sent")
NOTHING_WAITS = Text("nothing waits")
HALF_WITHIN = Text("Half of them within")
MOST_WITHIN = Text("95 % of them within")
LATE_WORK = Text("Background work waits since")
