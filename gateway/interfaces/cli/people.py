"""`talaria people`: lists people, lets them in, and exports or erases their data."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from adapters.registry import list_declared
from gateway.errors import Declined
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser, read_path
from gateway.interfaces.waiting import read_settings
from gateway.operations.people_types import (
    Approve,
    CancelCode,
    Cancelled,
    ClaimCode,
    Entrances,
    Invitation,
    Invite,
    ListedPeople,
    ListedPerson,
    NamedPerson,
    Nothing,
    PickPerson,
)
from gateway.operations.privacy_types import (
    BegunForgetting,
    ErasedPerson,
    ExportPerson,
    FindWords,
    ForgetWords,
    FoundWords,
    ImportedPerson,
    ImportPerson,
    PersonToErase,
    WrittenExport,
)
from gateway.operations.settings_types import (
    ChangedSettings,
    SetSettings,
    Setting,
    ShownSettings,
    ShowSettings,
)
from gateway.texts.people import describe_invitation, describe_way

_SLUG = "the person's folder name, from `list`"
_LONG = 3600.0
"""Seconds for an export or an erasure, which reads all of a person's data."""


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria people list", "talaria people claim")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list people with their accounts (the default)")
    verbs.add_parser("claim", help="make a code that turns an account into the owner's")
    invite = verbs.add_parser(
        "invite",
        help="make a link that lets someone in",
        examples=["talaria people invite", "talaria people invite Ben"],
    )
    invite.add_argument("name", metavar="NAME", nargs="?", default="", help="whom it is for")
    verbs.add_parser("waiting", help="list who wants in, and the open invitations")
    cancel = verbs.add_parser(
        "cancel",
        help="cancel an invitation, or refuse someone who waits",
        examples=["talaria people cancel 3"],
    )
    cancel.add_argument("number", metavar="NUMBER", type=int, help="from `talaria people waiting`")
    approve = verbs.add_parser(
        "approve",
        help="let in the person with a pairing code",
        examples=["talaria people approve K7QD2M"],
    )
    approve.add_argument("code", metavar="CODE", help="the code that the bot gave them")
    settings = verbs.add_parser(
        "settings",
        help="show a person's settings",
        examples=["talaria people settings ada"],
    )
    change = verbs.add_parser(
        "set",
        help="change a setting of a person",
        examples=[
            "talaria people set ada time_zone Vienna",
            "talaria people set ada quiet_hours 22:00-07:00",
            "talaria people set ada quiet_hours off",
        ],
    )
    _add_moves(verbs)
    _add_removals(verbs)
    for verb in (settings, change):
        verb.add_argument("slug", metavar="SLUG", help=_SLUG)
    change.add_argument("name", metavar="NAME", help="the setting, from `settings`")
    change.add_argument("value", metavar="VALUE", help="as in a chat; off resets it")


def _add_removals(verbs: "argparse._SubParsersAction[Parser]") -> None:
    """Add the verbs that delete a person's data, or what it says with some words."""
    erase = verbs.add_parser(
        "erase",
        help="permanently delete a person's data",
        examples=["talaria people erase ada", "talaria people erase ada --yes"],
    )
    forget = verbs.add_parser(
        "forget",
        help="delete what a person's data says with some words, after a yes",
        examples=[
            'talaria people forget ada "dentist"',
            'talaria people forget ada "dentist" --notes --yes',
        ],
    )
    for verb in (erase, forget):
        verb.add_argument("slug", metavar="SLUG", help=_SLUG)
        verb.add_argument("--yes", action="store_true", help="ask nothing")
    forget.add_argument("words", metavar="WORDS", help="as after /forget in a chat")
    forget.add_argument("--notes", action="store_true", help="keep messages and their reminders")


