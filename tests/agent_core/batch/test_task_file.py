"""The file of tasks: good lines run, and each bad one is named with what is wrong."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_core.batch.task_file import TaskFile, load_task, read_task_file

TOOLS = ("memory", "terminal")


def read(*lines: str | bytes, has_place: bool = True) -> TaskFile:
    data = b"\n".join(one.encode() if isinstance(one, str) else one for one in lines)
    return read_task_file(data, TOOLS, has_place=has_place)


def test_a_task_has_all_its_fields() -> None:
    found = read(
        '\ufeff{"prompt": "a"}\r',
        "",
        '{"prompt": "b", "id": 7, "tools": ["terminal"], "files": {"x/y.txt": "1"},'
        ' "check": "true", "answer": 42}',
    )
    assert not found.faults
    assert [(one.line, one.id, one.prompt) for one in found.tasks] == [(1, "1", "a"), (3, "7", "b")]
    assert found.tasks[1].tools == ("terminal",)
    assert found.tasks[1].files == {"x/y.txt": "1"}
    assert found.ignored == ("answer",)
    assert load_task(json.loads(json.dumps(found.tasks[1].dump()))) == found.tasks[1]


def test_each_bad_line_is_named_and_the_others_are_read() -> None:
    found = read(
        '{"promt": "a"}',
        '{"prompt": ',
        "[1]",
        b'{"prompt": "\xff"}',
        '{"prompt": "  "}',
        '{"prompt": "a", "tools": "terminal"}',
        '{"prompt": "a", "tools": ["fly"]}',
        '{"prompt": "a", "files": {"../x": "1"}}',
        '{"prompt": "a", "files": {"/etc/x": "1"}}',
        '{"prompt": "a", "files": ["x"]}',
        '{"prompt": "a", "check": 1}',
        '{"prompt": "a", "id": true}',
        '{"prompt": "a", "id": "one"}',
        '{"prompt": "b", "id": "one"}',
        "[" * 100_000,
        '{"prompt": "a \\ud83d b"}',
    )
    assert [task.line for task in found.tasks] == [13]
    assert {one.line: one.fault for one in found.faults} == {
        1: 'it has no "prompt"; it has "promt"',
        2: "it is no JSON: expecting value at column 12",
        3: 'it is no JSON object; a task looks like {"prompt": "..."}',
        4: "it is no UTF-8 text: byte 13 can't be read",
        5: 'its "prompt" has to be a text that is not empty',
        6: 'its "tools" have to be a list of names, such as ["terminal"]',
        7: "there is no tool fly here; there are memory, terminal",
        8: 'its file "../x" has to be a path below the workspace',
        9: 'its file "/etc/x" has to be a path below the workspace',
        10: 'its "files" have to be an object of texts by path, such as {"a.txt": "1"}',
        11: 'its "check" has to be a shell command as a text',
        12: 'its "id" has to be a text or a whole number',
        14: 'its id "one" is that of line 13, too; ids are unique',
        15: "it is no JSON that can be read: it is nested too deeply",
        16: "it has half of a character, such as \\ud83d without its other half",
    }


def test_files_need_a_place() -> None:
    found = read('{"prompt": "a", "check": "true"}', has_place=False)
    assert "it needs a place for its files or its check" in found.faults[0].fault


def test_the_same_prompt_may_stand_there_often() -> None:
    assert len(read(*['{"prompt": "a"}'] * 3).tasks) == 3


@given(st.binary(max_size=300))
def test_no_file_breaks_the_reader(data: bytes) -> None:
    found = read_task_file(data, TOOLS, has_place=True)
    lines = sum(bool(line.strip()) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    assert len(found.tasks) + len(found.faults) == lines
