"""Texts that mark code with backticks, on the pages."""

from gateway.interfaces.pages.rendering import mark_code


def test_what_stands_between_backticks_is_code_and_nothing_becomes_markup() -> None:
    shown = {
        "Run `talaria backup`, or `talaria check`.": (
            "Run <code>talaria backup</code>, or <code>talaria check</code>."
        ),
        "Remember this?\n```\n<b>`a`</b>\nb\n```\nIt `is`.": (
            "Remember this?\n<code>&lt;b&gt;`a`&lt;/b&gt;\nb</code>\nIt <code>is</code>."
        ),
        "one ` alone, <i>": "one ` alone, &lt;i&gt;",
        "``": "``",
        "a `b\nc` d": "a `b\nc` d",
    }
    assert {text: str(mark_code(text)) for text in shown} == shown
