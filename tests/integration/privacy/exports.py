"""The files of an export."""

import io
import zipfile

from tests.integration.accounts import ChatAccount
from tests.integration.harness import Harness


def unpack(harness: Harness, account: ChatAccount) -> dict[str, str]:
    """Return the files of an export by name."""
    found: dict[str, str] = {}
    for shown in harness.chat.shown:
        if shown.file and shown.chat_id == account.user and shown.file.name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(shown.file.data)) as archive:
                found |= {n: archive.read(n).decode("utf-8", "replace") for n in archive.namelist()}
    return found
