"""Model servers as they are: each form is read, and the next message of the chat works.

Each row names the report or the document from which it takes its form.
"""

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from tests.emulators.dialects import (
    NEXT,
    DialectServer,
    Rule,
    Wire,
    block,
    chat,
    messages,
    text_block,
    tool,
    use_block,
)
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Harness, Stage

GH = "https://github.com/"
TEA = '{"query": "tea"}'
COFFEE = '{"query": "coffee"}'
NOTHING = "Nothing"
"""How a search without hits begins."""


@dataclass(frozen=True, slots=True)
class Row:
    """One form. `said` must be in the answer, `asked` are the queries of the calls that ran."""

    title: str
    source: str
    script: Sequence[Wire]
    said: str
    asked: Sequence[str] = ()
    hidden: str = ""
    rule: Rule = field(default=lambda _: "")


def body(value: object, media_type: str = "application/json") -> Wire:
    text = value if isinstance(value, str) else json.dumps(value)
    return Wire(body=text, media_type=media_type)


def whole(message: Json, finish: str | None = "stop") -> Json:
    return {"object": "chat.completion", "choices": [{"message": message, "finish_reason": finish}]}


def odd(title: str, name: str, source: str) -> Row:
    script = [chat(tool(name, TEA), finish="tool_calls")]
    return Row(f"a call named {title}", source, script, "There is no tool")


def odd_use(title: str, name: str, source: str) -> Row:
    script = [messages(*use_block(0, name, TEA), stop="tool_use")]
    return Row(f"a call named {title}", source, script, "There is no tool")


def ends(finish: str | None, source: str) -> Row:
    script = [chat(tool("recall", TEA), finish=finish)]
    return Row(f"a call that ends with {finish!r}", source, script, "Done", ["tea"])


def says(finish: str | None, source: str) -> Row:
    return Row(
        f"words that end with {finish!r}", source, [chat("It is tea.", finish=finish)], "It is tea."
    )


def both(title: str, source: str, *deltas: Json, finish: str = "tool_calls") -> Row:
    return Row(title, source, [chat(*deltas, finish=finish)], "Done", ["tea", "coffee"])


def one(title: str, source: str, *deltas: Json) -> Row:
    return Row(title, source, [chat(*deltas, finish="tool_calls")], "Done", ["tea"])


