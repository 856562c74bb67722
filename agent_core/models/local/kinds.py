"""Tell a model server's kind and models by what its own API answers; pure.

Status codes decide nothing: LM Studio answers 200 with an error to a path that it doesn't know.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_core.models.local.servers import Kind, LocalModel, read_billions

PATHS = ("/api/version", "/api/tags", "/api/ps", "/api/v0/models", "/props", "/version")
"""What only one kind of server has; each is a request that changes nothing."""
MODELS = "/v1/models"

Answers = Mapping[str, Any]
"""The JSON that a server answered, by path; a path without JSON is missing."""

_MOST_MODELS = 500
_NO_CHAT = ("embed", "rerank", "whisper")
"""Words in the names of models that hold no conversation."""


def read_server(answers: Answers) -> tuple[Kind, tuple[LocalModel, ...]] | None:
    """Return the kind of a server and the models that can chat; None if it is no model server."""
    if _has(answers, "/api/version", "version") and _list(answers, "/api/tags", "models"):
        return "ollama", tuple(_read_ollama(answers))
    if _has(answers, "/api/version", "version") and _has(answers, "/api/tags", "models"):
        return "ollama", ()
    if any("max_context_length" in one for one in _list(answers, "/api/v0/models", "data")):
        return "lm_studio", tuple(_read_lm_studio(answers))
    listed = _list(answers, MODELS, "data")
    owners = {one.get("owned_by") for one in listed}
    if _has(answers, "/props", "default_generation_settings") or "llamacpp" in owners:
        return "llama_cpp", tuple(_read_llama_cpp(answers))
    if "vllm" in owners:
        return "vllm", tuple(_read_vllm(listed))
    if listed:
        return "other", tuple(_read_names(listed))
    return None


def read_ollama_abilities(model: LocalModel, shown: object) -> LocalModel | None:
    """Return a model with what Ollama's `/api/show` tells of it; None if it can't chat.

    Servers older than 0.6.4 tell no abilities; then the template does.
    """
    if not isinstance(shown, dict):
        return model
    abilities = shown.get("capabilities")
    if isinstance(abilities, list):
        if "completion" not in abilities:
            return None
        return replace(model, calls_tools="tools" in abilities)
    template = shown.get("template")
    return replace(model, calls_tools=".Tools" in template) if isinstance(template, str) else model


def _read_ollama(answers: Answers) -> Iterator[LocalModel]:
    """Leave out models that Ollama only passes on to its cloud: they are not on this machine."""
    loaded = {one.get("name"): one for one in _list(answers, "/api/ps", "models")}
    for one in _list(answers, "/api/tags", "models"):
        name = one.get("name")
        if not isinstance(name, str) or one.get("remote_host") or one.get("remote_model"):
            continue
        details = one.get("details")
        size = details.get("parameter_size") if isinstance(details, dict) else None
        model = LocalModel(
            name=name,
            billions=read_billions(str(size or "")) or read_billions(name),
            weight=_number(one.get("size")),
            window=_number(loaded.get(name, {}).get("context_length")),
        )
        if _can_chat(name):
            yield model


def _read_lm_studio(answers: Answers) -> Iterator[LocalModel]:
    for one in _list(answers, "/api/v0/models", "data"):
        name = one.get("id")
        if isinstance(name, str) and one.get("type") in ("llm", "vlm"):
            abilities = one.get("capabilities")
            yield LocalModel(
                name=name,
                calls_tools="tool_use" in abilities if isinstance(abilities, list) else None,
                billions=read_billions(name),
                window=_number(one.get("loaded_context_length")),
            )


def _read_llama_cpp(answers: Answers) -> Iterator[LocalModel]:
    """The template decides: without tools in it, the server drops them without a word."""
    props = answers.get("/props")
    props = props if isinstance(props, dict) else {}
    settings = props.get("default_generation_settings")
    window = _number(settings.get("n_ctx")) if isinstance(settings, dict) else None
    caps, template = props.get("chat_template_caps"), props.get("chat_template")
    calls: bool | None = None
    if isinstance(caps, dict) and "supports_tools" in caps:
        calls = caps["supports_tools"] is True
    elif isinstance(template, str) and template:
        calls = "tools" in template
    for one in _list(answers, MODELS, "data"):
        name, meta = one.get("id"), one.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        parameters = _number(meta.get("n_params"))
        if isinstance(name, str) and _can_chat(name):
            yield LocalModel(
                name=name,
                calls_tools=calls,
                billions=parameters / 1e9 if parameters else read_billions(name),
                weight=_number(meta.get("size")),
                window=window,
            )


def _read_vllm(listed: list[Mapping[str, Any]]) -> Iterator[LocalModel]:
    """Yield the models of vLLM; it does not tell whether they can call tools."""
    for model, one in zip(_read_names(listed), listed, strict=False):
        yield replace(model, window=_number(one.get("max_model_len")))


def _read_names(listed: list[Mapping[str, Any]]) -> Iterator[LocalModel]:
    for one in listed:
        name = one.get("id")
        if isinstance(name, str) and _can_chat(name):
            yield LocalModel(name=name, billions=read_billions(name))


def _can_chat(name: str) -> bool:
    return bool(name) and not any(word in name.lower() for word in _NO_CHAT)


def _has(answers: Answers, path: str, key: str) -> bool:
    answer = answers.get(path)
    return isinstance(answer, dict) and key in answer


def _list(answers: Answers, path: str, key: str) -> list[Mapping[str, Any]]:
    answer = answers.get(path)
    found = answer.get(key) if isinstance(answer, dict) else None
    whole = found if isinstance(found, list) else []
    return [one for one in whole[:_MOST_MODELS] if isinstance(one, dict)]


def _number(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int) and value > 0 else None
