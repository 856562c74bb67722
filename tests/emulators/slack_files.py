"""Files: attached by people, and uploaded by the bot in three steps."""

import mimetypes
from dataclasses import dataclass
from urllib.parse import quote

from tests.emulators.slack_chat import blocks_of
from tests.emulators.slack_shapes import Json, Refusal, SlackMessage, required, whole
from tests.emulators.slack_world import World

UPLOAD_LIMIT = 1_000_000_000
"""Bytes of one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackFile:
    """A file that a person sends."""

    name: str = "notes.txt"
    content: bytes = b"some notes"
    mimetype: str = "text/plain"
    subtype: str | None = None
    """"slack_audio" for a voice clip."""


def attach(world: World, file: SlackFile, user: str) -> Json:
    """Return a person's file as shown in their message."""
    about = _describe(world, file.name, file.mimetype, len(file.content), user)
    if file.subtype is not None:
        about |= {"subtype": file.subtype, "duration_ms": 2000}
    world.contents[about["id"]] = file.content
    return about


def ask_upload(world: World, parameters: Json) -> Json:
    """files.getUploadURLExternal. Raises `Refusal`."""
    name = required(parameters, "filename")
    length = whole(parameters, "length", 0)
    if not 0 < length <= UPLOAD_LIMIT:
        raise Refusal("file_upload_size_restricted" if length else "invalid_arguments")
    mimetype = mimetypes.guess_type(name)[0] or "application/octet-stream"
    about = _describe(world, name, mimetype, length, world.app.bot_user_id)
    return {"upload_url": f"{world.address}/upload/v1/{about['id']}", "file_id": about["id"]}


def upload(world: World, file_id: str, content: bytes) -> None:
    """Receive the bytes. Raises `Refusal`."""
    if file_id not in world.files:
        raise Refusal("file_not_found")
    world.contents[file_id] = content


def complete(world: World, parameters: Json) -> Json:
    """files.completeUploadExternal: shares what was uploaded. Raises `Refusal`.

    As with Slack, the answer doesn't name the message: files.info does, under `shares`.
    """
    given = parameters.get("files")
    if not isinstance(given, list) or not given:
        raise Refusal("invalid_arguments", "[ERROR] missing required field: files")
    files = []
    for piece in given:
        about = world.files.get(str(piece.get("id")) if isinstance(piece, dict) else "")
        if about is None or about["id"] not in world.contents:
            raise Refusal("file_not_found")
        about["title"] = piece.get("title") or about["name"]
        about["size"] = len(world.contents[about["id"]])
        files.append(about)
    answer = [dict(about) for about in files]
    if parameters.get("channel_id"):
        _share(world, parameters, files)
    return {"files": answer}


def _share(world: World, parameters: Json, files: list[Json]) -> None:
    channel = world.place(parameters, "channel_id")
    message = SlackMessage(
        channel=channel.id,
        ts=world.next_ts(),
        user=world.app.bot_user_id,
        bot=world.app.bot_id,
        thread_ts=world.thread_in(channel, parameters),
        text=str(parameters.get("initial_comment") or ""),
        blocks=blocks_of(parameters) or [],
        files=files,
    )
    kind = "public" if channel.kind == "channel" else "private"
    share = {"ts": message.ts, "channel_name": channel.name, "team_id": world.app.team_id}
    if message.thread_ts is not None:
        share["thread_ts"] = message.thread_ts
    for about in files:
        about.setdefault("shares", {}).setdefault(kind, {}).setdefault(channel.id, []).append(share)
    world.put(message)


def info(world: World, parameters: Json) -> Json:
    """files.info. Raises `Refusal`."""
    about = world.files.get(required(parameters, "file"))
    if about is None:
        raise Refusal("file_not_found")
    return {"file": about, "comments": [], "response_metadata": {"next_cursor": ""}}


def _describe(world: World, name: str, mimetype: str, size: int, user: str) -> Json:
    file_id = world.next_id("F")
    url = f"{world.address}/files-pri/{world.app.team_id}-{file_id}/{quote(name)}"
    about: Json = {
        "id": file_id,
        "name": name,
        "title": name,
        "mimetype": mimetype,
        "filetype": name.rpartition(".")[2],
        "size": size,
        "user": user,
        "mode": "hosted",
        "is_external": False,
        "url_private": url,
        "url_private_download": url.replace(f"{file_id}/", f"{file_id}/download/"),
        "file_access": "visible",
    }
    world.files[file_id] = about
    return about