LONG = "memory_" * 60
CHAT = [
    odd("by nothing", "", GH + "docker/docker-agent/pull/3974"),
    odd("with a dot", "a.b", GH + "mcp-use/mcp-use/issues/90"),
    odd("with its namespace", "functions.recalls", GH + "CommandCodeAI/desktop/issues/105"),
    odd("with a harmony token", "recall<|channel|>x", "providers.md P1"),
    odd("by 65 letters", "a" * 65, GH + "anthropics/claude-code/issues/76775"),
    odd("by 400 letters", LONG, GH + "earendil-works/pi/pull/1643"),
    odd("with spaces", "search the past", GH + "earendil-works/pi/pull/1643"),
    odd("with control characters", "recall\x00\x1b\n", "providers.md P1"),
    odd("with attributes", 'view" path="a.php" line="27"', GH + "docker/docker-agent/pull/3974"),
    odd("with half a pair", "tea\ud83c", "providers.md P1"),
    Row(
        "two odd names in one answer",
        GH + "docker/docker-agent/pull/3974",
        [chat(tool("a.b", TEA, "c1", 0), tool("a:b", TEA, "c2", 1), finish="tool_calls")],
        "There is no tool a:b",
    ),
    ends("stop", GH + "BerriAI/litellm/issues/12862"),
    ends("tool_use", GH + "intrafind/ihub-apps/pull/95"),
    ends("TOOL_CALLS", "providers.md P6"),
    ends("TOOL_CALL", "https://docs.cohere.com/reference/chat"),
    ends("eos", "providers.md P6"),
    ends("eos_token", "https://huggingface.co/docs/text-generation-inference"),
    ends("function_call", "https://platform.openai.com/docs/api-reference/chat/object"),
    ends("end_turn", GH + "BerriAI/litellm/issues/12481"),
    ends("STOP", GH + "BerriAI/litellm/pull/27139"),
    ends(None, GH + "vllm-project/vllm/issues/27572"),
    ends("", "providers.md P5"),
    ends("null", "providers.md P5"),
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
        "Done",
        ["tea"],
    ),
    says(None, GH + "vllm-project/vllm/issues/27572"),
    says("", "providers.md P5"),
    says("eos", "providers.md P6"),
    says("STOP", GH + "BerriAI/litellm/pull/27139"),
    says("COMPLETE", "https://docs.cohere.com/reference/chat"),
    says("stop_sequence", "https://huggingface.co/docs/text-generation-inference"),
    says("a_reason_of_next_year", "providers.md P6"),
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
        GH + "ollama/ollama/issues/7881",
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
    one("{} first", "providers.md P7", tool("recall", "{}"), tool(None, TEA, None)),
    one(
        "{} first, then pieces",
        "providers.md P7",
        tool("recall", "{}"),
        tool(None, '{"query": ', None),
        tool(None, '"tea"}', None),
    ),
    one(
        "cumulative pieces",
        "providers.md P7",
        tool("recall", '{"que'),
        tool("recall", '{"query": "te'),
        tool("recall", TEA),
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
    one("arguments as an object", "providers.md P7", tool("recall", {"query": "tea"})),
    one("arguments encoded twice", "providers.md P7", tool("recall", json.dumps(TEA))),
    one(
        "the older function_call",
        "https://platform.openai.com/docs/api-reference/chat/object",
        {"function_call": {"name": "recall", "arguments": ""}},
        {"function_call": {"arguments": TEA}},
    ),
    Row(
        "JSON instead of a stream",
        GH + "stacklok/codegate/pull/149",
        [body(whole({"role": "assistant", "content": "It is tea."}))],
        "It is tea.",
    ),
    Row(
        "JSON with a call",
        GH + "stacklok/codegate/pull/149",
        [body(whole({"content": None, **tool("recall", TEA, "c", None)}, "tool_calls"))],
        "Done",
        ["tea"],
    ),
    Row(
        "JSON as an event stream, with [DONE] behind it",
        GH + "decolua/9router/issues/3492",
        [
            body(
                json.dumps(whole({"content": "It is tea."})) + "\n\ndata: [DONE]\n\n",
                "text/event-stream",
            )
        ],
        "It is tea.",
    ),
    Row(
        "a whole message as one event",
        "providers.md P9",
        [chat(whole({"content": "It is tea."}), finish=None)],
        "It is tea.",
    ),
    Row(
        "chunks without data:",
        GH + "abetlen/llama-cpp-python/issues/133",
        [
            body(
                "\n".join(
                    json.dumps({"choices": [{"delta": {"content": word}}]})
                    for word in ("It is ", "tea.")
                )
            )
        ],
        "It is tea.",
    ),
    Row(
        "content as a list of parts",
        "https://docs.mistral.ai/capabilities/reasoning",
        [
            chat(
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
                {"content": [{"type": "text", "text": "It is tea."}]},
            )
        ],
        "It is tea.",
        hidden="Hm.",
    ),
    Row(
        "an empty data line",
        "providers.md P9",
        [Wire(body="data:\n\ndata: \n\n" + chat("It is tea.").body)],
        "It is tea.",
    ),
]
CALL = '{"name": "recall", "arguments": {"query": "tea"}}'
OTHER_CALL = '{"name": "recall", "arguments": {"query": "coffee"}}'
THOUGHT = "The person asks for tea."


def thinks(title: str, source: str, *pieces: str) -> Row:
    return Row(title, source, [chat(*pieces)], "It is tea.", hidden=THOUGHT)


