"""Names that people gave stand in quotes; those that could pass for anything else, in code."""

from agent_core.localization import use_language
from gateway.texts.people import quote_name
from tests.tables import check_each

PLAIN = ("Ada", "Jean-Claude", "O'Brien", "J. R. Smith", "ada_99", "Familie Huber & Söhne", "爱达")
RISKY = {
    "**Ada**": "`**Ada**`",
    "evil.example": "`evil.example`",
    "https://evil": "`https://evil`",
    "[here](x)": "`[here](x)`",
    "@everyone": "`@everyone`",
    "_Ada_": "`_Ada_`",
    "Ada” says “yes": "`Ada” says “yes`",
    "`rm`": "`'rm'`",
    "&lt;b&gt;": "`&lt;b&gt;`",
    "": "`?`",
}


def test_a_plain_name_stands_in_the_quotes_of_the_language() -> None:
    def check(name: str) -> None:
        assert quote_name(name) == f"“{name}”"
        with use_language("de"):
            assert quote_name(name) == f"„{name}“"

    check_each(PLAIN, check)


def test_a_name_that_could_pass_for_anything_else_stands_in_code() -> None:
    def check(row: tuple[str, str]) -> None:
        assert quote_name(row[0]) == row[1]

    check_each(list(RISKY.items()), check)