def _add_moves(verbs: "argparse._SubParsersAction[Parser]") -> None:
    """Add the verbs that write a person's data, and bring it in."""
    export = verbs.add_parser(
        "export",
        help="export a person's data to a new zip archive",
        examples=[
            "talaria people export ada ~/ada.zip",
            "talaria people export ada ~/ada.zip --move",
        ],
    )
    bring = verbs.add_parser(
        "import",
        help="bring a person's assistant from another Talaria, from its export",
        examples=["talaria people import ada ~/ada.zip"],
    )
    for verb in (export, bring):
        verb.add_argument("slug", metavar="SLUG", help=_SLUG)
    export.add_argument(
        "file", metavar="FILE", type=read_path, help="the archive; must not exist yet"
    )
    export.add_argument(
        "--move",
        action="store_true",
        help="pause the person's jobs here, so that they go on where it is imported",
    )
    bring.add_argument("file", metavar="FILE", type=read_path, help="the export")
    bring.add_argument(
        "--signed-by",
        metavar="KEY",
        default="",
        help="refuse a file that another key signed; `export` prints the key",
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    verb = arguments.verb
    if verb == "claim":
        claim = client.perform_typed(home, "people.claim", Nothing(), ClaimCode)
        print(
            f"{claim.code}\nSend  /claim {claim.code}  to the bot, in a direct message."
            f"{_tell_other_spellings(claim.code)}"
            " It works once, within 24 hours. Earlier codes are invalid now."
        )
    elif verb == "invite":
        made = client.perform_typed(home, "people.invite", Invite(guest=arguments.name), Invitation)
        ways = [describe_way(one.platform, one.address, one.command) for one in made.links]
        print(describe_invitation(made.guest, ways or [f"/join {made.code}"]))
    elif verb == "waiting":
        print("\n".join(_list_entrances(home)))
    elif verb == "cancel":
        cancelled = CancelCode(number=arguments.number)
        print(
            f"Cancelled: {client.perform_typed(home, 'people.cancel', cancelled, Cancelled).name}"
        )
    elif verb == "approve":
        approved = client.perform_typed(
            home, "people.approve", Approve(code=arguments.code), NamedPerson
        )
        print(f"{approved.name} can talk to Talaria now.")
    elif verb == "export":
        _export(home, arguments)
    elif verb == "import":
        _import(home, arguments, environ)
    elif verb == "settings":
        wish = ShowSettings(person=arguments.slug)
        shown = client.perform_typed(home, "settings.show", wish, ShownSettings)
        print("\n".join(map(_describe_setting, shown.settings)))
    elif verb == "set":
        wanted = Setting(name=arguments.name, value=_strip_off(arguments.value))
        change = SetSettings(person=arguments.slug, settings=(wanted,))
        done = client.perform_typed(home, "settings.set", change, ChangedSettings)
        print("\n".join(map(_describe_setting, done.settings)))
    elif verb == "forget":
        _forget(home, arguments)
    elif verb == "erase":
        _erase(home, arguments.slug, is_asked=not arguments.yes)
    else:
        listed = client.perform_typed(home, "people.list", Nothing(), ListedPeople).people
        print("\n".join(map(_describe, listed)) or "Nobody yet.")
    return 0


def _export(home: Path, arguments: argparse.Namespace) -> None:
    """Write a person's data, and say by which key it is signed. Raises `Declined`."""
    asked = ExportPerson(
        slug=arguments.slug, target=str(arguments.file.absolute()), moves=arguments.move
    )
    written = client.perform_typed(home, "privacy.export", asked, WrittenExport, timeout=_LONG)
    print(f"Written to {written.target}, signed by the key {written.key}.")
    if arguments.move:
        print(
            f"Jobs that are paused here, and go on there: {written.paused}. If you change your"
            " mind, don't import the file; resume each job with `talaria jobs resume ID`."
        )


def _import(home: Path, arguments: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Bring an assistant in, and say what came. Raises `Declined`."""
    asked = ImportPerson(
        slug=arguments.slug, path=str(arguments.file.absolute()), signed_by=arguments.signed_by
    )
    made = client.perform_typed(
        home,
        "privacy.import",
        asked,
        ImportedPerson,
        timeout=_LONG,
        load_settings=lambda: read_settings(environ),
    )
    print(
        f"New for {made.name}: messages {made.messages:,}, entries of memory and archive"
        f" {made.entries:,}, jobs {made.jobs}, skills {made.skills}.\nSigned by the key"
        f" {made.signed_by}: compare it with what the export printed."
    )
    if made.paused:
        print(
            f"Paused jobs: {made.paused}. The old home may still run them; end them there, then"
            " resume them here (`talaria jobs`)."
        )
    if made.left_out:
        print("Left out:\n" + "\n".join(f"- {one}" for one in made.left_out))


def _list_entrances(home: Path) -> list[str]:
    found = client.perform_typed(home, "people.entrances", Nothing(), Entrances)
    waiting = [f"{one.number:>4}  waits: {one.name} on {one.platform}" for one in found.waiting]
    invited = [f"{one.number:>4}  invited: {one.guest or '-'}" for one in found.invitations]
    return [*waiting, *invited] or ["Nobody waits, and no invitation is open."]


def _erase(home: Path, slug: str, *, is_asked: bool) -> None:
    """Erase a person after confirmation. Raises `Declined` if the typed name differs."""
    if is_asked:
        found = client.perform_typed(home, "privacy.look", PickPerson(slug=slug), PersonToErase)
        print(
            f"This permanently deletes all data of {found.name}:"
            " conversations, memory, archive, files and accounts."
        )
        if input(f"Type {slug} to continue: ").strip() != slug:
            raise Declined("No data was deleted.")
    done = client.perform_typed(
        home, "privacy.erase", PickPerson(slug=slug), ErasedPerson, timeout=_LONG
    )
    from gateway.texts.privacy import describe_remains  # it needs the database

    print(f"{done.name} is erased. {describe_remains(done.backups, done.outside)}")


def _forget(home: Path, arguments: argparse.Namespace) -> None:
    """Show what holds the words, and delete it after a yes. Raises `Declined`."""
    from gateway.texts import privacy as texts  # it needs the database

    asked = FindWords(slug=arguments.slug, words=arguments.words)
    found = client.perform_typed(home, "privacy.find", asked, FoundWords, timeout=_LONG)
    print(
        texts.ask_to_forget(
            (found.entries, found.messages, found.jobs, found.blocks),
            found.lines,
            [(one.name, one.lines, one.past) for one in found.groups],
            quotes=found.quotes,
            has_past=found.has_past,
        )
    )
    if not arguments.yes and input("Type yes to delete it: ").strip().casefold() != "yes":
        raise Declined(texts.FORGET_KEPT())
    wish = ForgetWords(slug=arguments.slug, words=arguments.words, has_messages=not arguments.notes)
    begun = client.perform_typed(home, "privacy.forget", wish, BegunForgetting)
    late = ", once they have answered what I asked them" if begun.is_late else ""
    print(
        f"The running gateway deletes it soon{late}, and tells them. Without one, the next start"
        " does."
    )


def _strip_off(value: str) -> str:
    return "" if value.casefold() in ("off", "none", "auto", "default") else value


def _describe_setting(one: Setting) -> str:
    return f"{one.name:<15} {one.value or '-'}"


def _describe(person: ListedPerson) -> str:
    accounts = ", ".join(person.accounts) or "no account"
    return f"{person.name} ({person.role}): {accounts}; memory in people/{person.folder}"


def _tell_other_spellings(code: str) -> str:
    """Say how the claim is sent where commands are typed differently."""
    return "".join(
        f" On {one.title}, send  {one.command}claim {code}  instead."
        for one in list_declared().values()
        if one.command != "/"
    )
