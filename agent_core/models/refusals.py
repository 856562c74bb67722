"""The words with which model servers refuse a request."""

import re

from agent_core.errors import (
    ModelDeclined,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelUnknown,
    ModelUnsupported,
)

_STATUSES = (200, 400, 403, 413, 422, 451, 500)
"""Statuses with which servers refuse a request for its content or its length; 200 within a stream.
"""
_TOO_LARGE = 413

_FILTERS = re.compile(
    r"content_?filter|content[ _]policy[ _]violation|content management policy"
    r"|content filtering policy|responsibleaipolicyviolation|data_?inspection_?failed"
    r"|inappropriate content|content[ _]exists[ _]risk|considered high risk"
    r"|flagged as potentially violating|your input was flagged|requires moderation"
    r"|violates? (?:our |the )?(?:usage|content|safety) (?:guidelines|polic)"
    r"|prohibited_content|sensitive_?content|sensitive_words_detected|new_sensitive"
    r"|prompt was blocked|blocked by (?:our |the )?(?:content|safety|guardrail)|敏感内容|敏感词"
)
"""OpenAI and Azure, Anthropic, DashScope, DeepSeek, Kimi, OpenRouter, xAI, Gemini, Volcengine, New
API, MiniMax, Bedrock, Zhipu.
"""
_FILTER_CODES = frozenset({"invalid_prompt", "1301"})

_OVERFLOWS = re.compile(
    r"maximum context length|context[ _]length[ _]exceeded|context window"
    r"|contextwindowexceeded|prompt (?:is )?too long|exceeds? the available context size"
    r"|exceeds? context limit"
    r"|input token count.*exceeds|maximum prompt length is \d"
    r"|reduce the length of (?:the|your) (?:messages|prompt|input)"
    r"|inputs\W? tokens \+|inputs\W? must have less than|exceeded model token limit"
    r"|range of input length should be|input is too long|too many input tokens"
    r"|prompt token count of \d+ exceeds|(?:max|maximum) context length"
    r"|input length exceeds|greater than the context length|when context the overflows"
    r"|reached context length of|prompt exceeds max length|tokens in the prompt cannot exceed"
    r"|longer than the (?:maximum model length|model's context length)"
    r"|request_too_large|request exceeds the maximum size",
    re.DOTALL,
)
"""vLLM, OpenRouter, llama.cpp, Gemini, xAI, Groq, TGI and Together, Kimi, DashScope, Bedrock,
Copilot, Ollama, LM Studio, Zhipu, Cohere, SGLang, Anthropic, LiteLLM.
"""
_OVERFLOW_CODES = frozenset({"context_length_exceeded", "string_above_max_length", "1261"})
_RATES = re.compile(r"tokens per (?:min|day|hour)|\btp[md]\b|rate.?limit|quota")
"""A limit over time, which waiting ends."""

_CONFIGURED = (400, 422)
"""Statuses with which servers refuse what is configured, besides 401, 402 and 403."""
_KEYS = re.compile(
    r"(?:invalid|incorrect|expired|missing|wrong|no)\b.{0,20}\bapi[ _-]?key"
    r"|\bapi[ _-]?key\b.{0,30}(?:invalid|incorrect|not valid|expired|missing|wrong|required)"
    r"|api_key_invalid|authentication (?:failed|error|required)|invalid (?:auth|bearer|access)"
)
"""Gemini says 400 for a wrong key."""
_MODELS = re.compile(
    r"not a valid model|\bmodel\W{1,4}[\w./:@-]{0,80}\W{0,4}"
    r"(?:does not exist|doesn't exist|not exist|not found"
    r"|could not be found|is not available|has been (?:deprecated|decommissioned|retired|removed))"
    r"|(?:unknown|invalid|no such) model\b(?! output)|model not exist"
    r"|model_(?:not_found|decommissioned)"
)
"""OpenRouter, Groq, DeepSeek, Together, LM Studio."""
_IN_MESSAGES = re.compile(r"\b(?:messages?|contents?|input)\W{0,3}\d")
"""Words about a part of what was said, whatever is wrong with it."""
_FORMS = re.compile(
    r"(?:unsupported|unrecognized|unknown|unexpected|invalid) (?:request )?"
    r"(?:parameter|argument|keyword|field|property)"
    r"|(?:extra inputs|additional propert\w+|extra fields) (?:are|is)? ?not"
    r"|unsupported value|\b(?:parameter|argument|field)s?\b.{0,60} (?:is|are) not (?:supp|perm|all)"
    r"|invalid schema for (?:function|tool)|\btools?\W{0,2}\d|\bfunctions?\W{0,2}\d"
    r"|function_declarations|input_schema|unsupported_parameter|unknown_parameter"
)


_BROKE = re.compile(
    r"insufficient[_ ](?:account[_ ])?balance|balance is (?:too low|insufficient)|余额不足|欠费"
    r"|arrearage|account is in good standing|overdue[_ ]?(?:payment|balance)|creditserror"
)
"""MiniMax, OpenCode, relays, Anthropic, SiliconFlow, Zhipu, DashScope: no waiting ends this."""
_GONE = re.compile(
    r"decommissioned|is not a valid model id|无可用渠道|no available channel for model"
    r"|no models? (?:is |are )?loaded|failed to load model|model .{0,80}failed to load"
    r"|model_load_error|model not exist|invalid model name|model .{0,80}does not exist"
)
"""Groq, OpenRouter, One API, New API, LM Studio, llama.cpp, Lemonade, DeepSeek, LiteLLM."""
_FAILED_CALLS = re.compile(r"tool_use_failed|failed to call a function")
"""Groq: the model wrote a call that its server can't parse; the next one may be better."""


def _judge_fault(lowered: str) -> type[ModelError] | None:
    """Judge words that mean more than the status with which they come."""
    if _BROKE.search(lowered):
        return ModelDenied
    if _GONE.search(lowered):
        return ModelUnknown
    return ModelInterrupted if _FAILED_CALLS.search(lowered) else None


def judge_words(
    status: int, said: str, code: str = "", category: str = ""
) -> type[ModelError] | None:
    """Judge a refusal by its words and codes; None if they tell nothing."""
    lowered = f"{code} {category} {said}".lower()
    if fault := _judge_fault(lowered):
        return fault
    if status not in _STATUSES or _RATES.search(lowered):
        return None
    if code in _OVERFLOW_CODES or category in _OVERFLOW_CODES:
        return ModelOverflow
    if code in _FILTER_CODES or _FILTERS.search(lowered):
        return ModelDeclined
    if _OVERFLOWS.search(lowered) or status == _TOO_LARGE:
        return ModelOverflow
    return _judge_configured(lowered) if status in _CONFIGURED else None


def _judge_configured(said: str) -> type[ModelError] | None:
    """Judge words about the key, the model or the form of requests; None for anything else."""
    if _KEYS.search(said):
        return ModelDenied
    if _MODELS.search(said):
        return ModelUnknown
    if _FORMS.search(said) and not _IN_MESSAGES.search(said):
        return ModelUnsupported
    return None
