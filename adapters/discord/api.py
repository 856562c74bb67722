"""The Discord API calls that Talaria makes, one method each."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import quote

import discord

from adapters.abilities import Bot
from adapters.discord.errors import AlreadyThere, TooLate
from adapters.discord.places import DiscordChannel, read_place
from adapters.discord.session import Call, Connection
from adapters.discord.snowflakes import newest_in, number_of
from adapters.errors import Unreachable, Unsure
from adapters.messages import OutboundFile
from adapters.toolkit.text import Json, inside, parts, plain_name, words_in

_NO_INTENT = (
    "Discord will refuse the connection, because the Message Content Intent is off. Turn it on in"
    " the Developer Portal, under Bot, or set discord.message_content = false."
)
_PAGE = 100
_CHANNEL = "/channels/{channel_id}"
_MESSAGES = _CHANNEL + "/messages"
_MESSAGE = _MESSAGES + "/{message_id}"


class Api:
    """API calls over one session. Every method raises `AdapterError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client

    @property
    def bot(self) -> str:
        """The bot's user id."""
        user = self._client.user
        if user is None:
            raise Unreachable("Discord has not said yet who the bot is.")
        return str(user.id)

    @property
    def application(self) -> str:
        """The application's id."""
        return str(self._client.application_id)

    # Known without a request

    def identify(self, *, reads_quotes: bool) -> Bot:
        """Return the bot, with the address that adds it to a server.

        `reads_quotes` says that a session will ask for the Message Content Intent.
        """
        flags = self._client.application_flags
        has_intent = flags.gateway_message_content or flags.gateway_message_content_limited
        rights = discord.Permissions(
            view_channel=True,
            send_messages=True,
            send_messages_in_threads=True,
            create_public_threads=True,
            read_message_history=True,
            attach_files=True,
            add_reactions=True,
        )
        link = discord.utils.oauth_url(
            int(self.application), permissions=rights, scopes=("bot", "applications.commands")
        )
        gaps = (_NO_INTENT,) if reads_quotes and not has_intent else ()
        return Bot(name=str(self._client.user), link=link, gaps=gaps)

    def known_place(self, channel_id: str) -> DiscordChannel | None:
        """Return a server channel as the gateway connection described it, or None."""
        channel = self._client.get_channel(int(channel_id))
        if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
            return None
        return DiscordChannel(
            channel_id=channel_id,
            kind=channel.type.value,
            name=plain_name(channel.name),
            parent_id=str(channel.parent_id) if isinstance(channel, discord.Thread) else "",
            guild_id=str(channel.guild.id),
            guild=plain_name(channel.guild.name),
        )

    def known_role(self, guild_id: str) -> str:
        """Return the bot's role in a server; empty if unknown."""
        guild = self._client.get_guild(int(guild_id))
        role = guild.self_role if guild else None
        return str(role.id) if role else ""

    def can_read(self, channel_id: str) -> bool:
        """Return whether the bot may read a server channel's history, as far as is known.

        Discord also lists channels that are hidden from the bot. Discord counts refused calls, and
        blocks an IP address after 10,000 in ten minutes.
        """
        channel = self._client.get_channel(int(channel_id))
        if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
            return False
        try:
            rights = channel.permissions_for(channel.guild.me)
        except (AttributeError, discord.ClientException):  # the bot or the parent is not listed
            return True
        return rights.view_channel and rights.read_message_history

    def has_every_guild(self) -> bool:
        """Tell whether all servers of the bot have been listed in this session."""
        return not any(guild.unavailable for guild in self._client.guilds)

    def known_names(self, guild_id: str, ids: set[str]) -> dict[str, str]:
        """Return the names of a server's roles and channels."""
        guild = self._client.get_guild(int(guild_id))
        if guild is None:
            return {}
        found = {
            one: guild.get_role(int(one)) or guild.get_channel_or_thread(int(one)) for one in ids
        }
        return {one: plain_name(thing.name) for one, thing in found.items() if thing}

    # Requests that read

    async def fetch_place(self, channel_id: str) -> DiscordChannel:
        """Fetch a channel that the gateway connection did not describe: a direct chat, an old
        thread.
        """
        channel = await self._get(_CHANNEL, channel_id=channel_id)
        guild_id = words_in(channel, "guild_id")
        guild = self._client.get_guild(int(guild_id)) if guild_id else None
        return read_place(channel, guild=plain_name(guild.name) if guild else "")

    async def fetch_role(self, guild_id: str) -> str:
        """Fetch the bot's role in a server, empty if it has none."""
        known = self.known_role(guild_id)
        if known:
            return known
        guild = await self._get("/guilds/{guild_id}", guild_id=guild_id)
        for role in parts(guild, "roles"):
            if inside(role, "tags").get("bot_id") == self.bot:
                return words_in(role, "id")
        return ""

    async def find_creator(self, guild_id: str) -> str:
        """Return the owner of a server."""
        return words_in(await self._get("/guilds/{guild_id}", guild_id=guild_id), "owner_id")

    async def count_members(self, guild_id: str) -> int | None:
        """Count a server's members, including bots; None if Discord leaves the number out.

        The number from the gateway connection may be hours old, so it is only a lower bound.
        """
        guild = await self._call(
            "GET",
            "/guilds/{guild_id}",
            params={"with_counts": "true"},
            ids={"guild_id": guild_id},
        )
        known = self._client.get_guild(int(guild_id))
        reported = (known.member_count or 0) if known else 0
        count = guild.get("approximate_member_count")
        return max(count, reported) if isinstance(count, int) and count > 0 else None

    async def read_history(self, channel_id: str, after: str) -> AsyncIterator[list[Json]]:
        """Yield a channel's messages after one message, oldest first, in pages."""
        while True:
            page = await self._call(
                "GET",
                _MESSAGES,
                params={"after": after, "limit": str(_PAGE)},
                ids={"channel_id": channel_id},
            )
            found = sorted(page, key=number_of)
            if found:
                yield found
            if len(found) < _PAGE or int(newest_in(found)) <= int(after):
                return
            after = newest_in(found)

    async def read_archived(self, channel_id: str) -> AsyncIterator[list[Json]]:
        """Yield a channel's archived public threads, in pages, the last archived ones first."""
        before = ""
        while True:
            answer = await self._call(
                "GET",
                _CHANNEL + "/threads/archived/public",
                params={"limit": str(_PAGE)} | ({"before": before} if before else {}),
                ids={"channel_id": channel_id},
            )
            page = parts(answer, "threads")
            if page:
                yield page
                before = words_in(inside(page[-1], "thread_metadata"), "archive_timestamp")
            if not (page and before and answer.get("has_more")):
                return

    async def read_newest(self, channel_id: str, *, before: str = "") -> list[Json]:
        """Return a channel's newest hundred messages, or those before `before`, oldest first."""
        page: list[Json] = await self._call(
            "GET",
            _MESSAGES,
            params={"limit": str(_PAGE)} | ({"before": before} if before else {}),
            ids={"channel_id": channel_id},
        )
        return page[::-1]

    async def fetch_message(self, channel_id: str, message_id: str) -> Json:
        """Fetch one message."""
        found: Json = await self._get(_MESSAGE, channel_id=channel_id, message_id=message_id)
        return found

    # Requests that write

    async def post(self, channel_id: str, body: Json, file: OutboundFile | None) -> str:
        """Send a message and return its id."""
        made = await self._call(
            "POST",
            _MESSAGES,
            body=body,
            file=file,
            lost=Unsure,
            ids={"channel_id": channel_id},
        )
        return words_in(made, "id")

    async def change(self, channel_id: str, message_id: str, body: Json) -> None:
        """Replace a message's content."""
        await self._call(
            "PATCH",
            _MESSAGE,
            body=body,
            ids={"channel_id": channel_id, "message_id": message_id},
        )

    async def remove(self, channel_id: str, message_id: str) -> None:
        """Delete a message."""
        await self._call(
            "DELETE",
            _MESSAGE,
            ids={"channel_id": channel_id, "message_id": message_id},
        )

    async def download(self, url: str, *, most_bytes: int) -> bytes | None:
        """Download a file; None if it is too large. Raises `Expired` if the address has expired."""
        return await self._connection.download(url, most_bytes=most_bytes)

    async def type(self, channel_id: str) -> None:
        """Show the typing indicator for ten seconds."""
        await self._call("POST", _CHANNEL + "/typing", ids={"channel_id": channel_id})

    async def react(self, channel_id: str, message_id: str, emoji: str, *, is_on: bool) -> None:
        """Add or remove a reaction."""
        await self._call(
            "PUT" if is_on else "DELETE",
            _MESSAGE + "/reactions/{emoji}/@me",
            ids={"channel_id": channel_id, "message_id": message_id, "emoji": emoji},
        )

    async def open_thread(self, channel_id: str, message_id: str, name: str) -> None:
        """Open a message's thread; its id equals the message's. An existing thread is no error."""
        try:
            await self._call(
                "POST",
                _MESSAGE + "/threads",
                body={"name": name},
                ids={"channel_id": channel_id, "message_id": message_id},
            )
        except AlreadyThere:
            return

    async def answer_interaction(self, ticket: str, body: Json) -> None:
        """Acknowledge an interaction; a late or repeated acknowledgement is not an error."""
        interaction_id, _, token = ticket.partition(":")
        try:
            await self._call(
                "POST",
                "/interactions/{interaction_id}/{token}/callback",
                body=body,
                ids={"interaction_id": interaction_id, "token": token},
            )
        except TooLate:
            return

    async def hook(
        self,
        method: str,
        ticket: str,
        message_id: str,
        *,
        body: Json | None = None,
        file: OutboundFile | None = None,
    ) -> Json:
        """Call an interaction's webhook; without a message id, the call sends a new message."""
        path = "/webhooks/{webhook_id}/{webhook_token}"
        answer = await self._call(
            method,
            f"{path}/messages/{quote(message_id, safe='@')}" if message_id else path,
            body=body,
            file=file,
            lost=Unsure if body is not None else Unreachable,
            is_single=method == "POST",
            ids={"webhook_id": self.application, "webhook_token": ticket.partition(":")[2]},
        )
        return answer if isinstance(answer, dict) else {}

    async def fetch_menu(self) -> tuple[list[Json], bool]:
        """Return the published slash commands, and whether users may install the app."""
        known = await self._call(
            "GET",
            "/applications/{application}/commands",
            params={"with_localizations": "true"},
            ids={"application": self.application},
        )
        app = self._client.application
        is_fixed = app is not None and app.guild_integration_config is not None
        return known, not is_fixed or (app is not None and app.user_integration_config is not None)

    async def put_menu(self, commands: Sequence[Json]) -> None:
        """Publish the slash commands globally; Discord allows 200 new ones a day."""
        await self._call(
            "PUT",
            "/applications/{application}/commands",
            body=list(commands),
            ids={"application": self.application},
        )

    async def _get(self, path: str, **ids: str) -> Any:
        return await self._call("GET", path, ids=ids)

    async def _call(self, method: str, path: str, **rest: Any) -> Any:
        return await self._connection.call(Call(method=method, path=path, **rest))
