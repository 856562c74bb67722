"""The console page itself: buttons, the history, and what is taken away.

The page's own script runs in node, in a document of few lines (`page.mjs`).
"""

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.architecture.source import ROOT

STATIC = ROOT / "gateway" / "interfaces" / "http" / "static"
PAGE = ROOT / "tests" / "gateway" / "interfaces" / "page.mjs"

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not shutil.which("node"), reason="node runs the page's script"),
]

Step = tuple[str, Any]
START: tuple[Step, ...] = (("load", None), ("open", None))


def run(*steps: Step) -> list[dict[str, Any]]:
    """What the page shows, and wrote, after each step."""
    done = subprocess.run(
        ["node", str(PAGE), str(STATIC / "console.js")],
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    return list(json.loads(done.stdout))


def hears(text: str, *labels: str, name: str = "k1", kind: str = "message", **more: Any) -> Step:
    """A message of the gateway, with buttons of these labels; their keys are k0, k1, ..."""
    styles = ("good", "plain", "danger")
    buttons = [
        {"key": f"k{number}", "label": label, "style": styles[number % 3]}
        for number, label in enumerate(labels)
    ]
    news = {"type": kind, "id": name, "text": text, "key": f"{name}/{kind}", "buttons": buttons}
    return "hear", news | {"live": False, "silent": False} | more


def buttons(state: dict[str, Any], message: int = -1) -> dict[str, list[str]]:
    """The buttons of a message by label, each with its marks."""
    found = state["messages"][message]["buttons"]
    return {button["label"]: button["marks"] for button in found}


def texts(state: dict[str, Any]) -> list[str]:
    return [message["text"] for message in state["messages"]]


def test_the_page_says_that_it_shows_buttons() -> None:
    assert run(*START)[-1]["wrote"] == [{"type": "hello", "buttons": True}]


def test_buttons_are_shown_with_their_styles_and_their_labels_are_only_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    shown = run(*START, hears("Sure? <b>x</b>", "Allow", evil, "**Don't**"))[-1]
    marks = {"Allow": ["choice", "good"], evil: ["choice"], "**Don't**": ["choice", "danger"]}
    assert buttons(shown) == marks
    assert shown["tags"] == 0
    assert shown["wrote"] == [{"type": "got", "key": "k1/message"}]


def test_a_button_presses_once_and_the_outcome_removes_all() -> None:
    *_, pressed, again, over = run(
        *START,
        hears("Sure?", "Allow", "Don't"),
        ("press", "Don't"),
        ("press", "Allow"),
        hears("Sure?\n\n→ Don't", kind="edit"),
    )
    (press,) = pressed["wrote"]
    assert press.pop("id")
    assert press.pop("language")
    assert press == {"type": "press", "message": "k1", "key": "k1"}
    assert buttons(pressed) == {
        "Allow": ["choice", "good", "disabled"],
        "Don't": ["choice", "pressed", "disabled"],
    }
    assert pressed["focus"] == "words"
    assert again["wrote"] == []
    assert texts(over) == ["Sure?→ Don't"]
    assert buttons(over) == {}


def test_buttons_go_on_working_when_a_press_decided_nothing() -> None:
    *_, reported = run(
        *START,
        hears("Sure?", "Allow"),
        ("press", "Allow"),
        hears("That is not for you to allow.", name="k2"),
    )
    assert buttons(reported, 0) == {"Allow": ["choice", "good"]}


def test_a_press_is_repeated_until_it_is_stored() -> None:
    *_, pressed, opened, _, last = run(
        *START,
        hears("Sure?", "Allow"),
        ("press", "Allow"),
        ("open", None),
        ("hear", {"type": "ack", "id": "another"}),
        ("open", None),
    )
    hello = {"type": "hello", "buttons": True}
    assert opened["wrote"] == last["wrote"] == [hello, *pressed["wrote"]]


def test_stored_lines_are_not_repeated() -> None:
    *_, opened = run(
        *START,
        hears("Sure?", "Allow"),
        ("press", "Allow"),
        ("acknowledge", None),
        ("open", None),
    )
    assert [said["type"] for said in opened["wrote"]] == ["hello"]


def stored(*entries: tuple[str, str, str], at: int = 1) -> Step:
    """The history at the gateway: (id, author, text), each a millisecond after the other."""
    return "stored", [
        {"id": name, "who": who, "text": text, "at": at + number, "buttons": [], "files": []}
        for number, (name, who, text) in enumerate(entries)
    ]


def test_a_reload_sends_unsent_messages_and_presses_again() -> None:
    *_, pressed, said, loaded, opened = run(
        *START,
        hears("Which?", "Red", "Blue"),
        ("press", "Blue"),
        ("say", "and green"),
        ("load", None),
        ("open", None),
    )
    assert texts(loaded) == ["and green"]
    assert loaded["messages"][0]["marks"] == ["unsent"]
    assert opened["wrote"][1:] == [*pressed["wrote"], *said["wrote"]]


def test_whoever_logs_in_next_sends_nothing_of_the_one_before() -> None:
    *_, loaded, opened = run(
        *START, ("say", "for my eyes"), ("login", "7"), ("load", None), ("open", None)
    )
    assert texts(loaded) == []
    assert [one["type"] for one in opened["wrote"]] == ["hello"]


def test_a_new_tab_shows_the_history_in_the_order_of_its_times() -> None:
    load, open_line = START
    *_, opened = run(load, stored(("m1", "mine", "Hi"), ("k1", "theirs", "Hello")), open_line)
    assert [(one["who"], one["text"]) for one in opened["messages"]] == [
        ("mine", "Hi"),
        ("theirs", "Hello"),
    ]


def test_what_waited_for_the_page_has_the_time_at_which_it_was_said() -> None:
    *_, shown = run(
        *START,
        hears("Just now"),
        hears("⏰ Call Ada", name="k2", at=1_000),
        hears("Right after", name="k3", at=0),
    )
    assert texts(shown) == ["⏰ Call Ada", "Just now", "Right after"]


def test_messages_from_elsewhere_appear_once_and_in_order() -> None:
    elsewhere = {"type": "said", "id": "m2", "text": "from another tab", "files": []}
    *_, shown = run(
        *START,
        hears("Hi"),
        ("hear", elsewhere),
        ("hear", elsewhere),
        stored(("t1", "mine", "from Telegram")),
        ("hear", {"type": "news"}),
        ("hear", {"type": "news"}),
    )
    assert texts(shown) == ["from Telegram", "Hi", "from another tab"]


def test_a_status_line_is_an_aside_that_goes_away_and_is_not_kept() -> None:
    status = hears("⏳ Searching…", name="s1", live=True, silent=True)
    *_, shown, gone, again, _ = run(
        *START,
        hears("Hi"),
        status,
        ("hear", {"type": "delete", "id": "s1", "key": "s1/1"}),
        ("hear", {"type": "delete", "id": "s1", "key": "s1/2"}),
        status,
    )
    assert shown["messages"][-1]["marks"] == ["live", "aside"]
    assert texts(gone) == texts(again) == ["Hi"]
    assert gone["wrote"] == [{"type": "got", "key": "s1/1"}]
    assert again["wrote"] == [{"type": "got", "key": "s1/2"}]


def test_transient_indicators_end_with_the_connection() -> None:
    *_, said, _, opened = run(
        *START,
        hears("Half an ans", live=True),
        ("say", "hello"),
        hears("⏳ Searching…", name="s1", live=True, silent=True),
        ("open", None),
    )
    assert texts(opened) == texts(said) == ["Half an ans", "hello"]


def test_the_eyes_stand_beside_a_message_while_it_is_looked_at() -> None:
    _, _, said = run(*START, ("say", "hello"))
    assert said["messages"][0]["marks"] == ["unsent"]
    *_, seen, unseen, strange = run(
        *START,
        hears("Hi", name="m1"),
        ("hear", {"type": "seen", "id": "m1", "seen": True}),
        ("hear", {"type": "seen", "id": "m1", "seen": False}),
        ("hear", {"type": "seen", "id": "m7", "seen": True}),
    )
    assert seen["messages"][0]["marks"] == ["seen"]
    assert unseen["messages"] == strange["messages"]
    assert unseen["messages"][0]["marks"] == []


def test_the_gateway_does_not_seem_at_work_while_it_waits_for_its_person() -> None:
    typing = ("hear", {"type": "typing"})
    *_, asked, pressed, working = run(
        *START, hears("Sure?", "Allow"), typing, ("press", "Allow"), typing
    )
    assert (asked["sign"], asked["stop"]) == (False, True)
    assert pressed["stop"] is True
    assert (working["sign"], working["stop"]) == (True, True)
