"""Access: the owner claims the gateway, strangers ask, the owner lets them in."""

from gateway.texts import general
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.accounts import code_in
from tests.journeys.identities import claim
from tests.journeys.stage import Stage, call, calls, heard, system_of

CARL = 13


async def test_an_approved_stranger_has_their_own_memory(
    stage: Stage,
) -> None:
    async with stage.open(allow="") as harness:
        assert "I don't have an owner yet" in await harness.ask(ANNA, "/start")
        await claim(harness)
        reported = await harness.ask(BEN, "hello")
        assert "I don't know you yet" in reported
        assert "I may come in now" not in reported

        assert "“Ben” can now talk to me" in await harness.ask(
            ANNA, f"/approve {code_in(reported)}"
        )
        assert "Hi Ben!" in stage.telegram.texts(BEN)[-1]

        stage.plan(calls(call("memory", action="add", target="user", text="Drinks green tea")))
        stage.plan("Noted, Anna.")
        told = await harness.ask(ANNA, "I drink green tea")
        assert told == "Noted, Anna.\n\n📝 Remembered: Drinks green tea"
        stage.plan(calls(call("memory", action="add", target="user", text="Drinks coffee")))
        stage.plan("Noted, Ben.")
        told = await harness.ask(BEN, "I drink coffee")
        assert told == "Noted, Ben.\n\n📝 Remembered: Drinks coffee"

        for user in (ANNA, BEN):
            await harness.ask(user, "/new")
            await harness.ask(user, "what do I drink?")
        for_anna, for_ben = (system_of(body) for body in stage.turns[-2:])
        assert "green tea" in for_anna
        assert "coffee" not in for_anna
        assert "coffee" in for_ben
        assert "green tea" not in for_ben
        assert [heard(body) for body in stage.turns[-2:]] == [["what do I drink?"]] * 2


async def test_a_stranger_gets_one_notice_and_never_reaches_the_model(stage: Stage) -> None:
    async with stage.open(allow="") as harness:
        await claim(harness)
        assert "I don't know you yet" in await harness.ask(BEN, "hello")
        assert await harness.ask(BEN, "hello?") == ""
        assert await harness.ask(BEN, "/status") == ""
        assert stage.turns == []


async def test_a_stranger_who_wrote_before_the_claim_gets_a_code_afterwards(stage: Stage) -> None:
    async with stage.open(allow="") as harness:
        assert "I don't have an owner yet" in await harness.ask(BEN, "hello")
        await claim(harness)
        code = code_in(await harness.ask(BEN, "and now?"))
        assert general.APPROVED(name="“Ben”") in await harness.ask(ANNA, f"/approve {code}")
        assert "echo: hi" in await harness.ask(BEN, "hi")


async def test_codes_work_once_and_for_their_purpose_only(stage: Stage) -> None:
    stage.telegram.user(CARL, "Carl")
    async with stage.open(allow="") as harness:
        claim_code = harness.gateway.claim_code
        assert "Add the code" in await harness.ask(ANNA, "/claim")
        assert "invalid" in await harness.ask(ANNA, "/claim ABCD-EFGH")
        await claim(harness)
        assert "invalid" in await harness.ask(CARL, f"/claim {claim_code}")
        pairing = code_in(await harness.ask(BEN, "hello"))
        assert "invalid" in await harness.ask(CARL, f"/claim {pairing}")
        assert "invalid" in await harness.ask(ANNA, "/approve ABCD-EFGH")
        assert general.APPROVED(name="“Ben”") in await harness.ask(
            ANNA, f"/approve {pairing.lower()}"
        )
        assert "“Ben” can talk to me already." in await harness.ask(ANNA, f"/approve {pairing}")
        other = code_in(await harness.ask(CARL, "hello"))
        assert "Only an owner" in await harness.ask(BEN, f"/approve {other}")
    async with stage.open(allow="") as harness:
        assert harness.gateway.claim_code is None
        assert "(owner)" in await harness.ask(ANNA, "/whoami")
        assert "(member)" in await harness.ask(BEN, "/whoami")


async def test_a_claim_in_a_room_makes_no_owner(stage: Stage) -> None:
    async with stage.open(allow="") as harness:
        code = harness.gateway.claim_code
        assert await harness.ask(ANNA, f"/claim@talaria_bot {code}", chat=SUPERGROUP)
        assert "I don't have an owner yet" in await harness.ask(ANNA, "/whoami")


async def test_the_allowlist_admits_by_number_until_it_changes(stage: Stage) -> None:
    async with stage.open(allow=f"telegram:{BEN}") as harness:
        await claim(harness)
        assert "echo: hello" in await harness.ask(BEN, "hello")
    async with stage.open(allow="") as harness:
        assert "I don't know you yet" in await harness.ask(BEN, "hello again")


async def test_the_owner_is_one_person_in_the_terminal_and_in_telegram(stage: Stage) -> None:
    async with stage.open(allow="") as harness:
        await claim(harness)
        async with harness.terminal() as terminal:
            assert "echo: my cat is Mitzi" in await terminal.ask("my cat is Mitzi")
            assert "echo: who is Mitzi?" in await harness.ask(ANNA, "who is Mitzi?")
            assert heard(stage.turns[-1]) == ["my cat is Mitzi", "who is Mitzi?"]
            shown = await terminal.ask("/whoami")
            assert "on Telegram" in shown
            assert "the console" in shown
            assert stage.telegram.texts(ANNA)[1:] == ["echo: who is Mitzi?"]