def stays(title: str, source: str, text: str, said: str) -> Row:
    return Row(title, source, [chat(*text.partition("think"))], said)


def writes(title: str, source: str, *pieces: str, asked: Sequence[str] = ("tea",)) -> Row:
    return Row(title, source, [chat(*pieces)], "Done", asked, hidden='"arguments"')


def needs(title: str, source: str, delta: Json, rule: Rule, call_id: str = "call_1") -> Row:
    """A row with a call whose next requests must pass the rule."""
    script = [chat(delta, tool("recall", TEA, call_id), finish="tool_calls")]
    return Row(title, source, script, "Done", ["tea"], rule=rule)


def with_calls(body: Json) -> list[Json]:
    return [message for message in body["messages"] if message.get("tool_calls")]


def demands_thoughts(body: Json) -> str:
    for place, message in enumerate(with_calls(body)):
        if not message.get("reasoning_content"):
            return (
                "thinking is enabled but reasoning_content is missing in assistant tool call"
                f" message at index {place}"
            )
    return ""


def demands(name: str, value: object) -> Rule:
    """Refuse messages with calls that lack exactly this value."""

    def judge(body: Json) -> str:
        wrong = [message for message in with_calls(body) if message.get(name) != value]
        return f"The {name} in the thinking mode must be passed back to the API." if wrong else ""

    return judge


def demands_signature(signature: str) -> Rule:
    def judge(body: Json) -> str:
        for message in with_calls(body):
            google = message["tool_calls"][0].get("extra_content", {}).get("google", {})
            if google.get("thought_signature") != signature:
                return "Function call is missing a thought_signature in functionCall parts."
        return ""

    return judge


def refuses(*names: str) -> Rule:
    def judge(body: Json) -> str:
        sent = json.dumps(body["messages"])
        found = [name for name in names if f'"{name}":' in sent]
        return f"'messages.2' : property '{found[0]}' is unsupported" if found else ""

    return judge


def demands_nine(body: Json) -> str:
    for message in with_calls(body):
        for one in message["tool_calls"]:
            if not re.fullmatch("[a-zA-Z0-9]{9}", one["id"]):
                return (
                    f"Tool call id was {one['id']} but must be a-z, A-Z, 0-9, with a length of 9."
                )
    return ""


def demands_nine_in_a_template(body: Json) -> str:
    said = demands_nine(body)
    return "Tool call IDs should be alphanumeric strings with length 9!" if said else ""


