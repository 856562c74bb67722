"""Outbox messages become valid arguments of Slack's calls."""

import html
from typing import Any

import pytest
from hypothesis import given

from adapters.errors import Rejected
from adapters.messages import Button, OutboundMessage, Step
from adapters.slack.render import (
    TEXT_LIMIT,
    actions_of,
    key_in,
    measure,
    post_of,
    step_chunks,
    update_of,
    view_of,
    words_of,
)
from adapters.slack.write_mrkdwn import caption_of, fallback_of
from adapters.toolkit.split_long_messages import split_markdown
from tests.adapters.markdown_texts import MARKDOWN
from tests.adapters.slack.rig import to
from tests.emulators.slack_blocks import check

YES = Button(key="yes", label="Yes", style="good")
NO = Button(key="no", label="No", style="danger")


def queued(text: str, **fields: Any) -> OutboundMessage:
    return to("D1", text, **fields)


def test_text_is_sent_as_markdown_with_the_messages_key() -> None:
    assert post_of(queued("**hi**", key="k1")) == {
        "markdown_text": "**hi**",
        "metadata": {"event_type": "talaria", "event_payload": {"key": "k1"}},
    }


def test_buttons_are_below_the_text_five_in_a_row() -> None:
    body = post_of(queued("Sure?", buttons=(YES, NO)))
    words, row = body["blocks"]
    assert words == {"type": "markdown", "text": "Sure?"}
    assert [e["action_id"] for e in row["elements"]] == ["t:yes", "t:no"]
    assert [e["style"] for e in row["elements"]] == ["primary", "danger"]
    assert "markdown_text" not in body
    many = [Button(key=f"k{n}", label=str(n)) for n in range(12)]
    assert [len(block["elements"]) for block in actions_of(many)] == [5, 5, 2]


def test_an_edit_has_blocks_to_replace_the_previous_ones() -> None:
    body = update_of(queued("a < b & c"))
    assert body["blocks"] == [{"type": "markdown", "text": "a < b & c"}]
    assert body["text"] == "a &lt; b &amp; c"


def test_the_models_text_pings_nobody() -> None:
    for call in ("<!channel>", "<!here|x>", "<!everyone>", "<!subteam^S1>", "<!HERE>", "<@U012AB>"):
        assert call not in words_of(f"hey {call}")
    assert words_of("<!-- a comment --> <!doctype html>") == "<!-- a comment --> <!doctype html>"


def test_an_empty_message_is_refused() -> None:
    for text in ("", " \n"):
        with pytest.raises(Rejected, match="empty"):
            post_of(queued(text))


def test_steps_are_below_the_text_only_during_the_turn() -> None:
    steps = (
        Step(key="1", title="Read the page", state="done"),
        Step(key="2", title="Write the file", state="running"),
    )
    live = post_of(queued("So far", steps=steps, is_live=True))["markdown_text"]
    assert live == "So far\n\n_✓ Read the page_\n_⏳ Write the file_"
    assert post_of(queued("Done", steps=steps))["markdown_text"] == "Done"
    many = tuple(Step(key=str(n), title=f"Step {n}", state="done") for n in range(9))
    newest = post_of(queued("", steps=many, is_live=True))["markdown_text"]
    assert newest == "_✓ Step 6_\n_✓ Step 7_\n_✓ Step 8_"
    full = "x" * TEXT_LIMIT
    assert post_of(queued(full, steps=steps, is_live=True))["markdown_text"] == full
    assert step_chunks(steps, {"1": steps[0]}) == [
        {"type": "task_update", "id": "2", "title": "Write the file", "status": "in_progress"}
    ]
    loud = Step(key="3", title="Read <!channel>", state="done")
    assert "<!channel" not in str(step_chunks([loud], {}))


def test_a_key_is_read_back_from_a_history() -> None:
    assert key_in(post_of(queued("x", key="k7"))) == "k7"
    assert key_in({"metadata": {"event_type": "other", "event_payload": {"key": "k7"}}}) is None
    assert key_in({}) is None


@given(MARKDOWN)
def test_every_part_of_any_text_is_valid(text: str) -> None:
    for part in split_markdown(text, limit=200, measure=measure):
        assert measure(part) <= 200 or len(part) <= 2
        if part.strip():
            check(update_of(queued(part, buttons=(YES,)))["blocks"])


