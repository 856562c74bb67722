"""The words of model servers, from public reports: too long, declined, or neither."""

from typing import NamedTuple

import pytest

from agent_core.errors import (
    ModelDeclined,
    ModelDenied,
    ModelError,
    ModelOverflow,
    ModelUnknown,
    ModelUnsupported,
)
from agent_core.models.refusals import judge_words

GH = "https://github.com/"
PI = GH + "badlogic/pi-mono/blob/main/packages/ai/src/utils/overflow.ts"
AZURE = GH + "stanford-crfm/helm/pull/3327"
QWEN = GH + "camel-ai/owl/issues/432"
KIND = "the kind of P4 in issue 35; no single report"


class Row(NamedTuple):
    source: str
    said: str
    status: int = 400
    code: str = ""


TOO_LONG = [
    Row(PI, "prompt is too long: 213462 tokens > 200000 maximum"),
    Row(PI, "Your input exceeds the context window of this model"),
    Row(
        GH + "google-gemini/gemini-cli/issues/11916",
        "The input token count (218152) exceeds the maximum number of tokens allowed (65536).",
    ),
    Row(
        GH + "google-gemini/gemini-cli/issues/4231",
        '[{"error": {"code": 400, "message": "The input token count (3475108) exceeds the maximum'
        ' number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}]',
    ),
    Row(PI, "This model's maximum prompt length is 131072 but the request contains 537812 tokens"),
    Row(PI, "Please reduce the length of the messages or completion"),
    Row(PI, "This endpoint's maximum context length is 8192 tokens. However, you requested 9000"),
    Row(PI, "the request exceeds the available context size, try increasing it"),
    Row(PI, "tokens to keep from the initial prompt is greater than the context length"),
    Row(PI, "prompt token count of 90000 exceeds the limit of 64000"),
    Row(PI, "invalid params, context window exceeds limit"),
    Row(PI, "Your request exceeded model token limit: 8192 (requested: 9000)"),
    Row(PI, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    Row(PI, "input is too long for requested model"),
    Row(KIND, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096", 422),
    Row(KIND, "`inputs` must have less than 1024 tokens. Given: 2000", 422),
    Row(KIND, "InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
    Row(KIND, "the input length exceeds the context length", 500),
    Row(KIND, "prompt too long; exceeded max context length by 90 tokens"),
    Row(KIND, "Prompt exceeds max length", code="1261"),
    Row(KIND, "total number of tokens in the prompt cannot exceed 4081, received 5000"),
    Row(KIND, "litellm.ContextWindowExceededError: too many tokens"),
    Row(KIND, "The decoder prompt (9 tokens) is longer than the maximum model length of 8."),
    Row(KIND, "The input (9 tokens) is longer than the model's context length (8 tokens)."),
    Row(KIND, "Trying to keep the first 5000 tokens when context the overflows."),
    Row(KIND, "whatever", code="context_length_exceeded"),
    Row(KIND, "Request Entity Too Large", 413),
    Row(KIND, "", 413),
]
DECLINED = [
    Row(
        AZURE,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management"
        " policy. Please modify your prompt and retry.",
        code="content_filter",
    ),
    Row(
        AZURE,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management"
        " policy.",
    ),
    Row(QWEN, "Input data may contain inappropriate content.", code="data_inspection_failed"),
    Row(
        GH + "QwenLM/qwen-code/issues/3145",
        "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate"
        " content.",
    ),
    Row(KIND, "系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301"),
    Row(KIND, "Content Exists Risk"),
    Row(KIND, "The request was rejected because it was considered high risk"),
    Row(KIND, "Invalid prompt: flagged as potentially violating our policy", code="invalid_prompt"),
    Row(KIND, "openai/gpt requires moderation on OpenAI. Your input was flagged", 403),
    Row(KIND, "Content violates usage guidelines.", 403),
    Row(KIND, "Output blocked by content filtering policy"),
    Row(KIND, "Your request was rejected by our safety system", code="content_policy_violation"),
    Row(KIND, "The prompt was blocked. blockReason: PROHIBITED_CONTENT"),
    Row(KIND, "input new_sensitive"),
]
NEITHER = [
    Row(KIND, "max_tokens is too large: 100000. This model supports at most 16384 tokens"),
    Row(KIND, "max_tokens must be less than or equal to 8192"),
    Row(KIND, "Range of max_tokens should be [1, 8192]"),
    Row(KIND, "Request too large for model on tokens per minute (TPM): Limit 6000", 413),
    Row(KIND, "Rate limit reached on tokens per min", 429),
    Row(KIND, "You exceeded your current quota", 429),
    Row(KIND, "quota: reduce the length of the messages"),
    Row(GH + "louisho5/picobot/issues/6", "gemma3:4b does not support tools"),
    Row(KIND, "System role not supported"),
    Row(KIND, "Incorrect API key provided", 401),
    Row(KIND, "prompt is too long", 404),
    Row(KIND, "Internal server error", 500),
    Row(KIND, ""),
    Row(KIND, "The engine is overloaded", 503),
]
WRONG_KEYS = [
    Row(KIND, "API key not valid. Please pass a valid one."),
    Row(KIND, "invalid api key"),
    Row(KIND, "Authentication failed: no API key was provided"),
]
NO_MODELS = [
    Row(KIND, "openai/gpt-9 is not a valid model ID"),
    Row(KIND, "Model Not Exist"),
    Row(KIND, "The model `llama2-70b` has been decommissioned and is no longer supported."),
    Row(KIND, "The model 'x' does not exist", 422),
    Row(KIND, "The model `gpt-3.5-turbo:2` does not exist or you do not have access to it."),
    Row(KIND, "invalid model name passed in model=gpt-9"),
]
WRONG_FORMS = [
    Row(KIND, "Unsupported parameter: 'temperature' is not supported with this model."),
    Row(KIND, "Unrecognized request argument supplied: store"),
    Row(KIND, "service_tier: Extra inputs are not permitted"),
    Row(KIND, "Unsupported value: 'temperature' does not support 0.2 with this model."),
    Row(KIND, "Invalid schema for function 'memory': schema must be of type object"),
    Row(KIND, "tools.3.custom.input_schema: JSON schema is invalid", 400),
    Row(KIND, "tools[2].function.parameters is wrong", 422),
]
OF_MESSAGES = [
    Row(KIND, "messages.3.content.0.cache: Extra inputs are not permitted"),
    Row(KIND, "Unsupported value: 'messages[3].content' is wrong"),
    Row(KIND, "The model could not read the picture: file not found"),
    Row(KIND, "Invalid request."),
]
ROWS = [
    *((row, ModelDenied) for row in WRONG_KEYS),
    *((row, ModelUnknown) for row in NO_MODELS),
    *((row, ModelUnsupported) for row in WRONG_FORMS),
    *((row, None) for row in OF_MESSAGES),
    *((row, ModelOverflow) for row in TOO_LONG),
    *((row, ModelDeclined) for row in DECLINED),
    *((row, None) for row in NEITHER),
]


@pytest.mark.parametrize(("row", "kind"), ROWS)
def test_words_are_judged(row: Row, kind: type[ModelError] | None) -> None:
    assert judge_words(row.status, row.said, row.code) is kind, row.source
