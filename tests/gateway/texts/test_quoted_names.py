"""Names that people gave stand in quotes; those that could pass for anything else, in code."""

from agent_core.localization import use_language
from agent_core.state.people.people import NewAccount
from gateway.texts.people import name_own_account, quote_name
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


def test_an_account_is_named_by_its_name_or_number_and_never_by_an_id() -> None:
    uuid = "0b2f9c5e-6a3d-4c57-8f0e-1d2c3b4a5f60"

    def check(row: tuple[str, str, str]) -> None:
        platform, name, shown = row
        account = NewAccount(platform=platform, user_id=uuid, display_name=name, admitted_by="list")
        assert name_own_account(account) == shown

    rows = [
        ("signal", "Ada", "“Ada” on Signal"),
        ("signal", "+43 1 2345", "“+43 1 2345” on Signal"),
        ("signal", uuid, "Signal"),
        ("signal", "", "Signal"),
        ("console", "ada", "the console"),
    ]
    check_each(rows, check)
