"""Every provider with its emulator, and the values in which their protocols differ."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.models import anthropic, openai
from agent_core.models.contract import Model, StopReason
from agent_core.models.profiles import Profiles
from agent_core.models.settings import AnthropicSettings, OpenAISettings
from tests.emulators.anthropic import AnthropicEmulator, render_events
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.streaming import Answer, Emulator, Fault

Errors = tuple[tuple[Fault, type[ModelError]], ...]


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One provider. `first_text` counts the events up to the first text of an answer, `spare`
    the last events that an answer can lose. `stream_errors` are (events before, code, error).
    """

    name: str
    model: str
    emulator: Callable[..., Any]
    settings: Callable[..., AnthropicSettings | OpenAISettings]
    factory: Callable[..., Model]
    address: Callable[[Any], str]
    route: str
    render: Callable[[Answer], list[bytes]]
    tools: str
    first_text: int
    spare: int
    image: str
    low_effort: Mapping[str, Any]
    stops: Mapping[str, StopReason]
    errors: Errors
    stream_errors: tuple[tuple[int, str, type[ModelError]], ...]
    bad_settings: tuple[tuple[Mapping[str, str], str], ...]

    def create(self, api: Emulator, profiles: Profiles | None = None, **options: Any) -> Model:
        """The provider connected to its emulator."""
        given = {"api_key": "good-key", "base_url": self.address(api), "timeout": 5.0}
        return self.factory(self.settings(**{**given, **options}), profiles)


_COMMON: Errors = (
    (Fault(status=400, message="the reason given"), ModelRejected),
    (Fault(status=401), ModelDenied),
    (Fault(status=402), ModelDenied),
    (Fault(status=403), ModelDenied),
    (Fault(status=404), ModelUnknown),
    (Fault(status=408), ModelBusy),
    (Fault(status=409), ModelBusy),
    (Fault(status=413), ModelOverflow),
    (Fault(status=418), ModelRejected),
    (Fault(status=422), ModelRejected),
    (Fault(status=429), ModelBusy),
    (Fault(status=500), ModelBusy),
    (Fault(status=502), ModelBusy),
    (Fault(status=503), ModelBusy),
    (Fault(status=504), ModelBusy),
)
_BAD_SETTINGS: tuple[tuple[Mapping[str, str], str], ...] = (
    ({"api_key": ""}, "api_key"),
    ({"api_key": "k", "base_url": "localhost:11434"}, "base_url"),
    ({"api_key": "k", "base_url": ""}, "base_url"),
    ({"api_key": "k", "base_url": "http://host:0"}, "base_url"),
    ({"api_key": "k", "base_url": "http://host:99999999"}, "base_url"),
)

ANTHROPIC = Provider(
    name="anthropic",
    model="claude-sonnet-5-5",
    emulator=AnthropicEmulator,
    settings=AnthropicSettings,
    factory=anthropic.create,
    address=lambda api: api.url,
    route="POST /v1/messages",
    render=lambda answer: render_events(
        AnthropicEmulator().compose("claude-sonnet-5-5", answer, {}), 3
    ),
    tools="tool_use",
    first_text=4,
    spare=1,
    image="[image]",
    low_effort={"output_config": {"effort": "low"}},
    stops={
        "end_turn": "end",
        "stop_sequence": "end",
        "max_tokens": "length",
        "pause_turn": "pause",
        "refusal": "refusal",
        "model_context_window_exceeded": "overflow",
        "a_reason_of_next_year": "end",
        "tool_use": "unknown",
    },
    errors=(
        *_COMMON,
        (Fault(status=529), ModelBusy),
        (Fault(status=400, message="prompt is too long: 9 tokens > 8 maximum"), ModelOverflow),
        (
            Fault(status=400, message="input length and `max_tokens` exceed context limit: 1+1>1"),
            ModelOverflow,
        ),
        (Fault(status=400, message="Your credit balance is too low."), ModelDenied),
        (Fault(status=400, error_code="organization_on_hold"), ModelDenied),
        (Fault(status=429, error_code="contract_spend_limit_reached"), ModelDenied),
        (Fault(status=429, error_code="ramp_limit_exceeded"), ModelBusy),
    ),
    stream_errors=(
        (0, "overloaded_error", ModelBusy),
        *(
            (after, code, error)
            for after in (1, 4)
            for code, error in (
                ("overloaded_error", ModelInterrupted),
                ("api_error", ModelInterrupted),
                ("rate_limit_error", ModelInterrupted),
                ("an_error_of_next_year", ModelInterrupted),
                ("invalid_request_error", ModelRejected),
                ("billing_error", ModelDenied),
            )
        ),
    ),
    bad_settings=_BAD_SETTINGS,
)

OPENAI = Provider(
    name="openai",
    model="gpt-5-mini",
    emulator=OpenAIEmulator,
    settings=OpenAISettings,
    factory=openai.create,
    address=lambda api: api.base_url,
    route="POST /v1/chat/completions",
    render=lambda answer: OpenAIEmulator(deltas=3).render(
        {"model": "gpt-5-mini", "stream_options": {"include_usage": True}}, answer, {}
    ),
    tools="tool_calls",
    first_text=2,
    spare=2,
    image="[image_url]",
    low_effort={"reasoning_effort": "low"},
    stops={
        "stop": "end",
        "length": "length",
        "content_filter": "refusal",
        "tool_calls": "unknown",
        "function_call": "unknown",
        "a_reason_of_next_year": "end",
    },
    errors=(
        *_COMMON,
        (Fault(status=429, error_code="insufficient_quota"), ModelDenied),
        (Fault(status=400, error_code="context_length_exceeded"), ModelOverflow),
        (Fault(status=400, message="maximum context length is 4096 tokens"), ModelOverflow),
        (Fault(status=400, error_code="model_not_found"), ModelUnknown),
    ),
    stream_errors=(
        (0, "server_error", ModelBusy),
        (2, "server_error", ModelInterrupted),
        (2, "502", ModelInterrupted),
        (2, "402", ModelDenied),
        (2, "context_length_exceeded", ModelOverflow),
        (2, "400", ModelRejected),
    ),
    bad_settings=(*_BAD_SETTINGS, ({"base_url": "https://api.openai.com/v1"}, "api_key")),
)

PROVIDERS = (ANTHROPIC, OPENAI)


def each(pick: Callable[[Provider], Any]) -> list[Any]:
    """Every provider with each of its own values, as parameters."""
    return [(provider, value) for provider in PROVIDERS for value in pick(provider)]
