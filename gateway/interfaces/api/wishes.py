"""What a request wishes of the answer: passed on to the model, or refused with the field's name.

Hints that change neither the words nor their form (`store`, `user`, `service_tier`, ...) are
ignored, and so are fields of nobody's API.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_core.agent.wishes import ProgramWishes
from agent_core.models.contract import Sampling
from agent_core.tools.arguments import compile_schema
from agent_core.transcript import ToolSpec, repair_text
from gateway.interfaces.api.errors import ApiError

_MOST_TOOLS = 128
_LONGEST_SCHEMA = 200_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ANY_OBJECT = '{"type":"object"}'
_NOTHING: tuple[object, ...] = (None, False, 0, "", [], {})
_REFUSED: Mapping[str, tuple[object, ...]] = {
    "logprobs": (),
    "top_logprobs": (),
    "logit_bias": (),
    "audio": (),
    "modalities": (["text"],),
    "functions": (),
    "function_call": ("auto", "none"),
    "web_search_options": (),
    "verbosity": ("medium",),
    "best_of": (1,),
    "echo": (),
    "suffix": (),
    "top_k": (-1,),
    "min_p": (),
    "repetition_penalty": (1,),
    "grammar": (),
    "guided_json": (),
    "guided_regex": (),
    "guided_choice": (),
    "guided_grammar": (),
    "prompt": (),
    "max_tool_calls": (),
    "context_management": (),
}
"""Fields that no model behind Talaria is sent, with the values that change nothing."""
_REFUSAL = "{field} is not supported here. Leave it out."
_NO_LOGPROBS = "message.output_text.logprobs"
_NOT_FUNCTION = (
    "{place} is no function. Talaria's own tools run in Talaria; send only functions that you run."
)
_NEUTRAL: Mapping[str, float] = {
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
}
"""Values that are every server's default, or mean the same: some models refuse to be told them."""
_Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class _Given(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class FunctionGiven(_Given):
    """A function of the program."""

    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolGiven(FunctionGiven):
    """A tool of the program; chat completions have the function in an object of its own."""

    type: str = "function"
    function: FunctionGiven | None = None

    @property
    def own(self) -> FunctionGiven:
        """The function itself."""
        return self.function or self


class JsonSchemaGiven(_Given):
    """A schema that the answer has to fit."""

    schema_: Annotated[dict[str, Any] | None, Field(alias="schema")] = None


class FormatGiven(JsonSchemaGiven):
    """The form of the answer; chat completions have the schema in an object of its own."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: JsonSchemaGiven | None = None


class TextGiven(_Given):
    """How a response's text comes."""

    format: FormatGiven | None = None
    verbosity: str | None = None


class ReasoningGiven(_Given):
    """How much a response's model thinks."""

    effort: _Effort | None = None


class Wished(BaseModel):
    """The fields of both APIs that say what the answer has to be like."""

    model_config = ConfigDict(extra="allow", frozen=True)

    tools: Annotated[list[ToolGiven], Field(max_length=_MOST_TOOLS)] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = True
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None

    def read_wishes(
        self,
        given: FormatGiven | None,
        *,
        place: str,
        most_tokens: int | None,
        effort: str | None,
        seed: int | None = None,
        stop: Sequence[str] = (),
    ) -> ProgramWishes:
        """Return the wishes. Raises `ApiError` for what can't be had; `place` names the format."""
        self._refuse_others()
        numbers = {
            name: value
            for name, neutral in _NEUTRAL.items()
            if (value := getattr(self, name)) is not None and value != neutral
        }
        sampling = Sampling(**numbers, seed=seed, stop=tuple(stop), effort=effort or "")
        wishes = ProgramWishes(
            tools=_read_tools(self.tools or ()),
            is_serial=self.parallel_tool_calls is False,
            response_schema=_read_format(given, place),
            sampling=sampling,
            most_tokens=most_tokens,
        )
        return _choose(wishes, self.tool_choice)

    def _refuse_others(self) -> None:
        for field, value in (self.model_extra or {}).items():
            neutral = _REFUSED.get(field)
            if neutral is not None and value not in _NOTHING and value not in neutral:
                raise refuse_field(field, _REFUSAL.format(field=field))


class ChatWishes(Wished):
    """The wishes in a chat completion's request."""

    response_format: FormatGiven | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: str | Annotated[list[str], Field(max_length=16)] | None = None
    seed: int | None = None
    reasoning_effort: _Effort | None = None

    def list_wishes(self) -> ProgramWishes:
        """Return the wishes. Raises `ApiError` for what can't be had."""
        stop = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return self.read_wishes(
            self.response_format,
            place="response_format",
            most_tokens=self.max_completion_tokens or self.max_tokens,
            effort=self.reasoning_effort,
            seed=self.seed,
            stop=[repair_text(one) for one in stop if one],
        )


class ResponseWishes(Wished):
    """The wishes in a response's request."""

    text: TextGiven | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    reasoning: ReasoningGiven | None = None
    include: list[str] | None = None

    def list_wishes(self) -> ProgramWishes:
        """Return the wishes. Raises `ApiError` for what can't be had."""
        if _NO_LOGPROBS in (self.include or ()):
            raise refuse_field("include", _REFUSAL.format(field=_NO_LOGPROBS))
        text = self.text or TextGiven()
        if text.verbosity not in (None, "medium"):
            raise refuse_field("text.verbosity", _REFUSAL.format(field="text.verbosity"))
        return self.read_wishes(
            text.format,
            place="text.format",
            most_tokens=self.max_output_tokens,
            effort=self.reasoning.effort if self.reasoning else None,
        )


def refuse_field(field: str, sentence: str) -> ApiError:
    """Return the refusal of a field."""
    return ApiError(HTTPStatus.BAD_REQUEST, sentence, code="unsupported_parameter", param=field)


def _read_format(given: FormatGiven | None, place: str) -> str | None:
    if given is None or given.type == "text":
        return None
    if given.type == "json_object":
        return _ANY_OBJECT
    schema = given.json_schema.schema_ if given.json_schema else given.schema_
    if not schema:
        raise refuse_field(place, f"{place} needs a JSON schema.")
    return _write_schema(schema, place)


def _write_schema(schema: Mapping[str, Any], place: str) -> str:
    """Return a schema as text. Raises `ApiError` for one that is too long or can't be used."""
    text = repair_text(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
    if len(text) > _LONGEST_SCHEMA:
        raise refuse_field(place, f"{place} is longer than {_LONGEST_SCHEMA} characters.")
    try:
        compile_schema(text)
    except ValueError as error:
        said = f"{place} is no JSON schema that Talaria can use: {error}"
        raise refuse_field(place, f"{said[:400]}.") from error
    return text


def _read_tools(given: Sequence[ToolGiven]) -> tuple[ToolSpec, ...]:
    specs: dict[str, ToolSpec] = {}
    for number, tool in enumerate(given):
        place = f"tools.{number}"
        if tool.type != "function":
            raise refuse_field(place, _NOT_FUNCTION.format(place=place))
        name = tool.own.name
        if not _NAME.fullmatch(name) or name in specs:
            said = "needs a name of its own, of at most 64 letters, digits, dashes and underscores"
            raise refuse_field(place, f"{place} {said}.")
        parameters = {"type": "object", **(tool.own.parameters or {"properties": {}})}
        if parameters["type"] != "object":
            raise refuse_field(place, f"{place} needs parameters that are an object.")
        specs[name] = ToolSpec(
            name=name,
            description=repair_text(tool.own.description or ""),
            schema=_write_schema(parameters, place),
        )
    if sum(len(spec.schema) + len(spec.description) for spec in specs.values()) > _LONGEST_SCHEMA:
        raise refuse_field("tools", f"The tools are longer than {_LONGEST_SCHEMA} characters.")
    return tuple(specs.values())


def _choose(wishes: ProgramWishes, choice: str | dict[str, Any] | None) -> ProgramWishes:
    """Return the wishes with the choice of a tool."""
    if choice in (None, "auto", "", {}):
        return wishes
    if choice == "none":
        return replace(wishes, tools=())
    named: object = choice
    if isinstance(choice, dict):
        inner = choice.get("function") or choice.get("allowed_tools") or choice
        if choice.get("type") == "allowed_tools" and isinstance(inner, dict):
            return _allow(wishes, inner)
        named = inner.get("name") if isinstance(inner, dict) else None
    names = {spec.name for spec in wishes.tools}
    is_required = named in ("required", "any") and isinstance(choice, str)
    if is_required and names:
        return replace(wishes, tool_choice="required")
    if isinstance(named, str) and named in names and not isinstance(choice, str):
        return replace(wishes, tool_choice=named)
    raise refuse_field("tool_choice", "tool_choice names no tool of this request.")


def _allow(wishes: ProgramWishes, allowed: Mapping[str, Any]) -> ProgramWishes:
    """Return the wishes with only the allowed tools."""
    names = set()
    for one in allowed.get("tools") or ():
        inner = one.get("function") or one if isinstance(one, dict) else {}
        names.add(inner.get("name") if isinstance(inner, dict) else None)
    kept = tuple(spec for spec in wishes.tools if spec.name in names)
    mode = "required" if allowed.get("mode") == "required" else "auto"
    return _choose(replace(wishes, tools=kept), mode)
