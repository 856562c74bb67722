"""Requests and answers of operations as JSON, for the control socket."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import lru_cache, partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from agent_core.transcript import repair_text
from gateway.errors import Mistaken

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from gateway.operations.contract import Answer, Operation, OperationContext

_Value = TypeVar("_Value", bound="DataclassInstance")
_Asked = TypeVar("_Asked", bound="DataclassInstance")


def dump(value: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a dataclass as JSON gives them back: tuples become lists."""
    return asdict(value, dict_factory=_list_tuples)


def _list_tuples(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(one) if isinstance(one, tuple) else one for name, one in items}


def load(kind: type[_Value], given: Mapping[str, Any]) -> _Value:
    """Build a dataclass from a JSON object, and check the types of its fields.

    A field may have the sentence for a wrong value as `refusal` in its metadata. Raises `Mistaken`.
    """
    hints = _find_types(kind)
    if unknown := given.keys() - hints.keys():
        raise Mistaken(f"There is no field {', '.join(sorted(unknown))}.")
    values = {}
    for field in fields(kind):
        refusal = field.metadata.get("refusal")
        if field.name in given:
            try:
                values[field.name] = _convert(hints[field.name], given[field.name])
            except ValueError as error:
                raise Mistaken(refusal or f"The {field.name} {error}.") from error
        elif field.default is MISSING and field.default_factory is MISSING:
            raise Mistaken(refusal or f"The {field.name} is missing.")
    return kind(**values)


def load_known(kind: type[_Value], given: Mapping[str, Any]) -> _Value:
    """Build a dataclass from the values that are its fields, such as those of a command line."""
    return load(kind, {name: given[name] for name in _find_types(kind) if name in given})


def typed(
    function: "Callable[[OperationContext, _Asked], Awaitable[DataclassInstance]]",
) -> "Operation":
    """Return an operation over JSON objects, made from one over dataclasses."""
    whole = function.func if isinstance(function, partial) else function
    hints = get_type_hints(whole)
    kind: type[_Asked] = next(hints[name] for name in hints if name not in ("context", "return"))

    async def perform(context: "OperationContext", asked: "Answer") -> "Answer":
        _refuse_halves(asked)
        return dump(await function(context, load(kind, asked)))

    return perform


def _refuse_halves(asked: "Answer") -> None:
    """Raise `Mistaken` for half of a character: of a cut emoji, or of a word that is no UTF-8."""
    for name, value in asked.items():
        text = json.dumps(value, ensure_ascii=False)
        if repair_text(text) != text:
            raise Mistaken(
                f"The {name} holds half of a character; perhaps an emoji was cut in two."
            )


@lru_cache
def _find_types(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _convert(kind: Any, value: Any) -> Any:
    """Return a value as a type wants it. Raises `ValueError` with the end of a sentence."""
    kind = getattr(kind, "__supertype__", kind)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in get_args(kind):
            return None
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
        return _convert(kind, value)
    if origin is Literal:
        if value in get_args(kind):
            return value
        raise ValueError(f"must be one of {', '.join(map(str, get_args(kind)))}")
    if origin is tuple:
        if isinstance(value, list | tuple):
            return tuple(_convert(get_args(kind)[0], one) for one in value)
        raise ValueError("must be a list")
    if origin is dict:
        if isinstance(value, dict):
            return value
        raise ValueError("must be an object")
    if is_dataclass(kind):
        if isinstance(value, Mapping):
            return load(kind, value)  # type: ignore[arg-type]  # it is a class, not an instance
        raise ValueError("must be an object")
    return _check_plain(kind, value)


_NAMES = {str: "a text", int: "a number", float: "a number", bool: "true or false"}


def _check_plain(kind: type, value: Any) -> Any:
    is_right = type(value) is kind or (kind is float and type(value) is int)
    if not is_right:
        raise ValueError(f"must be {_NAMES[kind]}")
    return value
