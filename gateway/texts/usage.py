"""What the program says about cost: what was spent, and which ceiling of the day is reached."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_core.agent.quotas.balance import DailyLimit
from agent_core.agent.quotas.reservations import QuotaStatus
from agent_core.agent.replay.context_report import ContextReport, Source
from agent_core.events import ReachedQuota
from agent_core.state.conversations.usage import Charged, Line
from agent_core.tools.clock import local_time
from gateway.texts.people import quote_name

COMPACT_RUNNING = (
    "I am still answering here. A long talk is made shorter on the way by itself; for more, say"
    " /compact again when I am done, or /stop first."
)
COMPACT_EMPTY = "There is nothing to make shorter yet: this talk has just begun."
COMPACT_NO_GAIN = (
    "There is nothing to gain here: what could be told shorter is short already, or no summary of"
    " it was to be had just now. Nothing was changed."
)


def describe_compact(before: int, after: int) -> str:
    """A talk was made shorter."""
    return (
        f"This talk is shorter for me now: about {after:,} tokens instead of {before:,}. Older"
        " turns are told by a summary; all of it stays findable."
    )


def describe_cap(cap: int | None) -> str:
    """How much of a talk is read at once, as a person has set it."""
    return f"at most {cap:,} tokens" if cap else "as much as this house allows"


CONTEXT_EMPTY = (
    "There is nothing to tell yet: no answer was given in this talk since it began. Ask again"
    " after the next one."
)
_SOURCES: dict[Source, str] = {
    "identity": "Who I am, and my rules",
    "memory": "Memory",
    "files": "Context files",
    "tools": "Tools",
    "summary": "Summary of older turns",
    "talk": "What was said here",
    "outputs": "What tools gave",
}
_LEAST_SAVED = 100
"""Tokens below which nobody is told how to save them."""


def describe_context(reckoning: ContextReport, limit: int) -> str:
    """How much a model reads before each answer, of what, and what would make it less.

    `limit` is the most tokens that a call may read here.
    """
    total = reckoning.total
    left = max(limit - total, 0)
    head = (
        f"**What I read before each answer**: about {total:,} of at most {limit:,} tokens;"
        f" {left:,} are left"
    )
    lines = [
        head,
        *(
            f"- {name}: {reckoning.sources[source]:,}"
            for source, name in _SOURCES.items()
            if reckoning.sources[source]
        ),
        _describe_last(reckoning),
    ]
    hints = list(_list_hints(reckoning))
    return "\n".join([*lines, "", *hints]) if hints else "\n".join(lines)


def _describe_last(reckoning: ContextReport) -> str:
    calls = "1 call" if reckoning.calls == 1 else f"{reckoning.calls} calls"
    share = 100 * reckoning.cached // max(reckoning.read, 1)
    line = f"The last answer took {calls}; {share} % of what was read came from the cache"
    if reckoning.grown is None:
        return f"{line}."
    word = "more" if reckoning.grown >= 0 else "less"
    return f"{line}, and {abs(reckoning.grown):,} tokens {word} were read than for the one before."


def _list_hints(reckoning: ContextReport) -> Iterator[str]:
    """What a person can do about it, the largest first."""
    ways = [
        (reckoning.history, "Without this talk's past, with /new, it is {} less."),
        (reckoning.saved_by_compaction, "With older turns told by a summary, /compact, {} less."),
        (
            reckoning.sources["memory"],
            "Without anything remembered up to {} less: /memory drops what is not needed.",
        ),
    ]
    for saved, sentence in sorted(ways, reverse=True):
        if saved >= _LEAST_SAVED:
            yield sentence.format(f"{saved:,}")


THRIFT = (
    "(Most of what may be spent today is spent: the smaller model answers until the day is over."
    " /usage tells more.)"
)
_PURPOSES = {
    "turn": "Answers",
    "title": "Titles",
    "compaction": "Summaries of long talks",
    "broken": "Broken off",
}
_SETTINGS = {
    ("person", "money"): "cost.person_day_usd",
    ("person", "tokens"): "cost.person_day_tokens",
    ("deployment", "money"): "cost.house_day_usd",
    ("deployment", "tokens"): "cost.house_day_tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads a sentence: their time zone, when, and whether the house is theirs."""

    zone: str
    now: int
    is_owner: bool


