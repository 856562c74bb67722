"""Commands for accounts and access: start, link, accounts, unlink, whoami, approve, console."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.abilities import CanOpenPages
from agent_core.localization import use_language
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Account, Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from agent_core.tools.settings_tool import (
    DAYS_OFF,
    TIME_ZONE,
    confirm_set,
    name_setting_undo,
)
from gateway.commands.catalog import show_help
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.commands.settings import note_settings, offer_move
from gateway.operations import reading
from gateway.operations.accounts import describe_own, list_own
from gateway.operations.people import admit, clean_name, describe_invitation, make_code
from gateway.operations.settings import list_settings
from gateway.outbound.command_buttons import offer_command
from gateway.people.admission import LOCAL_PLATFORM
from gateway.people.console_links import (
    LINK_MINUTES,
    check_pages,
    make_link,
    reaches_other_devices,
    store_link,
)
from gateway.people.identity import Identity
from gateway.people.linking import Linking, read_link
from gateway.people.merging import QuestionsFirst, UnlinkRequest
from gateway.people.onboarding import Greeting, Onboarding, StartRequest
from gateway.texts import access, general
from gateway.texts import people as people_texts
from gateway.texts.memory import UNDO
from gateway.texts.people import quote_name

_KEEP = "keep"
_PRIVATE = "private"

_ASKED = ("time_zone", "language", "quiet_hours", "days_off", "verbosity")
"""The settings that an answer to the greeting may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCommands:
    """Shows and changes the accounts of a person, and lets people in."""

    database: Database
    identity: Identity
    linking: Linking
    onboarding: Onboarding
    pages: str
    """The address of the console's pages; "" for none."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {
            "start": self._start,
            "link": self._link,
            "accounts": self._accounts,
            "unlink": self._unlink,
            "whoami": self._whoami,
            "invite": self._invite,
            "approve": self._approve,
            "console": self._console,
        }

    async def _start(self, call: Call) -> Reply:
        if not call.message.address.is_direct:
            return await show_help(call)
        request = StartRequest(
            person=call.person,
            sender=call.message.sender,
            words=call.argument,
            is_local=call.platform == LOCAL_PLATFORM,
            is_whole=call.is_press or not call.argument,
        )

        known = await self.database.read(_list_asked, call.person)
        shown = await self.onboarding.preview(request, call.now)
        zones = (call.zone, shown.time_zone or call.zone)
        with use_language(shown.settings["language"] or None, call.message.sender.language):
            move, buttons = await self.database.read(lambda c: offer_move(c, call, *zones))
            undo = () if request.is_whole else _offer_undo(known, shown.settings)
        is_more = request.is_whole or _says_more(known, shown)

        def effect(connection: Connection) -> Outcome:
            before = _list_asked(connection, call.person)
            greeting = self.onboarding.start(connection, request, call.now)
            after = _list_asked(connection, call.person)
            if call.argument:
                note_settings(connection, call, before, after)
            said = "" if request.is_whole else confirm_set(_list_changed(before, after))
            more = f"{greeting.text}{move}" if is_more or not said else ""
            return "\n\n".join(part for part in (said, more) if part), []

        further = (*buttons, *shown.buttons) if is_more else ()
        return Reply(effect=effect, buttons=(*undo, *further))

    async def _link(self, call: Call) -> Reply:
        sent = read_link(call.platform, call.message, call.argument)

        def effect(connection: Connection) -> Outcome:
            words, rows = self.linking.take(
                connection, sent, _find_person(connection, call), call.now
            )
            return words, list(rows)

        return Reply(effect=effect)

    async def _accounts(self, call: Call) -> Reply:
        if not call.message.address.is_direct:
            return Reply(text=people_texts.ACCOUNTS_IN_GROUP())
        merging = self.linking.merging

        def keep(connection: Connection) -> Outcome:
            person = _find_person(connection, call) or call.person
            words, _ = merging.keep(connection, person, f"accounts:{call.inbox_id}", call.now)
            return words, []

        if call.argument.casefold() == _KEEP:
            return Reply(effect=keep)

        def look(connection: Connection) -> str:
            left = merging.count_left(connection, call.person)
            return self._describe(connection, call, call.person, left)

        return Reply(text=await self.database.read(look))

    async def _unlink(self, call: Call) -> Reply:
        if not call.message.address.is_direct:
            return Reply(text=people_texts.ACCOUNTS_IN_GROUP())

        def effect(connection: Connection) -> Outcome:
            person = _find_person(connection, call) or call.person
            accounts = list_own(connection, person)
            found = _choose(accounts, call.argument)
            if len(found) != 1:
                why = people_texts.UNLINK_SEVERAL() if found else people_texts.UNLINK_UNKNOWN()
                how = why if call.argument else people_texts.UNLINK_USAGE()
                return f"{how}\n{self._describe(connection, call, person)}", []
            leaving = UnlinkRequest(
                account=found[0], is_admitted=self.identity.is_admitted(found[0])
            )
            try:
                done, rows = self.linking.merging.unlink(connection, person, leaving, call.now)
            except QuestionsFirst as error:
                return self._ask_again(connection, call, person, error)
            return people_texts.describe_unlinked(done), rows

        return Reply(effect=effect)

    def _ask_again(
        self, connection: Connection, call: Call, person: Person, error: QuestionsFirst
    ) -> Outcome:
        """Say what has to go first, and ask it again below."""
        again = self.linking.questions.repeat(connection, error.asked, call.chat, call.now)
        if not again:
            return str(error), []
        # A reply follows its rows, and the question has to follow the words about it.
        said = NewOutboxMessage(chat=call.chat, body=str(error), person_id=person.id)
        return "", [outbox.enqueue(connection, said, now=call.now), *again]

    def _describe(self, connection: Connection, call: Call, person: Person, left: int = 0) -> str:
        here = (call.platform, call.message.sender.user_id)
        lines = [
            people_texts.AccountLine(account=one, is_here=(one.platform, one.user_id) == here)
            for one in describe_own(connection, person, self.identity.is_admitted)
        ]
        return people_texts.list_accounts(lines, clock=call.clock, left=left)

    async def _whoami(self, call: Call) -> Reply:
        accounts = await self.database.read(people.list_accounts, person_id=call.person.id)
        names = [
            people_texts.name_own_account(account)
            for account in accounts
            # Others in a room must not learn a person's accounts elsewhere.
            if call.message.address.is_direct
            or (account.platform, account.user_id) == (call.platform, call.message.sender.user_id)
        ]
        return Reply(
            text=general.describe_person(call.person.name, call.person.role, names, call.zone)
        )

    async def _invite(self, call: Call) -> Reply:
        guest = clean_name(call.argument) if call.argument else ""

        def effect(connection: Connection) -> Outcome:
            code = make_code(connection, guest, call.actor, call.now)
            made = describe_invitation(guest, code, self.linking.adapters, call.now)
            ways = [
                people_texts.describe_way(one.platform, one.address or None, one.command)
                for one in made.links
            ]
            return people_texts.describe_invitation(guest, ways), []

        return Reply(effect=effect)

    async def _approve(self, call: Call) -> Reply:
        if not call.argument:
            return Reply(text=general.CODE_MISSING(command="approve"))

        def effect(connection: Connection) -> Outcome:
            by = _find_person(connection, call) or call.person
            done = admit(connection, call.argument, call.zone, call.now, by=by.id)
            if isinstance(done, str):
                return done, []
            name, welcome = done
            return general.APPROVED(name=quote_name(name)), [welcome]

        return Reply(effect=effect)

    async def _console(self, call: Call) -> Reply:
        if call.argument.casefold() == _PRIVATE:

            def end(connection: Connection) -> Outcome:
                person = _find_person(connection, call) or call.person
                reading.end(connection, person, call.actor, call.now)
                return access.PRIVATE(), []

            return Reply(effect=end)
        if fault := check_pages(self.pages, is_owner=call.person.is_owner):
            return Reply(text=fault)

        link = make_link(self.pages)
        has_button = link.startswith("https:") and isinstance(
            self.linking.adapters.get(call.platform), CanOpenPages
        )
        text = access.describe_link("" if has_button else link, LINK_MINUTES)
        if not reaches_other_devices(link):
            text = f"{text}\n\n{access.LINK_HERE[call.person.is_owner]()}"
        button = Choice(key="console", label=access.OPEN_PAGES(), url=link)

        def effect(connection: Connection) -> Outcome:
            person = _find_person(connection, call) or call.person
            store_link(connection, link, person_id=person.id, actor=call.actor, now=call.now)
            return text, []

        return Reply(effect=effect, buttons=(button,) if has_button else ())


def _list_asked(connection: Connection, person: Person) -> dict[str, str]:
    """List the settings that an answer to the greeting may name."""
    known = list_settings(connection, person, can_speak=False)
    return {name: known[name] for name in _ASKED}


def _list_changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in after.items() if value != before[name]}


def _says_more(before: Mapping[str, str], greeting: Greeting) -> bool:
    """Return whether the answer to a change says which time counts: it is new, or unknown.

    Quiet hours and days off need a time zone. Other settings don't, so nobody is asked again.
    """
    changed = _list_changed(before, {name: greeting.settings[name] for name in before})
    is_timed = bool({"quiet_hours", DAYS_OFF} & changed.keys())
    return not changed or TIME_ZONE in changed or (is_timed and greeting.time_zone is None)


def _offer_undo(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Choice, ...]:
    """Make the button that takes back the one setting that changed; `/undo` takes back several."""
    changed = [name for name in before if before[name] != after[name]]
    if len(changed) != 1:
        return ()
    return offer_command(name_setting_undo(changed[0], before), UNDO())


def _find_person(connection: Connection, call: Call) -> Person | None:
    """Return the account's person; a link may have changed it since the message arrived."""
    return people.find_by_account(
        connection, platform=call.platform, user_id=call.message.sender.user_id
    )


def _choose(accounts: list[Account], wanted: str) -> list[Account]:
    """Return the accounts that match a number, a platform or `platform:id`."""
    number = read_number(wanted)
    if number and number <= len(accounts):
        return [accounts[number - 1]]
    word = wanted.casefold()
    return [
        account
        for account in accounts
        if word in (account.platform, f"{account.platform}:{account.user_id}".casefold())
    ]
