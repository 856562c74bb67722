"""What the program says about cost: what was spent, and which ceiling of the day is reached."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ceilings.reservations import Standing
from agent_core.ceilings.till import Ceiling
from agent_core.events import Shut
from agent_core.state.usage import Charged, Line
from agent_core.tools.clock import local_time
from gateway.wording_people import quote_name

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
    ("house", "money"): "cost.house_day_usd",
    ("house", "tokens"): "cost.house_day_tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads a sentence: their time zone, when, and whether the house is theirs."""

    zone: str
    now: int
    is_owner: bool


def describe_ceiling(shut: Shut, answered: str, reader: Reader) -> str:
    """That a day's ceiling ended a turn: which one, until when, and who can raise it."""
    limit = _amount(shut.unit, shut.limit)
    whose = "one person" if shut.whose == "person" else "all of us together"
    who = "You can" if reader.is_owner else "The owner of this house can"
    note = (
        f"(I stopped here: {whose} may spend {limit} a day, and that is used up. I go on"
        f" {_moment(shut.opens_at, reader)}. {who} raise {_SETTINGS[shut.whose, shut.unit]} in"
        " the settings before that.)"
    )
    return f"{answered}\n\n{note}" if answered else note


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """What `/usage` tells. `month` is of the last 30 days; `priced` says when the prices of the
    models were looked up, and is empty for one without; `people` and `house` are for owners.
    """

    reader: Reader
    person: Standing
    today: Sequence[Line]
    month: Charged
    priced: Sequence[tuple[str, str]]
    house: Standing | None = None
    people: Sequence[tuple[str, Charged]] = ()


def describe_usage(report: UsageReport) -> str:
    """What a person's calls came to, what is left of the day, and for owners all of it."""
    person, reader = report.person, report.reader
    lines = [f"**Today**: {_of_ceiling(person.spent, person.ceiling)}"]
    lines += [_line(line) for line in report.today]
    lines.append(f"Last 30 days: {_charged(report.month)}")
    lines.append(f"The day ends {_moment(person.day.end, reader)}.")
    if report.house:
        house = report.house
        lines += ["", f"**Everybody, today**: {_of_ceiling(house.spent, house.ceiling)}"]
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


def _of_ceiling(spent: Charged, ceiling: Ceiling) -> str:
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