SIGNED = tool("recall", TEA)
SIGNED["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "CiQB+/é=="}}
CHAT += [
    thinks("a thought", GH + "aaif-goose/goose/pull/8635", f"<think>{THOUGHT}</think>It is tea."),
    thinks(
        "a thought in pieces",
        GH + "nbramia/LifeOS/pull/568",
        "\n<thi",
        f"nk>\n{THOUGHT}\n</th",
        "ink>",
        "\n\nIt is tea.",
    ),
    thinks(
        "a thought in another mark",
        GH + "QwenLM/qwen-code/pull/8818",
        f"<thinking>{THOUGHT}</thinking>\nIt is tea.",
    ),
    thinks(
        "Magistral's marks",
        "https://huggingface.co/mistralai/Magistral-Small-2509",
        f"[THINK]{THOUGHT}[/THINK]It is tea.",
    ),
    thinks(
        "only the end of a thought",
        GH + "perplexityai/api-discussion/issues/177",
        f"{THOUGHT}\n</think>\n\nIt is tea.",
    ),
    thinks(
        "only the end of a thought, once more",
        GH + "sgl-project/sglang/pull/26873",
        THOUGHT,
        "</thi",
        "nk>It is tea.",
    ),
    stays(
        "a mark in prose",
        GH + "nbramia/LifeOS/pull/568",
        "The mark <think> opens it and </think> closes it.",
        "The mark <think> opens it and </think> closes it.",
    ),
    stays(
        "a mark in code",
        GH + "ggml-org/llama.cpp/issues/27661",
        "Write it so:\n```\n<think>\nHm.\n</think>\nTea\n```",
        "<think>",
    ),
    stays(
        "a mark between backticks",
        GH + "nbramia/LifeOS/pull/568",
        "`<think>draft</think>` is the form.",
        "<think>draft</think>",
    ),
    writes(
        "a call as text",
        GH + "vllm-project/vllm/issues/21571",
        f"<tool_call>\n{CALL}\n</tool_call>",
    ),
    writes(
        "a call as text in pieces",
        GH + "vllm-project/vllm/issues/27572",
        "I look. <",
        "tool",
        f"_call>{CALL}</tool_",
        "call>",
    ),
    writes(
        "two calls as text",
        GH + "vllm-project/vllm/issues/21571",
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{OTHER_CALL}</tool_call>",
        asked=("tea", "coffee"),
    ),
    writes("a call without its end", GH + "vllm-project/vllm/issues/21571", f"<tool_call>{CALL}"),
    writes(
        "a call behind a thought",
        GH + "vllm-project/vllm/issues/21571",
        f"<think>{THOUGHT}</think>\n\n<tool_call>{CALL}</tool_call>",
    ),
    writes(
        "Qwen3-Coder's form",
        GH + "vllm-project/vllm/issues/21571",
        "<tool_call>\n<function=recall>\n<parameter=query>\ntea\n</parameter>\n</function>\n</tool_call>",
    ),
    writes(
        "Mistral's form",
        "https://docs.mistral.ai/capabilities/function_calling",
        f"[TOOL_CALLS][{CALL}]",
    ),
    writes("bare JSON", GH + "ollama/ollama-vscode/pull/20", CALL),
    writes("fenced JSON", "real-model.md R1", "```", f"json\n{CALL}\n```"),
    writes(
        "fenced JSON twice",
        "real-model.md R1",
        f"```json\n{CALL}\n```\n\n```json\n{OTHER_CALL}\n```",
        asked=("tea", "coffee"),
    ),
    writes(
        "Llama's form",
        GH + "vllm-project/vllm/issues/46863",
        '{"type": "function", "name": "recall", "parameters": {"query": "tea"}}',
    ),
    stays(
        "JSON of an unknown tool",
        GH + "thClaws/thClaws/issues/50",
        '{"name": "Skill", "arguments": {"name": "none"}}',
        '"Skill"',
    ),
    stays(
        "JSON in prose",
        "real-model.md R1",
        f"One writes:\n```json\n{CALL}\n```\nand that is it.",
        "and that is it.",
    ),
    stays("JSON that is no call", "real-model.md R1", '{"tea": 1}', '{"tea": 1}'),
    needs(
        "thoughts that come back",
        GH + "QwenLM/qwen-code/issues/3724",
        {"reasoning_content": THOUGHT + " \u2028é"},
        demands("reasoning_content", THOUGHT + " \u2028é"),
    ),
    needs(
        "thoughts by another name",
        "https://openrouter.ai/docs/use-cases/reasoning-tokens",
        {"reasoning": THOUGHT},
        demands("reasoning", THOUGHT),
    ),
    needs(
        "details of thoughts",
        "https://openrouter.ai/docs/use-cases/reasoning-tokens",
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "gAAA==", "index": 0}]},
        demands(
            "reasoning_details", [{"type": "reasoning.encrypted", "data": "gAAA==", "index": 0}]
        ),
    ),
    Row(
        "a signature of a call",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        [chat(SIGNED, finish="tool_calls")],
        "Done",
        ["tea"],
        rule=demands_signature("CiQB+/é=="),
    ),
    needs(
        "a call without the signature that is demanded",
        GH + "JohnnyZ93/oai-compatible-copilot/issues/49",
        {},
        demands_signature("skip_thought_signature_validator"),
    ),
    needs(
        "a call without the thoughts that are demanded",
        GH + "agentscope-ai/QwenPaw/issues/433",
        {},
        demands_thoughts,
    ),
    needs(
        "Mistral's ids",
        GH + "langchain-ai/langchain/pull/24668",
        {},
        demands_nine,
        "toolu_01A09q90qw90lq917835lq9",
    ),
    needs(
        "Mistral's ids in a template",
        GH + "ml-explore/mlx-lm/pull/1399",
        {},
        demands_nine_in_a_template,
        "chatcmpl-tool-1",
    ),
    needs(
        "thoughts that are refused",
        "https://api-docs.deepseek.com/guides/reasoning_model",
        {"reasoning_content": THOUGHT},
        refuses("reasoning_content", "extra_content"),
    ),
]
WHEN = "https://docs.anthropic.com/en/docs/build-with-claude/streaming"
MESSAGES = [
    odd_use("by nothing", "", GH + "docker/docker-agent/pull/3974"),
    odd_use("with a dot", "a.b", GH + "docker/docker-agent/pull/3974"),
    odd_use("by a command of 201 letters", "x y" * 67, GH + "anthropics/claude-code/issues/94799"),
    odd_use("by 457 letters", "psql " + "a" * 452, GH + "earendil-works/pi/pull/1643"),
    *(
        Row(
            f"a call that ends with {stop!r}",
            "providers.md P6",
            [messages(*text_block(0, "Looking."), *use_block(1, "recall", TEA), stop=stop)],
            "Done",
            ["tea"],
        )
        for stop in ("end_turn", "stop_sequence", "TOOL_USE", "stop", None)
    ),
    Row(
        "a call without its end of block",
        "providers.md P6",
        [messages(*use_block(0, "recall", TEA, stops=False), stop="tool_use")],
        "Done",
        ["tea"],
    ),
    Row(
        "one block index twice",
        "providers.md P7",
        [
            messages(
                *use_block(0, "recall", TEA, "toolu_1"),
                *use_block(0, "recall", COFFEE, "toolu_2"),
                stop="tool_use",
            )
        ],
        "Done",
        ["tea", "coffee"],
    ),
    Row(
        "the input in the head of the block",
        "providers.md P7",
        [
            messages(
                *block(
                    0, {"type": "tool_use", "id": "t", "name": "recall", "input": {"query": "tea"}}
                ),
                stop="tool_use",
            )
        ],
        "Done",
        ["tea"],
    ),
    Row(
        "words that end with a reason of next year",
        WHEN,
        [messages(*text_block(0, "It is tea."), stop="a_reason_of_next_year")],
        "It is tea.",
    ),
    Row(
        "a message without a reason",
        "providers.md P5",
        [messages(*text_block(0, "It is tea."), stop=None)],
        "It is tea.",
    ),
    Row(
        "[DONE] behind the message",
        "providers.md P5",
        [Wire(body=messages(*text_block(0, "It is tea.")).body + "data: [DONE]\n\n")],
        "It is tea.",
    ),
    Row(
        "JSON instead of a stream",
        "providers.md P9",
        [
            body(
                {
                    "type": "message",
                    "model": "m",
                    "content": [{"type": "text", "text": "It is tea."}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 1, "output_tokens": 1},
                }
            )
        ],
        "It is tea.",
    ),
    Row(
        "a pause behind a tool of the server",
        "https://docs.anthropic.com/en/api/handling-stop-reasons",
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
            messages(*text_block(0, "It is tea.")),
        ],
        "It is tea.",
        rule=lambda body: (
            "input lost"
            if any(
                block["type"] == "server_tool_use" and block["input"] != {"query": "tea prices"}
                for message in body["messages"]
                for block in message["content"]
            )
            else ""
        ),
    ),
]


