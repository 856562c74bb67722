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


@pytest.mark.parametrize(
    ("text", "bold", "italic", "html"),
    [
        pytest.param("abc", (0, 2), (1, 2), "<b>a<i>b</i></b><i>c</i>", id="they cross"),
        pytest.param("ab", (0, 1), (1, 1), "<b>a</b><i>b</i>", id="one ends where one begins"),
    ],
)
def test_tags_are_closed_before_others_end_or_begin(
    text: str, bold: tuple[int, int], italic: tuple[int, int], html: str
) -> None:
    entities = (
        Entity(kind="bold", offset=bold[0], length=bold[1]),
        Entity(kind="italic", offset=italic[0], length=italic[1]),
    )
    assert write_html(Page(text=text, entities=entities)) == html
