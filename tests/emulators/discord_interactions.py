"""Slash commands and buttons of the emulated Discord, and how the bot answers them."""

import time
from secrets import token_urlsafe

from tests.emulators.discord_messages import Messages, check_files
from tests.emulators.discord_rules import Refusal, check_message, unknown
from tests.emulators.discord_shapes import EPHEMERAL, LOADING, Answer, Interaction, Json, Sent
from tests.emulators.discord_world import PERMISSIONS, Channel, Event, Place

COMMAND, COMPONENT = 2, 3
MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, MODAL = 4, 5, 6, 7, 9
TOKEN_SECONDS = 900.0
_OPTION_TYPES: dict[type, int] = {str: 3, int: 4, bool: 5, float: 10}


class Interactions:
    """All interactions with the application."""

    def __init__(self, messages: Messages) -> None:
        self.messages = messages
        self.world = messages.world
        self.all: list[Interaction] = []
        self.deadline = 3.0
        """Seconds for the first answer."""
        self.commands: list[Json] = []
        """The global slash commands, as they are registered."""

    # People

    def command(
        self,
        user_id: int,
        name: str,
        channel: Channel,
        options: dict[str, str | int | bool] | None,
        *,
        is_user_install: bool,
    ) -> Interaction:
        """Use a slash command as a person."""
        known = next((one["id"] for one in self.commands if one["name"] == name), None)
        data: Json = {"id": known or str(self.world.take_id()), "name": name, "type": 1}
        if options:
            data["options"] = [
                {"name": key, "type": _OPTION_TYPES[type(value)], "value": value}
                for key, value in options.items()
            ]
        interaction = self._new("command", user_id, channel, name)
        self._notify(interaction, channel, data, is_user_install=is_user_install)
        return interaction

    def press(self, user_id: int, message_id: int, custom_id: str) -> Interaction:
        """Press a button as a person. Raises `KeyError` without such a one."""
        message = self.world.messages[message_id]
        part = message.buttons()[custom_id]
        data: Json = {"custom_id": custom_id, "component_type": part["type"], "id": part["id"]}
        channel = self.world.channels[message.channel_id]
        interaction = self._new("component", user_id, channel, custom_id)
        interaction.message_id = message_id
        guild = self.world.guilds.get(channel.guild_id or 0)
        brought_along = guild is not None and not guild.has_bot
        self._notify(interaction, channel, data, is_user_install=brought_along)
        return interaction

    def _new(self, kind: str, user_id: int, channel: Channel, name: str) -> Interaction:
        interaction = Interaction(
            id=self.world.take_id(),
            token=token_urlsafe(48),
            kind=kind,
            user_id=user_id,
            channel_id=channel.id,
            name=name,
            at=time.monotonic(),
        )
        self.all.append(interaction)
        return interaction

    def _notify(
        self, interaction: Interaction, channel: Channel, data: Json, *, is_user_install: bool
    ) -> None:
        world = self.world
        is_direct = channel.kind == Place.DM
        notified: Json = {
            "id": str(interaction.id),
            "application_id": str(world.application_id),
            "type": COMMAND if interaction.kind == "command" else COMPONENT,
            "token": interaction.token,
            "version": 1,
            "data": data,
            "channel_id": str(channel.id),
            "channel": world.show_channel(channel) | {"permissions": PERMISSIONS},
            "app_permissions": PERMISSIONS,
            "locale": "en-US",
            "entitlements": [],
            "context": 1 if is_direct else 0,
            "attachment_size_limit": 10 * 1024 * 1024,
            "authorizing_integration_owners": (
                {"1": str(interaction.user_id)}
                if is_user_install
                else {"0": "0" if is_direct else str(channel.guild_id)}
            ),
        }
        if channel.guild_id is None:
            notified["user"] = world.users[interaction.user_id]
        else:
            guild = world.guilds[channel.guild_id]
            member = world.show_member(guild, interaction.user_id)
            notified["member"] = member | {"permissions": PERMISSIONS}
            notified["guild_id"] = str(guild.id)
            notified["guild_locale"] = "en-US"
            notified["guild"] = {"id": str(guild.id), "locale": "en-US", "features": []}
        if interaction.message_id is not None:
            notified["message"] = self.messages.show(world.messages[interaction.message_id])
        world.notify(Event(name="INTERACTION_CREATE", data=notified))

    # The bot: the first answer

    def call_back(self, interaction_id: int, token: str, body: Json, files: list[Sent]) -> Json:
        """The first answer, within the deadline. Raises `Refusal`."""
        found = next(
            (one for one in self.all if one.id == interaction_id and one.token == token), None
        )
        if found is None or (self._age(found) > self.deadline and found.type is None):
            raise unknown("interaction", 10062)
        if found.type is not None:
            raise Refusal(400, 40060, "Interaction has already been acknowledged.")
        kind, data = int(body["type"]), body.get("data") or {}
        if kind == MESSAGE:
            check_message(data, has_files=bool(files), is_new=True)
            found.original_id = self._write(found, data, files)
        elif kind == DEFERRED:
            flags = (int(data.get("flags") or 0) & EPHEMERAL) | LOADING
            found.original_id = self._write(found, {"flags": flags}, [])
        elif kind in (DEFERRED_UPDATE, UPDATE) and found.message_id is not None:
            found.original_id = found.message_id
            if kind == UPDATE:
                self.messages.edit(self.world.messages[found.message_id], data, files)
        elif kind != MODAL:
            raise Refusal(400, 50035, "Invalid Form Body")
        self._note(found, "callback", data, message_id=found.original_id, type_number=kind)
        return self._show_callback(found, kind)

    def _show_callback(self, found: Interaction, kind: int) -> Json:
        notified: Json = {
            "id": str(found.id),
            "type": COMMAND if found.kind == "command" else COMPONENT,
        }
        shown: Json = {"interaction": notified}
        if found.original_id is not None:
            message = self.world.messages[found.original_id]
            notified |= {
                "response_message_id": str(message.id),
                "response_message_loading": message.is_loading,
                "response_message_ephemeral": message.is_ephemeral,
            }
            if kind in (MESSAGE, UPDATE, DEFERRED):
                shown["resource"] = {"type": kind, "message": self.messages.show(message)}
        return shown

    # The bot: later answers

    def by_token(self, token: str) -> Interaction:
        """Return the interaction of a webhook's token. Raises `Refusal`."""
        found = next((one for one in self.all if one.token == token), None)
        if found is None or self._age(found) > TOKEN_SECONDS:
            raise Refusal(401, 50027, "Invalid Webhook Token")
        if found.type is None:
            raise unknown("Webhook", 10015)
        return found

    def follow_up(self, token: str, body: Json, files: list[Sent]) -> Json:
        """Send one more message; the first after a deferral replaces it. Raises `Refusal`."""
        found = self.by_token(token)
        check_message(body, has_files=bool(files), is_new=True)
        check_files(files)
        original = self.world.messages.get(found.original_id or 0)
        if original is not None and original.is_loading:
            self.messages.edit(original, body, files)
            message_id = original.id
        else:
            message_id = self._write(found, body, files)
        self._note(found, "follow_up", body, message_id=message_id)
        return self.messages.show(self.world.messages[message_id])

    def look_up(self, token: str, which: str) -> Json:
        """Return `@original` or a follow-up. Raises `Refusal`."""
        return self.messages.show(self.world.messages[self._message(self.by_token(token), which)])

    def edit(self, token: str, which: str, body: Json, files: list[Sent]) -> Json:
        """Change `@original` or a follow-up. Raises `Refusal`."""
        found = self.by_token(token)
        message = self.world.messages[self._message(found, which)]
        self.messages.edit(message, body, files)
        self._note(found, "edit", body, message_id=message.id)
        return self.messages.show(message)

    def delete(self, token: str, which: str) -> None:
        """Delete `@original` or a follow-up. Raises `Refusal`."""
        found = self.by_token(token)
        message = self.world.messages[self._message(found, which)]
        self.messages.remove(message)
        self._note(found, "delete", {}, message_id=message.id)

    def _message(self, found: Interaction, which: str) -> int:
        own = {found.original_id} | {one.message_id for one in found.answers}
        message_id = found.original_id if which == "@original" else int(which)
        if message_id not in own or message_id not in self.world.messages:
            raise unknown("Message", 10008)
        assert message_id is not None
        return message_id

    def _write(self, found: Interaction, body: Json, files: list[Sent]) -> int:
        check_files(files)
        message = self.messages.compose(found.channel_id, body)
        message.interaction = {
            "id": str(found.id),
            "type": COMMAND if found.kind == "command" else COMPONENT,
            "user": self.world.users[found.user_id],
            "authorizing_integration_owners": {"1": str(found.user_id)},
        } | ({"name": found.name} if found.kind == "command" else {})
        self.messages.ping(message, message.allowed_mentions)
        return self.messages.add(message, files=files).id

    def _age(self, interaction: Interaction) -> float:
        return time.monotonic() - interaction.at

    def _note(
        self,
        found: Interaction,
        kind: str,
        body: Json,
        *,
        message_id: int | None,
        type_number: int | None = None,
    ) -> None:
        found.answers.append(
            Answer(
                kind=kind,
                type=type_number,
                flags=int(body.get("flags") or 0),
                content=body.get("content"),
                components=tuple(body.get("components") or ()),
                after=self._age(found),
                message_id=message_id,
            )
        )
