"""Thoughts and calls in the words of an answer, in every cut of the stream."""

import json

import pytest

from agent_core.models.openai.translate import Dialect, adapt, render_request
from agent_core.models.written import WrittenText
from tests.agent_core.models.calls import ask, calls, results

CALL = '{"name":"recall","arguments":{"query":"tea"}}'
ROWS = [
    ("It is tea.", "It is tea.", 0),
    ("  It is < tea.", "  It is < tea.", 0),
    ("<think>Hm.</think>It is tea.", "It is tea.", 0),
    ("<think>\nHm.\n</think>\n\nIt is tea.", "It is tea.", 0),
    ("<think></think>\n\nIt is tea.", "It is tea.", 0),
    ("<think>Hm. It never ends", "", 0),
    ("Hm.\n</think>\n\nIt is tea.", "It is tea.", 0),
    ("The mark </think> ends it.", "The mark </think> ends it.", 0),
    ("`</think>`\nends it.", "`</think>`\nends it.", 0),
    ("<thinner> is no mark", "<thinner> is no mark", 0),
    (CALL, "", 1),
    (f"```json\n{CALL}\n```", "", 1),
    (f"I look.\n<tool_call>{CALL}</tool_call>", "I look.", 1),
    (f"<think>Hm.</think>\n<tool_call>{CALL}\n{CALL}", "", 2),
    (f"So: `<tool_call>{CALL}</tool_call>`", f"So: `<tool_call>{CALL}</tool_call>`", 0),
    ('{"name":"none_such","arguments":{}}', "", 1),
    ('{"name":"recall"}', "", 1),
    ('{"name":"Ada","age":36}', '{"name":"Ada","age":36}', 0),
    ('{"tool":"recall","query":"tea"}', "", 1),
    (f"I look it up:\n\n```json\n{CALL}\n```\nThere it is.", "I look it up:", 1),
    (f"I look it up:\n{CALL}", "I look it up:", 1),
    (f"```\n{CALL}\n{CALL}\n```", "", 2),
    (f'{{"tool_calls":[{CALL}]}}', "", 1),
    ('```json\n{"name":"recall","arguments":{"query":"te', "", 1),
    ('{"name": "recall", "arguments": {"query": tea}}', "", 1),
    ("So:\n```python\n{1: 2}\n```\nDone.", "So:\n```python\n{1: 2}\n```\nDone.", 0),
    ('So:\n{"a": 1}\nDone.', 'So:\n{"a": 1}\nDone.', 0),
    ('So:\n{"name": "Ada"}\nDone.', 'So:\n{"name": "Ada"}\nDone.', 0),
    ("It is {not} JSON:\n{", "It is {not} JSON:\n{", 0),
]


@pytest.mark.parametrize(("said", "expected", "count"), ROWS)
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_words_are_read_alike_in_every_cut(said: str, expected: str, count: int, size: int) -> None:
    written = WrittenText(ask("tea?"))
    shown = [written.feed(said[at : at + size]) for at in range(0, len(said), size)]
    rest = written.finish(may_call=True)
    assert (written.text, len(written.calls)) == (expected, count)
    if not (written.has_lost_opening or count):
        assert "".join(shown) + rest == expected


def test_a_person_who_asks_for_json_reads_it() -> None:
    written = WrittenText(ask("Show me the JSON of a call"))
    written.feed(CALL)
    assert (written.finish(may_call=True), written.calls) == (CALL, ())


@pytest.mark.parametrize("size", [1, 1000])
def test_after_one_lost_opening_the_next_thought_is_never_shown(size: int) -> None:
    said = "Hm, `</think>` is a mark.\n</think>\n\nIt is tea."
    written = WrittenText(ask("tea?"), begins_in_thought=True)
    shown = [written.feed(said[at : at + size]) for at in range(0, len(said), size)]
    assert "".join(shown) + written.finish(may_call=True) == written.text == "It is tea."


def test_a_model_that_stopped_to_think_is_shown_whole() -> None:
    written = WrittenText(ask("tea?"), begins_in_thought=True)
    assert written.feed("It is tea.") == ""
    assert written.finish(may_call=True) == written.text == "It is tea."


def test_ids_have_the_form_of_their_server_in_call_and_result() -> None:
    request = ask("tea?", calls(("x" * 60, "recall", {}), ("abcDEF123", "recall", {})), "and?")
    done = results(("x" * 60, "none"), ("abcDEF123", "none"))
    request = ask(*request.messages[:2], done)
    dialect = adapt(Dialect(), 400, "Tool call id was x but must be a-z, with a length of 9.")
    for form, most in ((dialect, 9), (Dialect(id_form="short"), 40), (Dialect(), 60)):
        body = render_request(request, dialect=form)
        assert body == render_request(request, dialect=form)
        *_, asked, first, second = json.loads(body)["messages"]
        ids = [call["id"] for call in asked["tool_calls"]]
        assert ids == [first["tool_call_id"], second["tool_call_id"]]
        assert ids[1] == "abcDEF123"
        assert len(ids[0]) <= most
