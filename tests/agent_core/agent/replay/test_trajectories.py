"""Conversations as training data: each format holds what was said; redaction hides people."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.agent.replay.trajectories import Redaction, Trajectory, render_trajectory
from agent_core.ids import SessionId
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    PdfPart,
    RawPart,
    TextPart,
    load_parts,
)
from tests.agent_core.agent.replay.talk import FACTS, SCHEMA, TALK, answer, calling, result, user
from tests.databases import open_database

Said = tuple[str, str, Any]
"""The role, the id of a call, and a text or the arguments of the call."""


SAID: list[Said] = [
    (
        "user",
        "",
        (
            f"{FACTS}\n\nTwo\nlines, “quoted” </tool_call> \u2028\n\n"
            "<attached-file>Ada</attached-file>\n\n[picture]"
        ),
    ),
    ("assistant", "", "One moment."),
    ("call", "c1", {"text": "Tea for Ada"}),
    ("call", "c2", {"text": None, "n": [1, {"deep": "Ada"}]}),
    ("result", "c1", "Added."),
    ("result", "c2", "No."),
    ("assistant", "", "Done."),
    ("user", "", "and now?"),
    ("call", "c3", {"arguments": "no JSON"}),
    ("result", "c3", "Not run."),
    ("assistant", "", "Never mind."),
]
"""What a model can learn from `TALK`."""


def read(line: str) -> dict[str, Any]:
    assert "\n" not in line
    body: dict[str, Any] = json.loads(line)
    return body


def test_a_line_of_jsonl_holds_every_part_as_it_is_stored() -> None:
    body = read(render_trajectory(TALK, "jsonl"))
    loaded = tuple(
        Message(role=one["role"], parts=load_parts(json.dumps(one["parts"])))
        for one in body["messages"]
    )
    assert loaded == TALK.messages
    assert (body["session"], body["person"], body["model"]) == (7, "ada", "claude")
    assert body["tools"] == [
        {"name": "memory", "description": "Notes.", "schema": json.loads(SCHEMA)}
    ]


def test_a_line_for_openai_reads_back_as_it_was_said() -> None:
    body = read(render_trajectory(TALK, "openai"))
    system, *rest = body["messages"]
    assert system == {"role": "system", "content": TALK.system}
    assert body["tools"][0]["function"]["parameters"] == json.loads(SCHEMA)
    said: list[Said] = []
    for one in rest:
        if one["role"] == "tool":
            said.append(("result", one["tool_call_id"], one["content"]))
        elif one["content"]:
            said.append((one["role"], "", one["content"]))
        for call in one.get("tool_calls", ()):
            text = call["function"]["arguments"]
            is_json = text.startswith("{")
            arguments = json.loads(text) if is_json else {"arguments": text}
            said.append(("call", call["id"], arguments))
    assert said == SAID


def test_a_line_for_anthropic_reads_back_as_it_was_said() -> None:
    body = read(render_trajectory(TALK, "anthropic"))
    assert body["system"] == TALK.system
    assert body["tools"][0]["input_schema"] == json.loads(SCHEMA)
    roles = [one["role"] for one in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2)
    said: list[Said] = []
    for one in body["messages"]:
        for block in one["content"]:
            match block["type"]:
                case "text":
                    said.append((one["role"], "", block["text"]))
                case "tool_use":
                    said.append(("call", block["id"], block["input"]))
                case _:
                    said.append(("result", block["tool_use_id"], block["content"]))
    assert said == SAID
    failed = [block for one in body["messages"] for block in one["content"] if "is_error" in block]
    assert [block["tool_use_id"] for block in failed] == ["c2"]


def test_a_line_of_sharegpt_reads_back_as_it_was_said() -> None:
    body = read(render_trajectory(TALK, "sharegpt"))
    system, *rest = body["conversations"]
    assert system == {"from": "system", "value": TALK.system}
    assert json.loads(body["tools"])[0]["parameters"] == json.loads(SCHEMA)
    roles = {"human": "user", "gpt": "assistant"}
    said: list[Said] = []
    for one in rest:
        tagged = [
            json.loads(found)
            for found in re.findall(
                r"^<tool_(?:call|response)>\n(.*)\n</tool_\w+>$", one["value"], re.MULTILINE
            )
        ]
        if one["from"] == "tool":
            said += [("result", found["tool_call_id"], found["content"]) for found in tagged]
            continue
        words = re.split(r"\n?^<tool_call>\n", one["value"], flags=re.MULTILINE)[0]
        said += [(roles[one["from"]], "", words)] if words else []
        said += [("call", found["id"], found["arguments"]) for found in tagged]
    assert said == SAID


@pytest.mark.parametrize("wanted", get_args(TrajectoryFormat))
async def test_a_redacted_line_names_nobody(tmp_path: Path, wanted: TrajectoryFormat) -> None:
    database = await open_database(tmp_path / "state.db")

    def fill(connection: Any) -> None:
        ada = people.insert(connection, slug="ada", name="Ada Lovelace", role="owner", now=0)
        people.attach_account(
            connection,
            person_id=ada.id,
            account=NewAccount(
                platform="telegram", user_id="445566", display_name="Countess", admitted_by="code"
            ),
            now=0,
        )
        people.insert(connection, slug="bo", name="Bo", role="member", now=0)

    await database.write("people", fill)
    redaction = await database.read(lambda c: Redaction(c, SecretMask()))
    await database.close()
    secret = "sk-ant-" + "a1B2" * 8
    talk = Trajectory(
        session_id=SessionId(7),
        person="ada",
        model="claude",
        started_at=1,
        system="Memory: Ada drinks tea.",
        tools=(),
        messages=(
            user(
                TextPart(text="<facts>Ada, 445566</facts>", is_fact=True),
                TextPart(
                    text="I'm ADA LOVELACE, the countess, ada@example.com, +43 660 123 45 67, on"
                    f" 2026-11-23. My key is {secret}. Bo is small, and so is adagio."
                ),
                DocumentPart(name="ada.txt", text=f"by Lovelace, {'a' * 400_000}"),
                ImagePart(file_key="k", media_type="image/png", size=3),
            ),
            answer(
                RawPart(provider="anthropic", model="claude", payload='{"thinking":"Ada"}'),
                calling("c1", '{"who":["Ada","user 445566"]}'),
            ),
            Message(role="tool", parts=(result("c1", "Ada is known."),)),
            answer(TextPart(text="Hello Ada.")),
        ),
    )
    line = render_trajectory(redaction.apply(talk), wanted)
    left = line.casefold().replace("adagio", "")
    for word in (
        "ada",
        "lovelace",
        "countess",
        "445566",
        "example.com",
        "660",
        secret.casefold(),
        "facts",
    ):
        assert word not in left
    assert "2026-11-23" in line
    assert "Bo is small" in line, "a name of two letters would hide ordinary words"
    assert "Person 1" in line
    assert "[e-mail]" in line
    assert "[number]" in line
    assert "[hidden]" in line


@pytest.mark.parametrize("wanted", ["openai", "anthropic", "sharegpt"])
def test_a_picture_of_a_tool_leaves_a_word_in_its_result(wanted: TrajectoryFormat) -> None:
    image = ImagePart(file_key="k1", media_type="image/png", size=3)
    pdf = PdfPart(file_key="f1", media_type="application/pdf", size=3, pages=1)
    talk = Trajectory(
        session_id=SessionId(7),
        person="ada",
        model="claude",
        started_at=1,
        system="",
        tools=(),
        messages=(
            user(TextPart(text="look")),
            answer(calling("c1", "{}")),
            Message(role="tool", parts=(result("c1", "A picture."), image)),
            answer(calling("c2", "{}")),
            Message(role="tool", parts=(result("c2", "A file."), pdf)),
            answer(TextPart(text="Seen.")),
        ),
    )
    line = render_trajectory(talk, wanted)
    assert "A picture.\\n[picture]" in line.replace("\\\\n", "\\n")
    assert "A file.\\n[PDF file]" in line.replace("\\\\n", "\\n")
