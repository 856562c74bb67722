"""What changes stands behind the tools: in the bytes, and in the templates of common models."""

import json
from dataclasses import replace

import jinja2
import pytest

from agent_core.agent.prompt.compose import compose
from agent_core.models.contract import ModelRequest
from agent_core.models.local.servers import is_near
from agent_core.models.openai.translate import Dialect, render_request, render_shaped
from agent_core.models.shapes import add_shape
from agent_core.prompt_sections import split_changing
from agent_core.transcript import Message, TextPart, ToolSpec, user_message
from tests.agent_core.agent.prompt.inputs import everything, snapshot

BEHIND = Dialect(notes_behind=True)
TOOL = ToolSpec(
    name="recall", description="Search what was said. " * 40, schema='{"type": "object"}'
)


def request(*memory: str, messages: tuple[Message, ...] = ()) -> ModelRequest:
    inputs = replace(everything(), snapshot=snapshot(*memory), room=None, borrowed=())
    return ModelRequest(
        model="m",
        system=compose(inputs),
        tools=(TOOL,),
        messages=messages or (user_message("hello", facts="<facts>\nNow: noon\n</facts>"),),
        max_output_tokens=9,
    )


def test_what_lasts_and_what_changes_are_the_whole_prompt() -> None:
    text = compose(everything())
    lasting, changing = split_changing(text)
    assert f"{lasting}\n{changing}\n" == text
    assert "# Rules\n- Answer" in lasting
    assert "# Tools" in lasting
    assert lasting.count("SOUL") == 2
    for word in ("OWN", "ROOM", "LENT", "SHARED", "FILE", "# This room", "# Platform\nYour words"):
        assert word in changing, word
        assert word not in lasting, word
    for other in ("", "Name the talk.", "# Memory of mine\nno rules"):
        assert split_changing(other) == (other, "")


def test_two_memories_share_everything_up_to_the_first_message() -> None:
    bodies = [
        json.loads(render_request(one, dialect=BEHIND))
        for one in (request("tea"), request("coffee"))
    ]
    assert bodies[0]["messages"][0] == bodies[1]["messages"][0]
    assert bodies[0]["tools"] == bodies[1]["tools"]
    first = bodies[0]["messages"][1]
    assert first["role"] == "user"
    assert first["content"].startswith("<facts>\n# This room")
    assert "- tea" in first["content"]
    assert first["content"].endswith("</facts>\n\n<facts>\nNow: noon\n</facts>\n\nhello")
    before = json.loads(render_request(request("tea"), dialect=Dialect()))
    assert "- tea" in before["messages"][0]["content"]


def test_a_transcript_that_begins_with_an_answer_keeps_the_order_of_roles() -> None:
    said = Message(role="assistant", parts=(TextPart(text="Good morning."),))
    body = json.loads(
        render_request(request("tea", messages=(said, user_message("hi"))), dialect=BEHIND)
    )
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]


def test_an_old_request_is_rendered_in_its_old_order() -> None:
    old = request("tea")
    assert render_shaped(old) == render_request(old, dialect=Dialect())
    new = add_shape(old, {"dialect": {"notes_behind": True}})
    assert render_shaped(new) == render_request(old, dialect=BEHIND)


def test_only_servers_of_the_house_get_this_order() -> None:
    near = ("http://localhost:1/v1", "http://192.168.1.5:8000/v1", "http://ollama:11434/v1")
    assert all(map(is_near, (*near, "http://nas.lan/v1", "http://host.docker.internal:1/v1")))
    far = ("https://api.openai.com/v1", "https://8.8.8.8/v1", "https://local.example.org", "")
    assert not any(map(is_near, far))


# Where templates put the tools, shortened to that: the words around them differ.
QWEN = """{% if tools %}<|im_start|>system
{{ messages[0].content }}
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}{% for m in messages[1:] %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}"""
LLAMA = """<|start_header_id|>system<|end_header_id|>
{{ messages[0].content }}<|eot_id|><|start_header_id|>user<|end_header_id|>
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}{{ messages[1].content }}<|eot_id|>
{% for m in messages[2:] %}<|start_header_id|>{{ m.role }}<|end_header_id|>
{{ m.content }}<|eot_id|>{% endfor %}"""
MISTRAL = """[SYSTEM_PROMPT]{{ messages[0].content }}[/SYSTEM_PROMPT][AVAILABLE_TOOLS]\
{{ tools | tojson }}[/AVAILABLE_TOOLS]{% for m in messages[1:] %}\
{% if m.role == "user" %}[INST]{{ m.content }}[/INST]{% else %}{{ m.content }}</s>{% endif %}\
{% if (m.role == "user") != (loop.index0 % 2 == 0) %}{{ fail() }}{% endif %}{% endfor %}"""
GEMMA = """{{ tools | tojson }}{% for m in messages[1:] %}<start_of_turn>{{ m.role }}
{% if loop.first %}{{ messages[0].content }}

{% endif %}{{ m.content }}<end_of_turn>
{% if (m.role == "user") != (loop.index0 % 2 == 0) %}{{ fail() }}{% endif %}{% endfor %}"""


@pytest.mark.parametrize("template", [QWEN, LLAMA, MISTRAL, GEMMA], ids=str.split)
def test_a_changed_memory_costs_no_template_its_tools(template: str) -> None:
    texts = []
    for memory in ("tea", "coffee"):
        body = json.loads(render_request(request(memory), dialect=BEHIND))
        texts.append(jinja2.Template(template).render(**body))
    same = next(place for place, pair in enumerate(zip(*texts, strict=False)) if pair[0] != pair[1])
    shared = texts[0][:same]
    assert TOOL.description.strip()[-40:] in shared
    assert "# Rules" in shared
    assert len(texts[0]) - same < 700, "only memory and what follows it is read again"
