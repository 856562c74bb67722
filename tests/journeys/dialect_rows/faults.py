"""Errors with which servers answer: some pass, the others only an owner can end."""

from collections.abc import Sequence

from tests.emulators.dialects import Wire
from tests.emulators.streaming import Json
from tests.journeys.dialect_rows import GH, OWN, TEA, Row, Trouble, again, body

KEY = "rejects the key"
MODEL = "doesn't have it"


def error(status: int, message: str, **fields: object) -> Wire:
    """Return an error in OpenAI's form."""
    return body({"error": {"message": message, **fields}}, status=status)


def anthropic_error(status: int, kind: str, message: str) -> Wire:
    """Return an error in Anthropic's form."""
    return body({"type": "error", "error": {"type": kind, "message": message}}, status=status)


def page(status: int, title: str) -> Wire:
    """Return a proxy's page."""
    text = f"<html>\r\n<head><title>{title}</title></head>\r\n<body>{title}</body>\r\n</html>"
    return Wire(body=text, status=status, media_type="text/html")


GEMINI_KEY: Json = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
    }
}
USE_FAILED = (
    "Failed to call a function. Please adjust your prompt."
    " See 'failed_generation' for more details."
)
PASSING: Sequence[Row] = [
    again(
        "a model that still loads",
        GH + "mostlygeek/llama-swap/issues/146",
        body(
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            status=503,
        ),
    ),
    again("a gateway's page", GH + "sipeed/picoclaw/pull/1075", page(502, "502 Bad Gateway")),
    again(
        "a page of Cloudflare", GH + "groq/groq-typescript/issues/28", page(520, "Unknown Error")
    ),
    again(
        "an overload",
        GH + "cline/cline/issues/440",
        error(503, "server is overloaded"),
    ),
    again(
        "a call that llama.cpp can't parse",
        GH + "pwilkin/llama.cpp/issues/5",
        error(
            500,
            "Failed to parse input at pos 184: <tool_call>recall",
            code=500,
            type="server_error",
        ),
    ),
    again(
        "a call that llama.cpp can't parse, in the stream",
        GH + "agentscope-ai/QwenPaw/issues/3560",
        Wire(
            body='data: {"choices":[{"delta":{"content":"I look."}}]}\n\n'
            'error: {"code":500,"message":"Failed to parse input at pos 9"}\n\n'
        ),
    ),
    again(
        "an error of Groq in the stream",
        GH + "anomalyco/opencode/issues/1018",
        Wire(
            body='event: error\ndata: {"error":{"message":"' + USE_FAILED + '","type":'
            '"invalid_request_error","code":"tool_use_failed","failed_generation":"Tool use failed:'
            ' JSON does not match the expected schema for tool calls","status_code":400}}\n\n'
        ),
    ),
    again(
        "a call that Groq can't parse",
        GH + "huggingface/smolagents/issues/1119",
        error(
            400,
            USE_FAILED,
            type="invalid_request_error",
            code="tool_use_failed",
            failed_generation=f"<function=recall>{TEA}</function>",
        ),
    ),
    again(
        "a rate limit without a time",
        GH + "groq/groq-typescript/issues/28",
        error(429, "Rate limit reached for model", type="tokens", code="rate_limit_exceeded"),
    ),
]
TROUBLES: Sequence[Trouble] = [
    Trouble(
        "a wrong key at Gemini",
        GH + "cequence-io/openai-scala-client/issues/109",
        body(GEMINI_KEY, status=400),
        KEY,
    ),
    Trouble(
        "a wrong key at Gemini, in a list",
        GH + "Simpleyyt/ai-manus/issues/101",
        body([GEMINI_KEY], status=400),
        KEY,
    ),
    Trouble(
        "a decommissioned model",
        GH + "ItzCrazyKns/Vane/issues/771",
        error(
            400,
            "The model `llama-3.3-70b-specdec` has been decommissioned and is no longer supported.",
            type="invalid_request_error",
            code="model_decommissioned",
        ),
        MODEL,
    ),
    Trouble(
        "no valid model id",
        GH + "OpenRouterTeam/openrouter-examples/issues/74",
        error(400, "claude-sonnet-4-6 is not a valid model ID", code=400),
        MODEL,
    ),
    Trouble(
        "no channel for the model",
        GH + "songquanpeng/one-api/issues/2340",
        error(
            503,
            "当前分组 default 下对于模型 gpt-5 无可用渠道 (request id: 1)",
            type="one_api_error",
        ),
        MODEL,
    ),
    Trouble(
        "no channel for the model, with a code",
        GH + "QuantumNous/new-api/pull/6310",
        error(
            503, "No available channel for model gpt-5 under group default", code="model_not_found"
        ),
        MODEL,
    ),
    Trouble(
        "a model that nobody pulled",
        GH + "netease-youdao/QAnything/issues/555",
        error(404, 'model "ollama" not found, try pulling it first', type="api_error", code=None),
        MODEL,
    ),
    Trouble(
        "no model loaded",
        GH + "tinyhumansai/openhuman/issues/4181",
        error(
            400,
            "No models loaded. Please load a model in the developer page",
            type="invalid_request_error",
            param="model",
        ),
        MODEL,
    ),
    Trouble(
        "a model that does not load",
        GH + "NousResearch/hermes-agent/issues/102044",
        error(500, "model name=LFM2.5-2.6B failed to load", code=500),
        MODEL,
    ),
    Trouble(
        "a model that does not load, with a code",
        GH + "lemonade-sdk/lemonade/issues/1462",
        error(
            500,
            "Failed to load model 'Qwen3-0.6B-GGUF': llama-server failed to start",
            code="model_load_error",
            type="model_load_error",
        ),
        MODEL,
    ),
    Trouble(
        "no balance at Zhipu",
        GH + "zhayujie/CowAgent/issues/2910",
        error(429, "余额不足或无可用资源包,请充值。", code="1113"),
        KEY,
    ),
    Trouble(
        "no balance at DeepSeek",
        GH + "666ghj/BettaFish/issues/286",
        error(402, "Insufficient Balance", type="unknown_error", code="invalid_request_error"),
        KEY,
    ),
    Trouble(
        "no balance at SiliconFlow",
        GH + "FoundationAgents/OpenManus/issues/438",
        body(
            {
                "code": 30011,
                "message": "Your paid balance is insufficient. Please top up.",
                "data": None,
            },
            status=403,
        ),
        KEY,
    ),
    Trouble(
        "no balance behind a proxy",
        GH + "modelscope/modelscope/issues/1691",
        error(
            429, "insufficient balance (1008)", type="insufficient_balance_error", http_code="429"
        ),
        KEY,
    ),
    Trouble(
        "no balance at MiniMax, as an inner error",
        GH + "NousResearch/hermes-agent/issues/16680",
        error(500, "insufficient balance (1008)", type="api_error"),
        KEY,
    ),
    Trouble(
        "no balance at OpenCode",
        GH + "TiaraBasori/OpenCode2API/issues/5",
        body(
            {
                "message": "Insufficient balance. Manage your billing here",
                "type": "CreditsError",
                "code": None,
            },
            status=401,
        ),
        KEY,
    ),
    Trouble(
        "no balance at a relay",
        GH + "Wei-Shaw/sub2api/issues/890",
        body(
            {"code": "INSUFFICIENT_BALANCE", "message": "Insufficient account balance"}, status=403
        ),
        KEY,
    ),
    Trouble(
        "arrears at DashScope",
        GH + "alibaba/spring-ai-alibaba/issues/1146",
        error(
            400,
            "Access denied, please make sure your account is in good standing.",
            type="Arrearage",
            code="Arrearage",
        ),
        KEY,
    ),
    Trouble(
        "a website at the address",
        GH + "openclaw/openclaw/issues/84697",
        Wire(body="<!doctype html><html><title>Spanagent</title></html>", media_type="text/html"),
        MODEL,
    ),
    Trouble(
        "a page that forbids", GH + "nlmatics/llmsherpa/pull/74", page(403, "403 Forbidden"), KEY
    ),
    Trouble(
        "a page that finds nothing",
        GH + "JuiceBoxxGames/utsuwa/pull/67",
        page(404, "404 Not Found"),
        MODEL,
    ),
    Trouble(
        "a key that the server does not read",
        OWN,
        error(
            400, "Incorrect API key provided: ab***yz. You can obtain an API key from the console."
        ),
        KEY,
    ),
]
MESSAGES_TROUBLES: Sequence[Trouble] = [
    Trouble(
        "no balance at MiniMax",
        GH + "MiniMax-AI/MiniMax-M2/issues/62",
        anthropic_error(500, "api_error", "insufficient balance (1008)"),
        KEY,
    ),
    Trouble(
        "no balance at Anthropic",
        OWN,
        anthropic_error(
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
        ),
        KEY,
    ),
    Trouble(
        "no balance at Zhipu",
        GH + "zhayujie/CowAgent/issues/2910",
        body({"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}, status=429),
        KEY,
    ),
    Trouble(
        "no channel for the model",
        GH + "songquanpeng/one-api/issues/2340",
        body(
            {
                "error": {
                    "type": "new_api_error",
                    "message": "当前分组 default 下对于模型 claude 无可用渠道",
                }
            },
            status=503,
        ),
        MODEL,
    ),
    Trouble(
        "an unknown model at DeepSeek",
        "https://www.developersdigest.tech/reference/api-compatibility/deepseek",
        anthropic_error(400, "invalid_request_error", "Model Not Exist"),
        MODEL,
    ),
    Trouble(
        "a website at the address",
        GH + "openclaw/openclaw/issues/84697",
        Wire(body="<!doctype html><html><title>Spanagent</title></html>", media_type="text/html"),
        MODEL,
    ),
    Trouble(
        "a page that finds nothing",
        GH + "JuiceBoxxGames/utsuwa/pull/67",
        page(404, "404 Not Found"),
        MODEL,
    ),
]
MESSAGES_PASSING: Sequence[Row] = [
    again("a gateway's page", GH + "sipeed/picoclaw/pull/1075", page(502, "502 Bad Gateway")),
    again(
        "an overload",
        GH + "brightwave-inc/tidebreak/pull/1122",
        anthropic_error(529, "overloaded_error", "Overloaded"),
    ),
    again(
        "a rate limit",
        OWN,
        anthropic_error(429, "rate_limit_error", "Number of requests has exceeded your rate limit"),
    ),
]
