"""Streams of chat-completions servers."""

import json
from collections.abc import Sequence

from tests.emulators.dialects import Wire, chat, tool
from tests.emulators.streaming import Json
from tests.journeys.dialect_rows import (
    COFFEE,
    GH,
    LOOKED,
    OWN,
    TEA,
    THOUGHT,
    TOLD,
    Row,
    again,
    body,
    says,
    whole,
)


def odd(title: str, name: str, source: str) -> Row:
    script = [chat(tool(name, TEA), finish="tool_calls")]
    return Row(f"a call named {title}", source, script, "There is no tool")


def ends(finish: str | None, source: str) -> Row:
    script = [chat(tool("recall", TEA), finish=finish)]
    return Row(f"a call that ends with {finish!r}", source, script, LOOKED, ["tea"])


def stops(finish: str | None, source: str) -> Row:
    return says(f"words that end with {finish!r}", source, TOLD, finish=finish)


def both(title: str, source: str, *deltas: Json, finish: str = "tool_calls") -> Row:
    return Row(title, source, [chat(*deltas, finish=finish)], LOOKED, ["tea", "coffee"])


def one(title: str, source: str, *deltas: Json | str) -> Row:
    return Row(title, source, [chat(*deltas, finish="tool_calls")], LOOKED, ["tea"])


def lines(title: str, source: str, text: str, media_type: str = "text/event-stream") -> Row:
    """Return a row with a body of its own, whose words are `TOLD`."""
    return Row(title, source, [Wire(body=text, media_type=media_type)], TOLD)


def chunk(content: object, **more: object) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {"content": content}, **more}]})


