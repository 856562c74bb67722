"""Streams and requests of servers with Anthropic's Messages API."""

import json
from collections.abc import Sequence

from tests.emulators.dialects import Rule, Wire, block, messages, text_block, use_block
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
)

STOPS = "https://dev.to/gabrielanhaia/anthropic-stop-reasons-in-production-5-cases-that-need-different-reactions-5h49"
DEEPSEEK = "https://api-docs.deepseek.com/guides/anthropic_api/"


def odd_use(title: str, name: str, source: str) -> Row:
    script = [messages(*use_block(0, name, TEA), stop="tool_use")]
    return Row(f"a call named {title}", source, script, "There is no tool")


def ends(stop: str | None, source: str) -> Row:
    script = [messages(*text_block(0, "Looking."), *use_block(1, "recall", TEA), stop=stop)]
    return Row(f"a call that ends with {stop!r}", source, script, LOOKED, ["tea"])


def tells(title: str, source: str, *events: Json, stop: str | None = "end_turn") -> Row:
    return Row(title, source, [messages(*events, stop=stop)], TOLD)


def uses(title: str, source: str, *events: Json, asked: Sequence[str] = ("tea",)) -> Row:
    return Row(title, source, [messages(*events, stop="tool_use")], LOOKED, asked)


def delta(index: int, **fields: object) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def start(index: int, **fields: object) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": fields}


