"""Pages as Telegram's HTML."""

import pytest

from adapters.telegram.payloads import write_html
from adapters.telegram.render import Entity, Page, render


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("plain & <b>", "plain &amp; &lt;b&gt;"),
        ("**bold** and *italic*", "<b>bold</b> and <i>italic</i>"),
        ("😀 **two units**", "😀 <b>two units</b>"),
        ("[here](https://x.org/?a=1&b=2)", '<a href="https://x.org/?a=1&amp;b=2">here</a>'),
        ("```py\nx = 1\n```", '<pre><code class="language-py">x = 1</code></pre>'),
        ("> quoted `code`", "<blockquote>quoted <code>code</code></blockquote>"),
    ],
)
def test_entities_are_written_as_tags(markdown: str, html: str) -> None:
    assert write_html(render(markdown)) == html


def test_tags_that_would_cross_are_closed_and_opened_again() -> None:
    page = Page(
        text="abc",
        entities=(
            Entity(kind="bold", offset=0, length=2),
            Entity(kind="italic", offset=1, length=2),
        ),
    )
    assert write_html(page) == "<b>a<i>b</i></b><i>c</i>"


def test_what_ends_where_the_next_begins_is_closed_first() -> None:
    page = Page(
        text="ab",
        entities=(
            Entity(kind="bold", offset=0, length=1),
            Entity(kind="italic", offset=1, length=1),
        ),
    )
    assert write_html(page) == "<b>a</b><i>b</i>"
