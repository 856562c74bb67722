"""Sentences about conversations: which there are, what they hold, cost and use, and limits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_core.localization import Plural, Text
from agent_core.state.conversations.usage import QuotaUsage, UsageLine
from agent_core.tools.clock import ReaderClock
from gateway.texts.people import quote_name

if TYPE_CHECKING:
    from agent_core.agent.quotas.balance import DailyLimit
    from agent_core.agent.quotas.reservations import QuotaStatus
    from agent_core.agent.replay.context_report import ContextReport, PromptSource
    from agent_core.errors import ReachedQuota

COMPACT_RUNNING = Text(
    "I'm still answering here. Wait until I'm done or send /stop, then try /compact again."
)
COMPACT_EMPTY = Text("This conversation has only just started, so there's nothing to shorten.")
COMPACT_NO_GAIN = Text(
    "I couldn't shorten this conversation now, so I changed nothing. Perhaps it is short"
    " already; if not, try again later."
)
CONTEXT_EMPTY = Text("I haven't answered in this conversation yet. Ask again after my next answer.")
RESUME_BUTTON = Text("Resume {number}")
RESUME_USAGE = Text("Add the number of a conversation. /sessions lists them.")
RESUME_UNKNOWN = Text("There's no conversation {number} here. /sessions lists them.")
RESUME_OPEN = Text("You're already in that conversation.")
TITLE_EMPTY = Text("This conversation has no messages yet, so there's nothing to name.")
TITLED = Text("This conversation is now called “{title}”.")
UNTITLED_NOW = Text("This conversation has no title now. Lists show its first words instead.")
RENAME, NEW_TITLE = Text("Rename"), Text("Title")
BRANCH_EMPTY = Text("This conversation has no messages yet, so there's nothing to copy.")
BRANCHED = Text(
    "You're now in a copy of this conversation, and the original stays as it is. /resume {number}"
    " returns to it."
)
STEER_USAGE = Text("Add what I should know, for example: /steer only trains, no flights")
STEERED = Text("I'll take that into account in the answer I'm working on.")
BTW_USAGE = Text("Add a question, for example: /btw what is the capital of Peru?")
CHEAP_MODEL = Text(
    "(Most of today's budget is spent, so a smaller model answers until tomorrow. /usage shows"
    " more.)"
)
LEFT_OUT = Text(
    "(This conversation has grown long, and I couldn't summarise its older messages. I left them"
    " out for now, and I'll summarise them later. You can still search everything.)"
)

_TITLE = Text("This conversation is called “{title}”. To rename it: /title Boat trip")
_TITLE_NONE = Text("This conversation has no title. To give it one: /title Boat trip")
_SESSIONS = Text("**Your conversations here**\n{lines}")
_SESSIONS_RETURN = Text("/resume {number} returns to number {number}.")
_SESSIONS_NONE = Text("You have no conversation here yet. Write me something to start one.")
_SESSIONS_MORE = Plural(
    "{n} older conversation isn't shown here. To see it, send /sessions all.",
    "{n} older conversations aren't shown here. To see them, send /sessions all.",
)
_SESSION = Text("- {number}: {title} ({messages}, {moment})")
_SESSION_OPEN = Text("- {number}: {title} ({messages}, {moment}; this one)")
_MESSAGES = Plural("{n:,} message", "{n:,} messages")
_UNTITLED = Text("without a title")
_RESUMED = Text("You're back in “{title}” ({messages}). I know all of it.")
COMPACTED = Text(
    "I've summarised older messages, so each answer now costs less: I read about {after:,}"
    " tokens instead of {before:,}. You can still search everything."
)
_CAP = Text("at most {cap:,} tokens")
_NO_CAP = Text("as much as Talaria allows")
_CONTEXT = Text(
    "**What I read before each answer**: about {total:,} of {limit:,} tokens (4 tokens"
    " are about 3 words); {left:,} are left"
)
_SOURCES: "dict[PromptSource, Text]" = {
    "identity": Text("- Instructions: {tokens:,}"),
    "memory": Text("- Memory: {tokens:,}"),
    "files": Text("- Context files: {tokens:,}"),
    "tools": Text("- Tools: {tokens:,}"),
    "summary": Text("- Summary of older messages: {tokens:,}"),
    "talk": Text("- Messages: {tokens:,}"),
    "outputs": Text("- Tool results: {tokens:,}"),
}
_LAST = Plural(
    "The last answer took {n} model call; {share}% of its input came from the cache.",
    "The last answer took {n} model calls; {share}% of their input came from the cache.",
)
_GROWN = Text("I read {tokens:,} tokens more than for the answer before.")
_SHRUNK = Text("I read {tokens:,} tokens less than for the answer before.")
_SAVE_NEW = Text("/new starts a new conversation. That is cheaper: it saves {tokens:,} tokens.")
_SAVE_COMPACT = Text("/compact summarises older messages and saves {tokens:,} tokens.")
_SAVE_MEMORY = Text("/memory lets you delete notes, which saves up to {tokens:,} tokens.")
_LEAST_SAVED = 100
"""Tokens below which a hint on saving them is not worth a line."""

_PURPOSES = {
    "turn": Text("Answers"),
    "title": Text("Titles"),
    "compaction": Text("Summaries"),
    "review": Text("Learning"),
    "skill_test": Text("Testing skills"),
    "curation": Text("Tidying up"),
    "broken": Text("Interrupted"),
    "picture": Text("Pictures"),
}
LIMIT_SETTINGS: Mapping[tuple[str, str], str] = {
    ("person", "money"): "cost.person_day_usd",
    ("person", "tokens"): "cost.person_day_tokens",
    ("deployment", "money"): "cost.house_day_usd",
    ("deployment", "tokens"): "cost.house_day_tokens",
}
"""The settings that hold the limits of a day."""
_LIMIT_OF_PERSON = Text(
    "(I stopped: your daily limit of {limit} is used up. I can continue from {moment}. An"
    " owner can raise the limit.)"
)
_LIMIT_OF_ALL = Text(
    "(I stopped: the daily limit of {limit} that everyone shares is used up. I can continue"
    " from {moment}. An owner can raise the limit.)"
)
_LIMIT_OF_OWNER = Text(
    "(I stopped: your daily limit of {limit} is used up. I can continue from {moment}. To"
    " raise the limit, change {setting} on the page “Configuration”.)"
)
_LIMIT_OF_ALL_FOR_OWNER = Text(
    "(I stopped: the daily limit of {limit} that everyone shares is used up. I can continue"
    " from {moment}. To raise it, change {setting} on the page “Configuration”.)"
)
_TODAY = Text("**Today**: {spent}")
_MONTH = Text("Last 30 days: {spent}")
LIMITS_END = Text("Counting starts again at zero: {moment}.")
_EVERYONE = Text("**Everyone today**: {spent}")
_PRICES = Text("Date of each price: {models}")
_FREE = Text("Free on this machine: {models}. I count tokens instead of money.")
_NO_PRICE = Text("No price known for: {models}. I count tokens instead.")
_NO_PRICE_OWNER = Text(
    "No price known for: {models}. I count tokens instead; you can set a price in cost.prices."
)
_USAGE_LINE = Plural(
    "- {purpose}, {model}: {n:,} call, {read:,} tokens read, {written:,} written, {cost}",
    "- {purpose}, {model}: {n:,} calls, {read:,} tokens read, {written:,} written, {cost}",
)
_USAGE_LINE_TOKENS = Plural(
    "- {purpose}, {model}: {n:,} call, {read:,} tokens read, {written:,} written",
    "- {purpose}, {model}: {n:,} calls, {read:,} tokens read, {written:,} written",
)
_RECALL_LINE = Plural(
    "- Looked up: about {tokens:,} tokens of earlier messages for {n:,} answer",
    "- Looked up: about {tokens:,} tokens of earlier messages for {n:,} answers",
)
_OF = Text("{used} of {limit}")
_WITHOUT_PRICE = Text("{money} and {tokens} without a price")
_TOKENS = Text("{count:,} tokens")
_TOKENS_OF = Text("{count:,} of {limit:,} tokens")
_CENTS, _FRACTIONS = Text("${amount:,.2f}"), Text("${amount:,.4f}")
_MICRO = Text("${amount:,.6f}")
_LEAST_FRACTION = 100
"""Micro-dollars; below that, four decimals are all zero."""

EVERYONES_USAGE = Text("Everyone's usage")
YOUR_USAGE = Text("Your usage")
DIVIDED_BY = Text("Cost by")
BY_MODEL = Text("Model")
BY_PURPOSE = Text("Purpose")
BY_PERSON = Text("Person")
DAILY_COST = Text("Cost by day")
DAILY_TOKENS = Text("Tokens by day")
NUMBERS_BY_DAY = Text("Table by day")
DAY = Text("Day")
TODAY = Text("Today")
TOTAL = Text("Total")
OTHERS = Text("Others")
READ_UNCACHED = Text("Newly read")
WRITTEN_TO_CACHE = Text("Written to the cache")
READ_FROM_CACHE = Text("Read from the cache")
WRITTEN = Text("Written by the model")
CACHING = Text("What the cache saved")
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
CACHE_UNPRICED = Text("No price known for: {models}. So I can't say what the cache saved there.")
LIMITS = Text("Today's limits")
LIMIT_OF = Text("Limit for")
LIMIT_USED = Text("Used")
LIMIT = Text("Limit")
LIMIT_SHARE = Text("Share")
PRICED_MODELS = Text("Models with a price")
UNPRICED_MODELS = Text("Models without a price")
NO_LIMIT = Text("no limit")
LIMITS_CHANGE = Text("You can change the limits ({setting}) here:")
LIMITS_ASK = Text("An owner can change the limits.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """A session as a list shows it; `last_at` is in milliseconds."""

    number: int
    title: str
    last_at: int
    messages: int
    is_open: bool


def list_sessions(lines: Sequence[SessionLine], clock: ReaderClock, *, more: int) -> str:
    """List sessions with their numbers; `more` is how many older ones are not listed."""
    if not lines:
        return _SESSIONS_NONE()
    text = _SESSIONS(lines="\n".join(_describe_session(one, clock) for one in lines))
    earlier = next((one.number for one in lines if not one.is_open), None)
    hints = [
        *([_SESSIONS_RETURN(number=earlier)] if earlier is not None else []),
        *([_SESSIONS_MORE(more)] if more else []),
    ]
    return f"{text}\n\n{' '.join(hints)}" if hints else text


def describe_resumed(session: SessionLine) -> str:
    """Say which session is continued."""
    return _RESUMED(title=session.title or _UNTITLED(), messages=_MESSAGES(session.messages))


def describe_title(title: str) -> str:
    """Show the title of the session, and say how to change it."""
    return _TITLE(title=title) if title else _TITLE_NONE()


def _describe_session(one: SessionLine, clock: ReaderClock) -> str:
    sentence = _SESSION_OPEN if one.is_open else _SESSION
    return sentence(
        number=one.number,
        title=one.title or _UNTITLED(),
        messages=_MESSAGES(one.messages),
        moment=clock.show(one.last_at),
    )


def describe_cap(cap: int | None) -> str:
    """Describe how much of a conversation may be read before an answer."""
    return _CAP(cap=cap) if cap else _NO_CAP()


def describe_context(report: "ContextReport", limit: int) -> str:
    """Describe the tokens a model reads before each answer, and how to read fewer.

    `limit` is the most tokens that a call may read here.
    """
    total = report.total
    lines = [
        _CONTEXT(total=total, limit=limit, left=max(limit - total, 0)),
        *(
            line(tokens=report.sources[source])
            for source, line in _SOURCES.items()
            if report.sources[source]
        ),
        "",  # without it, the next line would belong to the list
        _describe_last(report),
    ]
    hints = list(_list_hints(report))
    return "\n".join([*lines, "", *hints]) if hints else "\n".join(lines)


def _describe_last(report: "ContextReport") -> str:
    line = _LAST(report.calls, share=100 * report.cached // max(report.read, 1))
    if report.grown is None:
        return line
    return f"{line} {(_GROWN if report.grown >= 0 else _SHRUNK)(tokens=abs(report.grown))}"


def _list_hints(report: "ContextReport") -> Iterator[str]:
    """List ways to read less, the largest saving first."""
    ways = [
        (report.history, 0, _SAVE_NEW),
        (report.saved_by_compaction, 1, _SAVE_COMPACT),
        (report.sources["memory"], 2, _SAVE_MEMORY),
    ]
    for saved, _, hint in sorted(ways, reverse=True):
        if saved >= _LEAST_SAVED:
            yield hint(tokens=saved)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReader:
    """The reader of a sentence: their time zone, the moment, and whether they are an owner."""

    zone: str
    now: int
    is_owner: bool


def describe_limit(quota: "ReachedQuota", answered: str, reader: UsageReader) -> str:
    """Append to an answer which daily limit ended its turn, and until when."""
    if reader.is_owner:
        note = _LIMIT_OF_OWNER if quota.subject == "person" else _LIMIT_OF_ALL_FOR_OWNER
    else:
        note = _LIMIT_OF_PERSON if quota.subject == "person" else _LIMIT_OF_ALL
    shown = note(
        limit=describe_amount(quota.unit, quota.limit),
        moment=_moment(quota.resets_at, reader),
        setting=LIMIT_SETTINGS[quota.subject, quota.unit],
    )
    return f"{answered}\n\n{shown}" if answered else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """The content of `/usage`. `month` is of the last 30 days; `priced` pairs models with the
    date of their prices, empty for one without; `free` are models of this machine; `people` and
    `deployment` are for owners.
    """

    reader: UsageReader
    person: "QuotaStatus"
    today: Sequence[UsageLine]
    recalled: tuple[int, int]
    """Number of answers whose prompts got past messages, and the tokens of those messages."""
    month: QuotaUsage
    priced: Sequence[tuple[str, str]]
    free: Sequence[str] = ()
    deployment: "QuotaStatus | None" = None
    people: Sequence[tuple[str, QuotaUsage]] = ()


def describe_usage(report: UsageReport) -> str:
    """Describe what a person spent and has left today; for owners, what everyone spent."""
    person, reader = report.person, report.reader
    lines = [_TODAY(spent=_of_limit(person.spent, person.limit))]
    lines += [_line(line) for line in report.today]
    answers, tokens = report.recalled
    if answers:
        lines.append(_RECALL_LINE(answers, tokens=tokens))
    lines += [""] if lines[1:] else []  # else they belong to the list
    lines.append(_MONTH(spent=describe_charged(report.month)))
    lines.append(LIMITS_END(moment=_moment(person.day.end, reader)))
    if report.deployment:
        deployment = report.deployment
        lines += ["", _EVERYONE(spent=_of_limit(deployment.spent, deployment.limit))]
        lines += [
            f"- {quote_name(name)}: {describe_charged(charged)}" for name, charged in report.people
        ]
    known = [f"{model} {as_of}" for model, as_of in report.priced if as_of]
    unknown = [model for model, as_of in report.priced if not as_of]
    if known or unknown or report.free:
        lines.append("")
    if known:
        lines.append(_PRICES(models=", ".join(known)))
    if report.free:
        lines.append(_FREE(models=", ".join(report.free)))
    if unknown:
        sentence = _NO_PRICE_OWNER if reader.is_owner else _NO_PRICE
        lines.append(sentence(models=", ".join(unknown)))
    return "\n".join(lines)


def name_purpose(purpose: str) -> str:
    """Return what model calls of this purpose are for."""
    known = _PURPOSES.get(purpose)
    return known() if known else purpose


def _line(line: UsageLine) -> str:
    is_priced = line.charged.known_micro_dollars is not None
    sentence = _USAGE_LINE if is_priced else _USAGE_LINE_TOKENS
    return sentence(
        line.calls,
        purpose=name_purpose(line.purpose),
        model=line.model,
        read=line.input_tokens,
        written=line.output_tokens,
        cost=describe_charged(line.charged),
    )


def _of_limit(spent: QuotaUsage, limit: "DailyLimit") -> str:
    """Describe the money with its limit, and the tokens without a price, if there are any."""
    money, used = describe_amount("money", spent.micro_dollars), spent.unpriced_tokens
    if limit.money:
        money = _OF(used=money, limit=describe_amount("money", limit.money))
    if not used:
        return money
    tokens = _TOKENS_OF(count=used, limit=limit.tokens) if limit.tokens else _TOKENS(count=used)
    if not spent.micro_dollars:
        return tokens
    return _WITHOUT_PRICE(money=money, tokens=tokens)


def describe_charged(charged: QuotaUsage) -> str:
    """Describe a cost: the money, and the tokens of calls without a price."""
    money = describe_amount("money", charged.micro_dollars)
    if not charged.unpriced_tokens:
        return money
    tokens = describe_amount("tokens", charged.unpriced_tokens)
    return _WITHOUT_PRICE(money=money, tokens=tokens) if charged.micro_dollars else tokens


def describe_amount(unit: str, amount: int) -> str:
    """Describe an amount of `money`, in micro-dollars, or of `tokens`."""
    if unit == "tokens":
        return _TOKENS(count=amount)
    if amount % 10_000 == 0:
        return _CENTS(amount=amount / 1_000_000)
    return (_FRACTIONS if amount >= _LEAST_FRACTION else _MICRO)(amount=amount / 1_000_000)


def _moment(at: int, reader: UsageReader) -> str:
    """Format a moment on the reader's clock."""
    return ReaderClock(zone=reader.zone, now=reader.now).show(at)