def test_the_limit_counts_what_is_sent() -> None:
    parts = split_markdown("<!here> " * 3000, limit=TEXT_LIMIT, measure=measure)
    assert len(parts) > 1
    assert all(len(words_of(part)) <= TEXT_LIMIT for part in parts)


def test_a_home_shows_titles_lists_and_links_in_blocks() -> None:
    text = (
        "# Talaria\n\nAll is **well**, see [*here*](https://a.b?x&y).\n\n- one\n- `two`\n  1. three"
        "\n\n> said\n\n---\n\n```py\na < b\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    view = view_of(queued(text, buttons=(YES,)))
    assert view["type"] == "home"
    check(view["blocks"], limit=100)
    kinds = [block["type"] for block in view["blocks"]]
    assert kinds == [
        *("header", "section", "section", "section", "divider", "section", "section", "actions")
    ]
    said = [block["text"]["text"] for block in view["blocks"] if block["type"] == "section"]
    assert said == [
        "All is *well*, see <https://a.b?x&amp;y|here>.",
        "• one\n• `two`\n    1. three",
        ">said",
        "```a &lt; b```",
        "a · b\n1 · 2",
    ]


@given(MARKDOWN)
def test_any_text_makes_a_valid_home_tab(text: str) -> None:
    check(view_of(queued(text, buttons=(YES, NO)))["blocks"], limit=100)


def test_a_files_comment_has_no_address_to_unfurl() -> None:
    said = caption_of("**Here**: [it](https://a.b/c?x&y) or https://d.e and <!here>\n\n- <f@g.h>")
    assert said == (
        "*Here*: it `https://a.b/c?x&amp;y` or `https://d.e` and &lt;!here&gt;\n\n"
        "• <mailto:f@g.h|f@g.h>"
    )
    assert caption_of(" ") == ""
    assert caption_of("f" * 400_000).startswith("fff")  # at once


@pytest.mark.parametrize("target", ["!channel", "<!here>", "@U123", "#C123", "page.html"])
def test_only_an_address_becomes_a_link(target: str) -> None:
    assert caption_of(f"See [*this*]({target}).") == "See _this_."


def test_a_home_is_never_empty_and_never_too_long() -> None:
    assert len(view_of(queued(""))["blocks"]) == 1
    long = view_of(queued("\n\n".join(["word " * 900] * 80), buttons=(YES,)))
    check(long["blocks"], limit=100)
    assert long["blocks"][-1]["type"] == "actions"


@pytest.mark.parametrize(
    "words", ["short & <sweet>", "a" * 4000, "<" * 1000, "é" * 2000, "a & b " * 650, "x" * 1300]
)
def test_the_fallback_text_is_complete_if_it_fits(words: str) -> None:
    fallback = update_of(queued(words))["text"]
    assert len(fallback.encode()) <= 4000
    assert (
        html.unescape(fallback) == words.strip()
        or len(html.escape(words, quote=False).encode()) > 4000
    )


def test_the_fallback_text_is_slacks_own_form() -> None:
    words = "**Run** `rm a&b`?\n\n- [one](https://a.b)\n- two"
    body = post_of(queued(words, buttons=(YES, NO)))
    assert body["text"] == "*Run* `rm a&amp;b`?\n\n• <https://a.b|one>\n• two"
    assert update_of(queued("[]: <x>"))["text"]


@pytest.mark.parametrize("words", ["a" * 4001, "<" * 1001, "é" * 2001, "&€🙂" * 3000])
def test_a_longer_fallback_is_cut_between_characters(words: str) -> None:
    fallback = update_of(queued(words))["text"]
    assert 3980 <= len(fallback.encode()) <= 4000
    assert words.startswith(html.unescape(fallback.removesuffix("…")))
    assert fallback.endswith("…")


def test_a_fallback_renders_only_as_much_of_a_text_as_slack_takes() -> None:
    fallback = fallback_of("**a** " * 2000)
    assert 2600 < len(fallback) < 2700  # of 4000 characters, a third was markup
    assert fallback.endswith("…")


def test_no_link_is_cut_in_a_longer_fallback() -> None:
    link = "<https://a.b|one>"
    for before in range(3950, 3999):
        fallback = fallback_of(f"{'a' * before} [one](https://a.b) and more of it" + "z" * 60)
        assert (link in fallback) is ("<" in fallback)
