"""Slack's own markup is read as Markdown."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.read_mrkdwn import mentions_in, read_mrkdwn
from tests.tables import check_each

ME = "U0BOT"


TRANSLATIONS = (
    ("Good morning 👋", "Good morning 👋"),
    ("  two\n  lines ", "  two\n  lines "),
    ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
    ("*bold* and ~gone~ and _so_", "**bold** and ~~gone~~ and _so_"),
    ("2*3*4 and a ~ b ~ c", "2*3*4 and a ~ b ~ c"),
    ("`*raw* &lt;b&gt;` *x*", "`*raw* <b>` **x**"),
    ("```*raw*\n<https://a.b/c>```", "```*raw*\nhttps://a.b/c```"),
    ("see <https://a.b/?x=1&amp;y=2>", "see https://a.b/?x=1&y=2"),
    ("see <https://a.b/c|the *page*>", "see [the *page*](https://a.b/c)"),
    ("at <http://a.b|a.b>", "at http://a.b"),
    ("write <mailto:a@b.c|a@b.c>", "write a@b.c"),
    ("ask <@U1> or <@U2> or <@U3|cleo>", "ask @Anna Lee or @U2 or @cleo"),
    ("in <#C1|general> and <#C2>", "in #general and #C2"),
    ("<!here> <!channel> <!subteam^S1|@team>", "@here @channel @team"),
    ("on <!date^1392734382^{date}|Feb 18>", "on Feb 18"),
    ("<@U0BOT> hello", "hello"),
    ("<@U0BOT>, hello", "hello"),
    ("hello <@U0BOT>", "hello"),
    ("hello <@U0BOT|talaria>!", "hello!"),
    ("well <@U0BOT> then", "well then"),
    ("<@U0BOT>", ""),
    ("*see <https://a.b|it>*", "**see [it](https://a.b)**"),
    ("\ue000\ue001", "��"),
    ("nul \x00", "nul �"),
)


def test_mrkdwn_becomes_markdown() -> None:
    def check(row: tuple[str, str]) -> None:
        said, read = row
        assert read_mrkdwn(said, names={"U1": "Anna Lee"}, me=ME) == read

    check_each(TRANSLATIONS, check)


def test_mentions_are_found_once_each() -> None:
    assert mentions_in("<@U1> <@U2|x> <@U1> <#C1>") == ("U1", "U2")


@given(st.text(alphabet="ab*~`<>|@!&;\n U0BOT:/", max_size=60))
def test_any_text_is_readable(said: str) -> None:
    read = read_mrkdwn(said, names={}, me=ME)
    assert "\ue000" not in read
    assert "\ue001" not in read


@given(
    st.text(
        alphabet=st.characters(blacklist_characters="*~`<>&\x00", blacklist_categories=["Cs", "Co"])
    )
)
def test_words_without_markup_stay_as_they_are(said: str) -> None:
    assert read_mrkdwn(said, names={}, me=ME) == said


def test_a_long_gap_is_read_at_once() -> None:
    said = f"hello{' ' * 400_000}you"
    assert read_mrkdwn(said, names={}, me=ME) == said
