"""Sentences of the console's pages about usage: days, caching and limits."""

from agent_core.localization import Plural, Text

EVERYONES_USAGE = Text("Everyone's usage")
YOUR_USAGE = Text("Your usage")
DIVIDED_BY = Text("Cost by")
BY_MODEL = Text("Model")
BY_PURPOSE = Text("Purpose")
BY_PERSON = Text("Person")
DAILY_COST = Text("Cost by day")
DAILY_TOKENS = Text("Tokens by day")
NUMBERS_BY_DAY = Text("Numbers by day")
DAY = Text("Day")
TODAY = Text("Today")
TOTAL = Text("Total")
OTHERS = Text("Others")
READ_UNCACHED = Text("Read, not cached")
WRITTEN_TO_CACHE = Text("Written to the cache")
READ_FROM_CACHE = Text("Read from the cache")
WRITTEN = Text("Written by the model")

CACHING = Text("What caching saved")
NOT_CACHED = Text("Nothing was read from a cache.")
CACHED = Plural(
    "{n:,} token was read from the cache: {percent}% of all that was read.",
    "{n:,} tokens were read from the cache: {percent}% of all that was read.",
)
SAVED = Text(
    "Caching saved {net}: reading cost {saved} less, and writing the cache {extra} more, at"
    " today's prices."
)
NOT_SAVED = Text(
    "Caching cost {net} more than it saved: reading cost {saved} less, and writing the cache"
    " {extra} more, at today's prices."
)
CACHE_UNPRICED = Text("Price unknown: {models}. So it is unknown what caching saved there.")

LIMITS = Text("Today's limits")
LIMIT_OF = Text("Limit for")
LIMIT_USED = Text("Used")
LIMIT = Text("Limit")
LIMIT_SHARE = Text("Share")
PRICED_MODELS = Text("Models with a price")
UNPRICED_MODELS = Text("Models without a price")
NO_LIMIT = Text("no limit")
LIMITS_END = Text("The day ends {time}.")
LIMITS_CHANGE = Text("To change a limit, set {setting} in config.toml:")
LIMITS_ASK = Text("An owner can change the limits.")