END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
NAMES = [
    odd("by nothing", "", GH + "docker/docker-agent/pull/3974"),
    odd("with a dot", "a.b", GH + "mcp-use/mcp-use/issues/90"),
    odd("with its namespace", "functions.recalls", GH + "CommandCodeAI/desktop/issues/105"),
    odd("with a harmony token", "recall<|channel|>x", GH + "earendil-works/pi/issues/4439"),
    odd("by 65 letters", "a" * 65, GH + "anthropics/claude-code/issues/76775"),
    odd("by 400 letters", "memory_" * 60, GH + "earendil-works/pi/pull/1643"),
    odd("with spaces", "search the past", GH + "earendil-works/pi/pull/1643"),
    odd("with control characters", "recall\x00\x1b\n", OWN),
    odd("with attributes", 'view" path="a.php" line="27"', GH + "docker/docker-agent/pull/3974"),
    odd("with half a pair", "tea\ud83c", OWN),
    odd("with its arguments", "recall<arg_key>query</arg_key>", GH + "zai-org/GLM-5/issues/84"),
    Row(
        "two odd names in one answer",
        GH + "docker/docker-agent/pull/3974",
        [chat(tool("a.b", TEA, "c1", 0), tool("a:b", TEA, "c2", 1), finish="tool_calls")],
        "There is no tool a:b",
    ),
    one(
        "a name in two pieces",
        GH + "openclaw/openclaw/issues/127603",
        tool("rec", ""),
        tool("all", TEA),
    ),
    one(
        "a name in two pieces, with arguments in both",
        GH + "ankit373/hydra/pull/958",
        tool("rec", '{"query":'),
        tool("all", ' "tea"}'),
    ),
    one(
        "a name in three pieces before the arguments",
        GH + "NVIDIA-NeMo/Switchyard/pull/785",
        tool("re", ""),
        tool("ca", ""),
        tool("ll", ""),
        tool(None, TEA),
    ),
    one(
        "the whole name again in each piece",
        GH + "NousResearch/hermes-agent/pull/11984",
        tool("recall", ""),
        tool("recall", '{"query": '),
        tool("recall", '"tea"}'),
    ),
]
ENDS = [
    ends("stop", GH + "BerriAI/litellm/issues/12862"),
    ends("tool_use", GH + "intrafind/ihub-apps/pull/95"),
    ends("TOOL_CALLS", GH + "BerriAI/litellm/pull/28223"),
    ends("TOOL_CALL", GH + "mozilla-ai/any-llm/pull/1301"),
    ends("eos", OWN),
    ends("eos_token", "https://socket.dev/npm/package/@huggingface/inference/diff/2.6.7"),
    ends(
        "function_call",
        "https://elsoul.github.io/skeet-ai/interfaces/ChatCompletion.Choice-1.html",
    ),
    ends("end_turn", GH + "BerriAI/litellm/issues/12481"),
    ends("STOP", GH + "su-kaka/gcli2api/pull/407"),
    ends(None, GH + "vllm-project/vllm/issues/27572"),
    ends("", GH + "sgl-project/sglang/issues/3912"),
    ends("null", OWN),
    Row(
        "tool_calls, then stop",
        GH + "RayBytes/ChatMock/pull/114",
        [
            chat(
                "Looking.",
                tool("recall", TEA),
                {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
            )
        ],
        LOOKED,
        ["tea"],
    ),
    stops(None, GH + "anomalyco/opencode/issues/43882"),
    stops("", GH + "ollama/ollama/issues/4357"),
    stops("eos", OWN),
    stops("STOP", GH + "higress-group/higress/pull/2408"),
    stops("COMPLETE", GH + "mozilla-ai/any-llm/pull/1301"),
    stops("stop_sequence", "https://socket.dev/npm/package/@huggingface/inference/diff/2.6.7"),
    stops("endturn", GH + "zeitlings/ayai-gpt-nexus/issues/2"),
    stops("a_reason_of_next_year", OWN),
    says(
        "an empty reason in each chunk",
        GH + "ollama/ollama/issues/4357",
        {"choices": [{"delta": {"content": "It is "}, "finish_reason": ""}]},
        {"choices": [{"delta": {"content": "tea."}, "finish_reason": ""}]},
    ),
    again(
        "tool_calls without a call and without words",
        GH + "jasonxu114514/opencode2api/pull/27",
        chat(finish="tool_calls"),
    ),
    Row(
        "tool_calls without a call, behind words",
        GH + "jasonxu114514/opencode2api/pull/27",
        [chat(TOLD, finish="tool_calls")],
        "It is tea",
    ),
    again(
        "a malformed call that its server dropped",
        GH + "NousResearch/hermes-agent/pull/83886",
        chat(finish="malformed_function_call"),
    ),
    again(
        "a stop without words",
        GH + "BerriAI/litellm/pull/24462",
        chat({"content": ""}),
    ),
    again(
        "a network error behind an ordinary reason",
        GH + "OleksandrChekhovskyi/hax/pull/15",
        chat(
            {
                "choices": [
                    {
                        "delta": {"content": ""},
                        "finish_reason": "stop",
                        "native_finish_reason": "network_error",
                    }
                ]
            },
            finish=None,
        ),
    ),
    again(
        "an answer only in its thoughts",
        GH + "vllm-project/vllm/issues/17349",
        chat({"reasoning_content": TOLD}),
    ),
    again(
        "an error in mid-stream, with a reason",
        GH + "damianvtran/local-operator/pull/223",
        chat(
            "It is",
            {
                "error": {"code": 502, "message": "Provider disconnected"},
                "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
            },
            finish=None,
        ),
    ),
    again(
        "an error in place of choices",
        GH + "diegosouzapw/OmniRoute/pull/8210",
        chat(
            {
                "id": "gen-1",
                "choices": [],
                "error": {"code": 502, "message": "Worker local total request limit reached"},
            },
            finish=None,
        ),
    ),
    again(
        "JSON that ends with an error",
        GH + "maximhq/bifrost/issues/5425",
        body(
            whole({"content": '{"events": [{"title": "partial'}, "error")
            | {"usage": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}}
        ),
    ),
    again(
        "JSON without choices",
        GH + "speakeasy-api/gram/pull/3129",
        body({"id": "gen-1", "object": "chat.completion", "choices": []}),
    ),
    again(
        "an event that another one cuts",
        GH + "Wei-Shaw/sub2api/issues/1471",
        Wire(
            body='data: {"choices":[{"delta":{"content":"It\n'
            'data: {"type":"error","error":{"message":"stream_read_error"}}\n\n'
        ),
    ),
]
CALLS = [
    both(
        "all calls at index 0",
        GH + "ollama/ollama/issues/15457",
        tool("recall", TEA, "call_a", 0),
        tool("recall", COFFEE, "call_b", 0),
    ),
    both(
        "all calls at index 0, in pieces",
        GH + "ai-dynamo/dynamo/pull/4723",
        tool("recall", "", "call_a", 0),
        tool(None, TEA, None, 0),
        tool("recall", "", "call_b", 0),
        tool(None, COFFEE, None, 0),
    ),
    both(
        "no index, with ids",
        GH + "ollama/ollama/issues/7881",
        tool("recall", TEA, "call_a", None),
        tool("recall", COFFEE, "call_b", None),
    ),
    both(
        "no index and no ids",
        GH + "SamSaffron/term-llm/pull/314",
        tool("recall", TEA, None, None),
        tool("recall", COFFEE, None, None),
    ),
    both(
        "one index and no ids, in pieces",
        GH + "BerriAI/litellm/issues/33678",
        tool("recall", "", None, 0),
        tool(None, '{"query": ', None, 0),
        tool(None, '"tea"}', None, 0),
        tool("recall", "", None, 0),
        tool(None, '{"query": ', None, 0),
        tool(None, '"coffee"}', None, 0),
    ),
    both(
        "one id for all, with indexes",
        GH + "vllm-project/vllm/issues/27572",
        tool("recall", TEA, "call", 0),
        tool("recall", COFFEE, "call", 1),
    ),
    both(
        "both in one chunk without an index",
        GH + "sgl-project/sglang/issues/7117",
        {
            "tool_calls": [
                *tool("recall", TEA, "a", None)["tool_calls"],
                *tool("recall", COFFEE, "b", None)["tool_calls"],
            ]
        },
    ),
    both(
        "an index below zero",
        GH + "aws-samples/bedrock-access-gateway/pull/247",
        tool("recall", "", "call_a", -1),
        tool(None, TEA, None, -1),
        tool("recall", "", "call_b", 0),
        tool(None, COFFEE, None, 0),
    ),
    both(
        "indexes that begin at one",
        GH + "aws-samples/bedrock-access-gateway/issues/134",
        tool("recall", TEA, "call_a", 1),
        tool("recall", COFFEE, "call_b", 2),
    ),
    one("{} first", OWN, tool("recall", "{}"), tool(None, TEA, None)),
    one(
        "{} first, then pieces",
        OWN,
        tool("recall", "{}"),
        tool(None, '{"query": ', None),
        tool(None, '"tea"}', None),
    ),
    one(
        "cumulative pieces",
        OWN,
        tool("recall", '{"que'),
        tool("recall", '{"query": "te'),
        tool("recall", TEA),
    ),
    one(
        "the whole arguments twice",
        GH + "lidge-jun/opencodex/issues/361",
        tool("recall", ""),
        tool(None, TEA, None),
        tool(None, TEA, None),
    ),
    one(
        "name and id in each piece",
        GH + "NousResearch/hermes-agent/pull/3468",
        tool("recall", '{"query": '),
        tool("recall", '"tea"}'),
        tool("recall", ""),
    ),
    one(
        "another id in each piece",
        GH + "vllm-project/vllm/pull/9209",
        tool("recall", "", "chatcmpl-tool-1"),
        tool(None, '{"query": ', "chatcmpl-tool-2"),
        tool(None, '"tea"}', "chatcmpl-tool-3"),
    ),
    one(
        "an empty name and another id in each piece",
        GH + "NousResearch/hermes-agent/pull/5331",
        tool("recall", "", "1"),
        tool("", '{"que', "2"),
        tool("", 'ry":', "3"),
        tool("", ' "tea"}', "4"),
    ),
    one(
        "an empty name in each piece",
        GH + "lmstudio-ai/lmstudio-bug-tracker/issues/649",
        tool("recall", ""),
        tool("", '{"query', None),
        tool("", '": "tea"}', None),
    ),
    one(
        "arguments as an object",
        GH + "huggingface/text-generation-inference/issues/2136",
        tool("recall", {"query": "tea"}),
    ),
    one(
        "an object without an index",
        GH + "can1357/oh-my-pi/pull/1779",
        tool("recall", {"query": "tea"}, "call_1", None),
    ),
    one(
        "arguments encoded twice",
        GH + "vllm-project/vllm/pull/54964",
        tool("recall", json.dumps(TEA)),
    ),
    one(
        "arguments encoded twice, in pieces",
        GH + "oracle/langchain-oracle/pull/70",
        tool("recall", '"{\\"query'),
        tool(None, '\\": \\"tea\\"}"', None),
    ),
    one(
        "the older function_call",
        "https://elsoul.github.io/skeet-ai/interfaces/ChatCompletion.Choice-1.html",
        {"function_call": {"name": "recall", "arguments": ""}},
        {"function_call": {"arguments": TEA}},
    ),
    one(
        "a call without a type",
        OWN,
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "recall", "arguments": TEA}}]},
    ),
    one(
        "words in one choice, the call in another",
        GH + "SWE-agent/mini-swe-agent/pull/805",
        {"choices": [{"index": 0, "delta": {"content": "Looking."}}]},
        {"choices": [{"index": 1, "delta": tool("recall", TEA)}]},
    ),
    Row(
        "JSON with the call in the second choice",
        GH + "karthink/gptel/pull/1336",
        [
            body(
                {
                    "choices": [
                        {"index": 0, "message": {"content": "Looking."}, "finish_reason": "stop"},
                        {
                            "index": 0,
                            "message": {"content": None, **tool("recall", TEA, "c", None)},
                            "finish_reason": "tool_calls",
                        },
                    ]
                }
            )
        ],
        LOOKED,
        ["tea"],
    ),
    Row(
        "arguments that are no JSON",
        GH + "vllm-project/vllm/issues/21046",
        [chat(tool("recall", 'query": "tea"'), finish="tool_calls")],
        LOOKED,
        [None],
    ),
    Row(
        "arguments with an unfinished text",
        GH + "zai-org/GLM-5/issues/84",
        [chat(tool("recall", '{"query": "te'), finish="tool_calls")],
        LOOKED,
        [None],
    ),
]
BODIES = [
    Row(
        "JSON instead of a stream",
        GH + "stacklok/codegate/pull/149",
        [body(whole({"role": "assistant", "content": TOLD}))],
        TOLD,
    ),
    Row(
        "JSON with a call",
        GH + "stacklok/codegate/pull/149",
        [body(whole({"content": None, **tool("recall", TEA, "c", None)}, "tool_calls"))],
        LOOKED,
        ["tea"],
    ),
    lines(
        "JSON as an event stream, with [DONE] behind it",
        GH + "decolua/9router/issues/3492",
        json.dumps(whole({"content": TOLD})) + "\n\ndata: [DONE]\n\n",
    ),
    lines(
        "events as JSON",
        GH + "openclaw/openclaw/pull/97474",
        f"data: {chunk(TOLD)}\n\n{END}",
        "application/json",
    ),
    lines(
        "events as a web page",
        GH + "JuiceBoxxGames/utsuwa/pull/67",
        f"data: {chunk(TOLD)}\n\n{END}",
        "text/html",
    ),
    says(
        "a whole message as one event",
        GH + "Amm1rr/WebAI-to-API/issues/55",
        whole({"content": TOLD}),
        finish=None,
    ),
    says(
        "the whole message once more at the end",
        GH + "GCWing/OpenBitFun/pull/792",
        "It is ",
        "tea.",
        whole({"role": "assistant", "content": TOLD}),
        finish=None,
    ),
    says(
        "the whole message once more, with a delta",
        GH + "abundantbeing/hermes-browser-extension/issues/11",
        "It is ",
        "tea.",
        {"choices": [{"delta": {}, "message": {"content": TOLD}, "finish_reason": "stop"}]},
        finish=None,
    ),
    one(
        "a call, and the whole message once more",
        GH + "GCWing/OpenBitFun/pull/792",
        tool("recall", TEA),
        whole({"role": "assistant", "content": "", **tool("recall", TEA)}, "tool_calls"),
    ),
    lines(
        "chunks without data:",
        GH + "comet-ml/opik/pull/5149",
        "\n".join(chunk(word) for word in ("It is ", "tea.")),
        "application/json",
    ),
    lines(
        "no blank behind data:",
        GH + "dataelement/Clawith/pull/106",
        f"data:{chunk(TOLD)}\n\ndata:[DONE]\n\n",
    ),
    lines(
        "one line end between events",
        GH + "rexxars/eventsource-parser/pull/31",
        f"data: {chunk('It is ')}\ndata: {chunk('tea.')}\n{END}",
    ),
    lines(
        "one line end between all events",
        GH + "SillyTavern/SillyTavern/pull/1482",
        f"data: {chunk('It is ')}\ndata: {chunk('tea.')}\ndata: [DONE]\n",
    ),
    lines(
        "an event in two lines",
        GH + "SamSaffron/term-llm/pull/456",
        'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "It is tea."}}]}\n\n' + END,
    ),
    lines(
        "data: twice",
        GH + "openclaw/openclaw/pull/97474",
        f"data: data: {chunk(TOLD)}\n\n{END}",
    ),
    lines(
        "an empty data line",
        OWN,
        "data:\n\ndata: \n\n" + chat(TOLD).body,
    ),
    lines(
        "null as an event",
        GH + "NousResearch/hermes-agent/pull/80822",
        f"data: {chunk('It is ')}\n\ndata: null\n\ndata: {chunk('tea.')}\n\n{END}",
    ),
    lines(
        "a text and a list as events",
        GH + "earendil-works/pi/pull/2466",
        f'data: "ping"\n\ndata: []\n\ndata: {chunk(TOLD)}\n\n{END}',
    ),
    lines(
        "no end of line at the end",
        GH + "farion1231/cc-switch/pull/6541",
        f"data: {chunk('It is ')}\n\n"
        'data: {"choices":[{"delta":{"content":"tea."},"finish_reason":"stop"}]}',
    ),
    says(
        "no choices in mid-stream",
        GH + "pydantic/pydantic-ai/issues/5165",
        "It is ",
        {"choices": None},
        "tea.",
    ),
    says(
        "no delta in mid-stream",
        GH + "microsoft/autogen/pull/7711",
        "It is ",
        {"choices": [{"index": 0, "delta": None}]},
        "tea.",
    ),
    says(
        "an empty role and empty thoughts",
        GH + "MiniMax-AI/MiniMax-M2.5/issues/2",
        {"role": "", "reasoning_content": ""},
        TOLD,
    ),
    says(
        "empty calls beside the words",
        GH + "BerriAI/litellm/issues/29286",
        {"content": "It is ", "tool_calls": []},
        {"content": "tea.", "tool_calls": []},
    ),
    says(
        "no index of the choice",
        GH + "vercel/ai/pull/4031",
        {"choices": [{"delta": {"content": TOLD}}]},
    ),
    Row(
        "a number as content",
        GH + "cloudflare/ai/issues/651",
        [chat("[^", {"content": 1}, "] costs $", {"content": 0.5})],
        "[^1] costs $0.5",
    ),
    says(
        "cumulative words",
        GH + "QwenLM/qwen-code/pull/3896",
        "It is",
        "It is te",
        "It is tea",
        TOLD,
    ),
    Row(
        "words that only look cumulative",
        GH + "cacheplane/threadplane/pull/751",
        [chat("1", "15", "0", "|", "|", "-", "|", "ha", "haha")],
        "1150||-|hahaha",
    ),
    says(
        "content as a list of parts",
        GH + "vercel/ai/issues/13703",
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]},
        {"content": [{"type": "text", "text": TOLD}]},
    ),
    says(
        "references among the parts",
        GH + "laravel/ai/issues/865",
        {"content": [{"type": "text", "text": TOLD}]},
        {"content": [{"type": "reference", "reference_ids": ["search_documents"]}]},
    ),
    says(
        "counts that are null",
        GH + "livekit/agents/pull/6763",
        TOLD,
        {
            "choices": [],
            "usage": {"prompt_tokens": 9, "completion_tokens": None, "total_tokens": None},
        },
    ),
    says(
        "cached counts that are null",
        GH + "zed-industries/zed/pull/62983",
        TOLD,
        {
            "choices": [],
            "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": None}},
        },
    ),
    says(
        "counts by other names",
        GH + "earendil-works/pi/issues/2326",
        TOLD,
        {"choices": [], "usage": {"input_tokens": 11, "output_tokens": 5, "prompt_tps": 21.55}},
    ),
    says(
        "counts in each chunk",
        GH + "vercel/ai/issues/2763",
        {"choices": [{"delta": {"content": TOLD}}], "usage": {"prompt_tokens": 11}},
    ),
]
CHAT: Sequence[Row] = (*NAMES, *ENDS, *CALLS, *BODIES)