NO_REVIEWS = {"TALARIA_LEARNING__TURNS": "0", "TALARIA_LEARNING__STEPS": "0"}
"""Only the chat's own requests reach the server."""


def demands_thinking(body: Json) -> str:
    """Refuse a call that lacks the thought before it."""
    for message in body["messages"]:
        kinds = [block["type"] for block in message["content"]]
        if "tool_use" in kinds and kinds[0] != "thinking":
            return "content[].thinking in the thinking mode must be passed back to the API"
    return ""


def refuses_unsigned(body: Json) -> str:
    for place, message in enumerate(body["messages"]):
        for block_ in message["content"]:
            if block_["type"] == "thinking" and not block_.get("signature"):
                return f"messages.{place}.content.0.thinking.signature: Field required"
    return ""


THINKING = block(
    0, {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": THOUGHT}
)
MESSAGES += [
    Row(
        title,
        "https://api-docs.deepseek.com/guides/anthropic_api",
        [messages(*THINKING, *use_block(1, "recall", TEA), stop="tool_use")],
        "Done",
        ["tea"],
        hidden=THOUGHT,
        rule=rule,
    )
    for title, rule in (
        ("a thought without a signature that comes back", demands_thinking),
        ("a thought without a signature that is refused", refuses_unsigned),
    )
]


@pytest.fixture
async def server() -> AsyncIterator[DialectServer]:
    async with DialectServer() as server:
        yield server


async def try_row(harness: Harness, server: DialectServer, row: Row) -> list[str]:
    """Play a row in a chat of its own; return what is wrong."""
    await harness.ask(ANNA, "/new")
    server.requests.clear()
    server.complaints.clear()
    server.script.extend(row.script)
    server.rule = row.rule
    first = await harness.ask(ANNA, "what about tea?")
    second = await harness.ask(ANNA, "and then?")
    wrong = []
    if row.said not in first:
        wrong.append(f"answer: {first[:200]!r}")
    if row.hidden and row.hidden in first:
        wrong.append(f"shown: {first[:200]!r}")
    if second != NEXT:
        wrong.append(f"next: {second[:200]!r}, {server.complaints}")
    asked = list_queries(server.requests[-1])
    if asked != list(row.asked) and not row.said.startswith("There is no tool"):
        wrong.append(f"calls: {asked}")
    return wrong


def list_queries(body: Json) -> list[str]:
    """Return the queries of all calls in a request."""
    found = []
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            found.append(json.loads(call["function"]["arguments"]).get("query"))
        if message["role"] == "assistant" and isinstance(message["content"], list):
            found += [
                b["input"].get("query") for b in message["content"] if b["type"] == "tool_use"
            ]
    return found


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_each_form_is_read_and_the_next_message_works(
    stage: Stage, server: DialectServer, api: str
) -> None:
    rows = CHAT if api == "openai" else MESSAGES
    wrong = {}
    async with stage.open(
        TALARIA_MODEL__PROVIDER=api,
        **NO_REVIEWS,
        OPENAI_BASE_URL=f"{server.url}/v1",
        ANTHROPIC_BASE_URL=server.url,
    ) as harness:
        for row in rows:
            if found := await try_row(harness, server, row):
                wrong[row.title] = found
    assert wrong == {}


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_thoughts_come_back_after_a_restart(
    stage: Stage, server: DialectServer, api: str
) -> None:
    row = next(
        row
        for row in (CHAT if api == "openai" else MESSAGES)
        if row.title in ("thoughts that come back", "a thought without a signature that comes back")
    )
    settings = {
        "TALARIA_MODEL__PROVIDER": api,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "ANTHROPIC_BASE_URL": server.url,
    }
    server.script.extend(row.script)
    server.rule = row.rule
    async with stage.open(**settings) as harness:
        assert "Done" in await harness.ask(ANNA, "what about tea?")
        before = server.requests[-1]["messages"]
    async with stage.open(**settings) as harness:
        assert await harness.ask(ANNA, "and then?") == NEXT
    assert server.complaints == []
    assert server.requests[-1]["messages"][: len(before) - 1] == before[:-1] or api == "anthropic"
