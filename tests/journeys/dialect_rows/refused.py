"""Requests that a server refuses for their form, until they have the form that it wants."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from tests.emulators.dialects import NEXT, Rule, chat, tool
from tests.emulators.streaming import Json
from tests.journeys.dialect_rows import GH, LOOKED, TEA, THOUGHT, TOLD, Row

NULL = "Invalid 'content': 'content' field must be a string or an array of objects."


def needs(title: str, source: str, delta: Json, rule: Rule, call_id: str = "call_1") -> Row:
    """Return a row with a call whose next requests must pass the rule."""
    script = [chat(delta, tool("recall", TEA, call_id), finish="tool_calls")]
    return Row(title, source, script, LOOKED, ["tea"], rule=rule)


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


def refuses_null(said: str) -> Rule:
    return lambda body: said if any(one["content"] is None for one in body["messages"]) else ""


def refuses_empty(body: Json) -> str:
    """Refuse an empty content; Kimi takes none at all."""
    empty = [one for one in body["messages"] if one.get("content", "-") in ("", None)]
    return "Invalid request: text content is empty" if empty else ""


def refuses_user_after_tool(said: str) -> Rule:
    def judge(body: Json) -> str:
        roles = [message["role"] for message in body["messages"]]
        return said if ("tool", "user") in pairwise(roles) else ""

    return judge


def wants_turns(body: Json) -> str:
    roles = [message["role"] for message in body["messages"]]
    twice = [role for role, then in pairwise(roles) if role == then == "user"]
    said = "After the optional system message, conversation roles must alternate user and assistant"
    return said if twice else ""


def refuses_keyword(name: str, said: str) -> Rule:
    """Refuse tools whose schemas hold a keyword."""
    return lambda body: said if f'"{name}"' in json.dumps(body.get("tools", [])) else ""


def refuses_value(key: str, value: object, said: str) -> Rule:
    """Refuse tools whose schemas hold this value of a keyword."""
    return lambda body: said if json.dumps({key: value})[1:-1] in json.dumps(body["tools"]) else ""


SIGNED = tool("recall", TEA)
SIGNED["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "CiQB+/é=="}}
EMPTY = [chat(tool("recall", TEA), finish="tool_calls"), chat({"content": ""})]
"""A call, and no words behind its result: the next request ends with a message of the user."""
ORDER = "Unexpected role 'user' after role 'tool'"
GOOGLE = (
    'Invalid JSON payload received. Unknown name "{0}" at \'tools[0].function_declarations[5]'
    ".parameters': Cannot find field."
)
MOON = "tools.function.parameters is not a valid moonshot flavored json schema, details: <{0}>"
REFUSED: Sequence[Row] = [
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
        "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
        [chat(SIGNED, finish="tool_calls")],
        LOOKED,
        ["tea"],
        rule=demands_signature("CiQB+/é=="),
    ),
    needs(
        "a call without the signature that is demanded",
        "https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fgoogle@3.0.80",
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
        "https://share.apidog.com/apidoc/docs-site/747793/reasoning-model-deepseek-reasoner-835841m0",
        {"reasoning_content": THOUGHT},
        refuses("reasoning_content", "extra_content"),
    ),
    needs(
        "no words beside a call, in LM Studio's words",
        GH + "lmstudio-ai/lmstudio-bug-tracker/issues/261",
        {},
        refuses_null(NULL),
    ),
    needs(
        "no words beside a call, in Ollama's words",
        GH + "SAIL-Research-Lab/cheetahclaws/pull/72",
        {},
        refuses_null("invalid message content type: <nil>"),
    ),
    needs(
        "no words beside a call, in pydantic's words",
        GH + "mistralai/mistral-common/issues/324",
        {},
        refuses_null("messages.2.content.str: Input should be a valid string"),
    ),
    needs(
        "no words beside a call, in a gateway's words",
        GH + "can1357/oh-my-pi/issues/5121",
        {},
        refuses_null("openai-chat: messages[2].content must be a string or an object (was null)"),
    ),
    needs(
        "no content at all beside a call",
        GH + "MoonshotAI/kimi-cli/issues/2621",
        {},
        refuses_empty,
    ),
    Row(
        "a user behind a result",
        GH + "NousResearch/hermes-agent/issues/20154",
        EMPTY,
        NEXT,
        ["tea"],
        rule=refuses_user_after_tool(ORDER),
    ),
    Row(
        "a user behind a result, in a template's words",
        GH + "charmbracelet/crush/issues/279",
        EMPTY,
        NEXT,
        ["tea"],
        rule=refuses_user_after_tool(
            "After the optional system message, conversation roles must alternate"
            " user/assistant/user/assistant/..."
        ),
    ),
    Row(
        "roles that must take turns",
        GH + "charmbracelet/crush/issues/279",
        [chat(TOLD)],
        TOLD,
        rule=wants_turns,
    ),
    *(
        Row(
            f"schemas without {name}",
            source,
            [chat(TOLD)],
            TOLD,
            rule=refuses_keyword(name, GOOGLE.format(name)),
        )
        for name, source in (
            ("additionalProperties", GH + "bestruirui/octopus/pull/43"),
            ("const", GH + "zed-industries/zed/issues/44875"),
            ("examples", GH + "AstrBotDevs/AstrBot/issues/7572"),
            ("propertyNames", GH + "openswarm-ai/openswarm/issues/24"),
        )
    ),
    Row(
        "schemas without anyOf beside a type",
        GH + "MoonshotAI/kimi-cli/issues/2531",
        [chat(TOLD)],
        TOLD,
        rule=refuses_keyword(
            "anyOf",
            MOON.format(
                "At path 'root': when using anyOf, type should be defined in anyOf items instead"
                " of the parent schema"
            ),
        ),
    ),
    Row(
        "schemas without true",
        GH + "can1357/oh-my-pi/issues/5952",
        [chat(TOLD)],
        TOLD,
        rule=refuses_value(
            "anything",
            True,
            MOON.format("At path 'properties': property schema for 'anything' must be an object"),
        ),
    ),
    Row(
        "schemas without $ref",
        GH + "MoonshotAI/kimi-cli/issues/2061",
        [chat(TOLD)],
        TOLD,
        rule=refuses_keyword(
            "$ref",
            MOON.format("At path 'properties.assetRef': conflicting keywords after $ref expansion"),
        ),
    ),
]