def stop_of(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def plain(*events: Json) -> Wire:
    """Return a stream whose events have no names."""
    return Wire(body="".join(f"data: {json.dumps(one)}\n\n" for one in events))


def refuses_key(key: str, said: str) -> Rule:
    return lambda body: said if f'"{key}"' in json.dumps(body) else ""


def refuses_key_in_tools(key: str, said: str) -> Rule:
    return lambda body: said if f'"{key}"' in json.dumps(body.get("tools")) else ""


def refuses_signed(said: str) -> Rule:
    """Refuse every thought, as another server's signature."""

    def judge(body: Json) -> str:
        kinds = [one["type"] for message in body["messages"] for one in message["content"]]
        return said if "thinking" in kinds else ""

    return judge


def demands_thinking(body: Json) -> str:
    """Refuse a call that lacks the thought before it."""
    for message in body["messages"]:
        kinds = [one["type"] for one in message["content"]]
        if "tool_use" in kinds and kinds[0] != "thinking":
            return "content[].thinking in the thinking mode must be passed back to the API"
    return ""


def refuses_unsigned(body: Json) -> str:
    for place, message in enumerate(body["messages"]):
        for one in message["content"]:
            if one["type"] == "thinking" and not one.get("signature"):
                return f"messages.{place}.content.0.thinking.signature: Field required"
    return ""


def keeps_input(body: Json) -> str:
    """Refuse a call of the server's own tool whose input is lost."""
    blocks = [one for message in body["messages"] for one in message["content"]]
    lost = [one for one in blocks if one["type"] == "server_tool_use"]
    return "input lost" if any(one["input"] != {"query": "tea prices"} for one in lost) else ""


THINKING = block(
    0, {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": THOUGHT}
)
SIGNED = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": THOUGHT},
    {"type": "signature_delta", "signature": "EqQBCkYIAR=="},
)
SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"
USE = {"type": "tool_use", "id": "toolu_1", "name": "recall", "input": {}}
OTHER_USE = {**USE, "id": "toolu_2"}
ENDING = (
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
    {"type": "message_stop"},
)
STREAMS = [
    odd_use("by nothing", "", GH + "docker/docker-agent/pull/3974"),
    odd_use("with a dot", "a.b", GH + "docker/docker-agent/pull/3974"),
    odd_use("by a command of 201 letters", "x y" * 67, GH + "anthropics/claude-code/issues/94799"),
    odd_use("by 457 letters", "psql " + "a" * 452, GH + "earendil-works/pi/pull/1643"),
    ends("end_turn", GH + "pgEdge/pgedge-postgres-mcp/issues/217"),
    ends("stop_sequence", GH + "open-octo/octo-agent/pull/647"),
    ends("TOOL_USE", OWN),
    ends("stop", GH + "can1357/oh-my-pi/pull/12224"),
    ends(None, GH + "anthropics/claude-code/issues/16785"),
    uses(
        "an empty text before the call",
        GH + "BerriAI/litellm/issues/34692",
        *block(0, {"type": "text", "text": ""}),
        *use_block(1, "recall", TEA),
    ),
    uses(
        "a call without its end of block",
        GH + "BerriAI/litellm/pull/28868",
        *use_block(0, "recall", TEA, stops=False),
    ),
    uses(
        "no ends of blocks at all",
        GH + "xemantic/anthropic-sdk-kotlin/pull/147",
        *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "I."}, stops=False),
        *use_block(1, "recall", TEA, "toolu_1", stops=False),
        *use_block(2, "recall", COFFEE, "toolu_2", stops=False),
        asked=("tea", "coffee"),
    ),
    uses(
        "one block index twice",
        GH + "anthropics/anthropic-sdk-typescript/issues/879",
        *use_block(0, "recall", TEA, "toolu_1"),
        *use_block(0, "recall", COFFEE, "toolu_2"),
        asked=("tea", "coffee"),
    ),
    uses(
        "one block index for a thought, words and a call",
        GH + "router-for-me/CLIProxyAPI/issues/539",
        *THINKING,
        *text_block(0, "I look."),
        *use_block(0, "recall", TEA),
    ),
    uses(
        "indexes with gaps, and ends of blocks that never began",
        GH + "QuantumNous/new-api/issues/5482",
        *text_block(1, "I look."),
        stop_of(0),
        stop_of(2),
        *use_block(5, "recall", TEA),
        stop_of(7),
    ),
    uses(
        "a piece for a block that never began",
        GH + "ollama/ollama/issues/14816",
        start(1, **USE),
        delta(0, type="input_json_delta", partial_json=TEA),
        stop_of(0),
    ),
    uses(
        "a piece behind the end of its block",
        GH + "Wei-Shaw/sub2api/pull/4286",
        start(2, **USE),
        stop_of(2),
        delta(3, type="input_json_delta", partial_json=TEA),
    ),
    uses(
        "words for the index of a call",
        GH + "sgl-project/sglang/issues/26795",
        start(0, **USE),
        delta(0, type="input_json_delta", partial_json='{"query": '),
        delta(0, type="text_delta", text="Hm."),
        delta(0, type="input_json_delta", partial_json='"tea"}'),
        stop_of(0),
    ),
    uses(
        "two calls open at once",
        GH + "farion1231/cc-switch/pull/2303",
        start(0, **USE),
        start(1, **OTHER_USE),
        delta(0, type="input_json_delta", partial_json='{"query": '),
        delta(1, type="input_json_delta", partial_json=COFFEE),
        delta(0, type="input_json_delta", partial_json='"tea"}'),
        stop_of(0),
        stop_of(1),
        asked=("tea", "coffee"),
    ),
    uses(
        "the input in the head of the block",
        GH + "inflaborg/ccrelay/pull/119",
        *block(0, {**USE, "input": {"query": "tea"}}),
    ),
    uses(
        "the input in the head and in a piece",
        GH + "AntSeed/antseed/pull/15",
        *block(
            0,
            {**USE, "input": {"query": "tea"}},
            {"type": "input_json_delta", "partial_json": TEA},
        ),
    ),
    uses(
        "a call without an input",
        GH + "farion1231/cc-switch/pull/2557",
        start(0, type="tool_use", id="toolu_1", name="recall"),
        delta(0, type="input_json_delta", partial_json=TEA),
        stop_of(0),
    ),
    tells(
        "words without their beginning",
        GH + "BerriAI/litellm/pull/30115",
        delta(0, type="text_delta", text="It is "),
        delta(0, type="text_delta", text="tea."),
        stop_of(0),
    ),
    tells(
        "the words in the head, and once more in pieces",
        GH + "cline/cline/pull/9215",
        start(0, type="text", text=TOLD),
        delta(0, type="text_delta", text="It is "),
        delta(0, type="text_delta", text="tea."),
        stop_of(0),
    ),
    tells(
        "words that go on behind their head",
        OWN,
        start(0, type="text", text="It is "),
        delta(0, type="text_delta", text="tea."),
        stop_of(0),
    ),
    tells(
        "the whole message once more at the end",
        GH + "songquanpeng/one-api/issues/2406",
        *text_block(0, TOLD),
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": TOLD}]},
    ),
    tells(
        "a text that is null",
        GH + "BerriAI/litellm/issues/29286",
        start(0, type="text", text=None),
        delta(0, type="text_delta", text=None),
        delta(0, type="text_delta", text=TOLD),
        delta(0, type="input_json_delta", partial_json=""),
        stop_of(0),
    ),
    tells("words that end with a reason of next year", OWN, *text_block(0, TOLD), stop="next_year"),
    tells(
        "a message without a reason",
        GH + "seifghazi/claude-code-proxy/pull/32",
        *text_block(0, TOLD),
        stop=None,
    ),
    tells("a stop sequence", STOPS, *text_block(0, TOLD), stop="stop_sequence"),
    Row(
        "[DONE] behind the message",
        GH + "decolua/9router/pull/2231",
        [Wire(body=messages(*text_block(0, TOLD)).body + "data: [DONE]\n\n")],
        TOLD,
    ),
    Row(
        "no end of the message",
        GH + "tombii/better-ccflare/pull/307",
        [messages(*text_block(0, TOLD), end=False)],
        TOLD,
    ),
    Row(
        "events without names",
        GH + "seifghazi/claude-code-proxy/pull/32",
        [plain(*text_block(0, TOLD), *ENDING)],
        TOLD,
    ),
    Row(
        "a beginning without content",
        GH + "SaladDay/cc-switch-cli/pull/320",
        [plain({"type": "message_start", "message": {"id": "m"}}, *text_block(0, TOLD), *ENDING)],
        TOLD,
    ),
    Row(
        "counts that are null",
        GH + "farion1231/cc-switch/pull/2303",
        [
            plain(
                {"type": "message_start", "message": {"usage": None}},
                *text_block(0, TOLD),
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "end_turn"},
                    "usage": {"output_tokens": None},
                },
                {"type": "message_stop"},
            )
        ],
        TOLD,
    ),
    Row(
        "one line end between events",
        GH + "rexxars/eventsource-parser/pull/31",
        [
            Wire(
                body="".join(
                    f"data: {json.dumps(one)}\n" for one in (*text_block(0, TOLD), *ENDING)
                )
            )
        ],
        TOLD,
    ),
    Row(
        "no end of line at the end",
        GH + "farion1231/cc-switch/pull/6541",
        [Wire(body=messages(*text_block(0, TOLD)).body.rstrip("\n"))],
        TOLD,
    ),
    Row(
        "null as an event",
        GH + "NousResearch/hermes-agent/pull/80822",
        [Wire(body="data: null\n\n" + messages(*text_block(0, TOLD)).body)],
        TOLD,
    ),
    Row(
        "JSON instead of a stream",
        GH + "decolua/9router/issues/3492",
        [
            body(
                {
                    "type": "message",
                    "model": "m",
                    "content": [{"type": "text", "text": TOLD}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 1, "output_tokens": 1},
                }
            )
        ],
        TOLD,
    ),
    Row(
        "JSON with words in place of blocks",
        OWN,
        [body({"type": "message", "content": TOLD, "stop_reason": "end_turn"})],
        TOLD,
    ),
    Row(
        "a pause behind a tool of the server",
        GH + "enricoros/big-AGI/issues/1010",
        [
            messages(
                *block(
                    0,
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {},
                    },
                    {"type": "input_json_delta", "partial_json": '{"query": "tea pri'},
                    {"type": "input_json_delta", "partial_json": 'ces"}'},
                ),
                stop="pause_turn",
            ),
            messages(*text_block(0, TOLD)),
        ],
        TOLD,
        rule=keeps_input,
    ),
    again(
        "tool_use without any block",
        GH + "earendil-works/pi/issues/9681",
        messages(stop="tool_use"),
    ),
    again(
        "an overload in mid-stream, without a name",
        GH + "brightwave-inc/tidebreak/pull/1122",
        plain(
            {"type": "message_start", "message": {"model": "m"}},
            *text_block(0, "It is"),
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ),
    ),
    again(
        "an end behind the beginning",
        GH + "NIyueeE/ds-free-api/pull/63",
        messages(stop=None, end=False),
    ),
]
THOUGHTS = [
    Row(
        title,
        source,
        [messages(*said, *use_block(1, "recall", TEA), stop="tool_use")],
        LOOKED,
        ["tea"],
        THOUGHT,
        rule,
    )
    for title, source, said, rule in (
        ("a thought without a signature that comes back", DEEPSEEK, THINKING, demands_thinking),
        (
            "a thought without a signature that is refused",
            GH + "earendil-works/pi/issues/4464",
            THINKING,
            refuses_unsigned,
        ),
        (
            "a signature of another server",
            GH + "can1357/oh-my-pi/issues/6379",
            SIGNED,
            refuses_signed(SIGNATURE),
        ),
        (
            "a signature that a gateway refuses",
            GH + "lbjlaq/Antigravity-Manager/issues/498",
            SIGNED,
            refuses_signed(json.dumps({"error": {"message": SIGNATURE}})),
        ),
        (
            "a thought that was changed on its way",
            GH + "anthropics/anthropic-sdk-python/issues/1598",
            SIGNED,
            refuses_signed(
                "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest"
                " assistant message cannot be modified."
            ),
        ),
    )
]
REQUESTS = [
    Row(
        "no breakpoints in tools",
        GH + "earendil-works/pi/issues/7938",
        [messages(*text_block(0, TOLD))],
        TOLD,
        rule=refuses_key_in_tools(
            "cache_control", "tools.3.cache_control: Extra inputs are not permitted"
        ),
    ),
    Row(
        "no breakpoints at all",
        GH + "cg-dot/vertexai-cf-workers/pull/21",
        [messages(*text_block(0, TOLD))],
        TOLD,
        rule=refuses_key("cache_control", "*.cache_control: Extra inputs are not permitted"),
    ),
    Row(
        "no breakpoints, in Bedrock's words",
        GH + "UKGovernmentBEIS/inspect_ai/pull/3851",
        [messages(*text_block(0, TOLD))],
        TOLD,
        rule=refuses_key("cache_control", "cache_control: Extra inputs are not permitted"),
    ),
]
MESSAGES: Sequence[Row] = (*STREAMS, *THOUGHTS, *REQUESTS)
