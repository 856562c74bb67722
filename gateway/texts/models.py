"""Sentences about the models that people may choose, and about models that do not answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.events import ModelFault, ModelOutage
from agent_core.localization import Text
from agent_core.models.catalog import Price
from agent_core.tools.clock import ReaderClock

DEFAULT = Text("Default")
UNKNOWN = Text("I don't know that model. /model lists the ones you can choose.")
JOB_UNKNOWN = Text("You have no reminder with that number. /reminders lists yours.")
JOB_NO_MODEL = Text("That reminder doesn't use a model, so there's none to choose.")

_OWN = Text("**Your model**: {model}")
_OF_JOB = Text("**Model of {title}**: {model}")
_AS_DEFAULT = Text("{model} (default)")
_PRICE = Text("${input:,.2f} per million tokens read, ${output:,.2f} per million written")
_PRICE_UNKNOWN = Text("price unknown")
_FREE = Text("free, as it runs on this machine")
_LINE = Text("- {model}: {price}; {sees}")
_SEES = {
    (True, True): Text("sees pictures, hears voice notes, reads files"),
    (True, False): Text("sees pictures, reads files"),
    (False, True): Text("sees no pictures; hears voice notes, reads files"),
    (False, False): Text("sees no pictures; reads files"),
    (None, True): Text("might see pictures; hears voice notes, reads files"),
    (None, False): Text("might see pictures; reads files"),
}
_PRIVATE = Text(
    "This model answers in our direct conversations. Groups and reminders keep their own models."
)
_JOBS = Text("/model job NUMBER chooses the model of a reminder.")

STOP = Text("Stop")
LOADING = Text("The model is loading. This first answer takes longer than the next ones.")

_UNTIL = {
    "model_busy": Text("The model is overloaded. I'll keep trying until {time}."),
    "model_cut": Text("The model's answers break off. I'll keep trying until {time}."),
    "model_unreachable": Text("I can't reach the model. I'll keep trying until {time}."),
    "model_denied": Text(
        "I can't use my model at the moment. The owner knows why, and I'll answer as soon as it"
        " works."
    ),
}
_FAULTS = {
    "model_denied": Text(
        "I can't use the model {model}: its provider rejects the key or the account. The"
        " provider said: {detail}"
    ),
    "model_unknown": Text(
        "I can't use the model {model}: its provider doesn't have it. The provider said: {detail}"
    ),
    "model_misplaced": Text("I can't use the model {model}. {detail}"),
}
_REFUSALS = {
    "model_rejected": Text(
        "The model {model} refused a request, so somebody got no answer. Its provider said:"
        " {detail}"
    ),
    "model_declined": Text(
        "A content filter of the model {model} declined a message. Its provider said: {detail}"
    ),
}
_SEE_MODELS = Text(
    "If this goes on, choose another model in config.toml. `talaria models` shows what I know"
    " about each model."
)
_RESUMES = Text(
    "Check the key in .env and [model] in config.toml. I'll answer the waiting messages as"
    " soon as it works."
)

_MOVES = Text(
    "Correct the address in .env, such as OPENAI_BASE_URL, and restart me. I'll answer the waiting"
    " messages then."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLine:
    """A model to choose. `sees_images` is None if nobody knows."""

    name: str
    price: Price | None
    is_free: bool
    sees_images: bool | None


def describe_price(price: Price | None, *, is_free: bool) -> str:
    """Describe what a model costs; a model without a price may be free."""
    if price is None:
        return _FREE() if is_free else _PRICE_UNKNOWN()
    return _PRICE(input=price.input / 1_000_000, output=price.output / 1_000_000)


def list_models(lines: Sequence[ModelLine], *, hears: bool) -> str:
    """List models with their prices and the kinds of input that they get; `hears` is for voice
    notes.
    """
    return "\n".join(
        _LINE(
            model=line.name,
            price=describe_price(line.price, is_free=line.is_free),
            sees=_SEES[line.sees_images, hears](),
        )
        for line in lines
    )


def describe_own(model: str, listed: str, *, is_default: bool) -> str:
    """Say which model answers a person, and which ones they can choose."""
    own = _OWN(model=_AS_DEFAULT(model=model) if is_default else model)
    return f"{own}\n\n{listed}\n\n{_PRIVATE()} {_JOBS()}"


def describe_job_model(title: str, model: str, listed: str, *, is_default: bool) -> str:
    """Say which model a job uses, and which ones it can use."""
    shown = _AS_DEFAULT(model=model) if is_default else model
    return f"{_OF_JOB(title=title, model=shown)}\n\n{listed}"


def describe_outage(outage: ModelOutage, zone: str, now: int) -> str:
    """Say that the model does not answer, and until when the turn waits."""
    time = ReaderClock(zone=zone, now=now).show_short(outage.until)
    return _UNTIL.get(outage.reason, _UNTIL["model_denied"])(time=time)


def describe_fault(fault: ModelFault) -> str:
    """Tell an owner why a model can't be used or refused a request, and what to do."""
    if fault.reason in _REFUSALS:
        refused = _REFUSALS[fault.reason](model=fault.model, detail=fault.detail)
        return f"{refused}\n\n{_SEE_MODELS()}"
    shown = _FAULTS[fault.reason](model=fault.model, detail=fault.detail)
    if fault.reason == "model_misplaced":
        return f"{shown}\n\n{_MOVES()}"
    return f"{shown}\n\n{_RESUMES()}"
