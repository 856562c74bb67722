"""Who owns the gateway, and whose accounts are linked."""

from gateway.texts import people
from tests.emulators.telegram_cast import ANNA
from tests.integration.accounts import code_in
from tests.journeys.accounts import Account, texts
from tests.journeys.stage import Harness


async def claim(harness: Harness, user: int = ANNA) -> None:
    assert harness.gateway.claim_code
    assert "you're now the owner" in await harness.ask(user, f"/claim {harness.gateway.claim_code}")


async def make_code(harness: Harness, account: Account) -> str:
    return code_in(await harness.hears(account, "/link"))


async def join(harness: Harness, first: Account, other: Account) -> None:
    """Link `other` to the person of `first`, with codes as intended."""
    code = await make_code(harness, first)
    assert "I've asked on" in await harness.hears(other, f"/link {code}")
    await harness.press(first, people.YES())
    assert "(Linked: " in asked_last(first)


def asked_last(account: Account) -> str:
    """Return the newest question about accounts."""
    return next(text for text in reversed(texts(account)) if "Once I link" in text)


async def own(harness: Harness, account: Account) -> None:
    """Make an account the owner's, claimed through Telegram."""
    telegram = harness.stage.account("telegram", account.number)
    await claim(harness, account.number)
    await join(harness, telegram, account)
