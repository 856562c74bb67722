"""Sentences about the models that people may choose."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.localization import Text
from agent_core.models import Price

DEFAULT = Text("Default")
UNKNOWN = Text("I don't know that model. /model lists the ones you can choose.")
JOB_UNKNOWN = Text("You have no such job. /jobs lists yours.")
JOB_NO_MODEL = Text("That job calls no model.")

_OWN = Text("**Your model**: {model}")
_OF_JOB = Text("**Model of {title}**: {model}")
_AS_DEFAULT = Text("{model} (default)")
_PRICE = Text("${input:,.2f} in, ${output:,.2f} out for a million tokens")
_PRICE_UNKNOWN = Text("price unknown")
_LINE = Text("- {model}: {price}; {sees}")
_SEES = {
    (True, True): Text("sees pictures, hears voice notes, reads files"),
    (True, False): Text("sees pictures, reads files"),
    (False, True): Text("sees no pictures; hears voice notes, reads files"),
    (False, False): Text("sees no pictures; reads files"),
    (None, True): Text("may see pictures; hears voice notes, reads files"),
    (None, False): Text("may see pictures; reads files"),
}
_PRIVATE = Text("It answers in our private conversations; groups and jobs keep theirs.")
_JOBS = Text("/model job NUMBER chooses the model of a job.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLine:
    """A model to choose. `sees_images` is None if nobody knows."""

    name: str
    price: Price | None
    sees_images: bool | None


def describe_price(price: Price | None) -> str:
    """Describe what a model costs."""
    if price is None:
        return _PRICE_UNKNOWN()
    return _PRICE(input=price.input / 1_000_000, output=price.output / 1_000_000)


def list_models(lines: Sequence[ModelLine], *, hears: bool) -> str:
    """List models with their prices and what reaches them; `hears` is for voice notes."""
    return "\n".join(
        _LINE(
            model=line.name,
            price=describe_price(line.price),
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