def describe_ceiling(shut: ReachedQuota, answered: str, reader: Reader) -> str:
    """That a day's ceiling ended a turn: which one, until when, and who can raise it."""
    limit = _amount(shut.unit, shut.limit)
    whose = "one person" if shut.subject == "person" else "all of us together"
    who = "You can" if reader.is_owner else "The owner of this house can"
    note = (
        f"(I stopped here: {whose} may spend {limit} a day, and that is used up. I go on"
        f" {_moment(shut.resets_at, reader)}. {who} raise {_SETTINGS[shut.subject, shut.unit]} in"
        " the settings before that.)"
    )
    return f"{answered}\n\n{note}" if answered else note


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """What `/usage` tells. `month` is of the last 30 days; `priced` says when the prices of the
    models were looked up, and is empty for one without; `people` and `house` are for owners.
    """

    reader: Reader
    person: QuotaStatus
    today: Sequence[Line]
    month: Charged
    priced: Sequence[tuple[str, str]]
    house: QuotaStatus | None = None
    people: Sequence[tuple[str, Charged]] = ()


def describe_usage(report: UsageReport) -> str:
    """What a person's calls came to, what is left of the day, and for owners all of it."""
    person, reader = report.person, report.reader
    lines = [f"**Today**: {_of_ceiling(person.spent, person.limit)}"]
    lines += [_line(line) for line in report.today]
    lines.append(f"Last 30 days: {_charged(report.month)}")
    lines.append(f"The day ends {_moment(person.day.end, reader)}.")
    if report.house:
        house = report.house
        lines += ["", f"**Everybody, today**: {_of_ceiling(house.spent, house.limit)}"]
        lines += [f"- {quote_name(name)}: {_charged(charged)}" for name, charged in report.people]
    known = [f"{model} {as_of}" for model, as_of in report.priced if as_of]
    unknown = [model for model, as_of in report.priced if not as_of]
    if known or unknown:
        lines.append("")
    if known:
        lines.append(f"Prices as of: {', '.join(known)}")
    if unknown:
        hint = "; cost.prices in the settings can name it" if reader.is_owner else ""
        lines.append(f"Price unknown: {', '.join(unknown)}. Tokens are counted instead{hint}.")
    return "\n".join(lines)


def _line(line: Line) -> str:
    what = _PURPOSES.get(line.purpose, line.purpose)
    is_unknown = line.charged.unpriced_tokens and not line.charged.micro_dollars
    cost = "price unknown" if is_unknown else _charged(line.charged)
    calls = f"{line.calls:,} {'call' if line.calls == 1 else 'calls'}"
    return (
        f"- {what}, {line.model}: {calls}, {line.input_tokens:,} tokens read,"
        f" {line.output_tokens:,} written, {cost}"
    )


def _of_ceiling(spent: Charged, ceiling: DailyLimit) -> str:
    """Each unit that is used, with its ceiling; the other one only where it has something."""
    words = [_part("money", spent.micro_dollars, ceiling.money)]
    if spent.unpriced_tokens:
        words.append(_part("tokens", spent.unpriced_tokens, ceiling.tokens) + " without a price")
    return ", ".join(words)


def _part(unit: str, spent: int, limit: int) -> str:
    if not limit:
        return _amount(unit, spent)
    used = f"{spent:,}" if unit == "tokens" else _amount(unit, spent)
    return f"{used} of {_amount(unit, limit)}"


def _charged(charged: Charged) -> str:
    money = _amount("money", charged.micro_dollars)
    if not charged.unpriced_tokens:
        return money
    return f"{money}, {_amount('tokens', charged.unpriced_tokens)} without a price"


def _amount(unit: str, amount: int) -> str:
    if unit == "tokens":
        return f"{amount:,} tokens"
    return f"${amount / 1_000_000:,.{2 if amount % 10_000 == 0 else 4}f}"


def _moment(at: int, reader: Reader) -> str:
    """A moment on the reader's own clock."""
    there, here = local_time(at, reader.zone), local_time(reader.now, reader.zone)
    days = (there.date() - here.date()).days
    day = {0: "today", 1: "tomorrow"}.get(days, f"on {there:%Y-%m-%d}")
    return f"{day} at {there:%H:%M} ({reader.zone})"
