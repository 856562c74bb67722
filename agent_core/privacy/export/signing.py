"""Sign exports with the key of this home, and check the signatures of others."""

import base64
import os
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from agent_core.privacy.export.signer import KEY_NAME


class SignatureBroken(Exception):
    """A signature does not fit what it signs."""


def load_key(home: Path) -> Ed25519PrivateKey:
    """Return the key of a home, which is made when it is first needed. Blocks.

    Raises `OSError`, and `ValueError` if the file holds no key.
    """
    path = home / KEY_NAME
    if not path.exists():
        draft = path.with_name(f".{KEY_NAME}.{os.getpid()}")
        made = Ed25519PrivateKey.generate().private_bytes_raw()
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(base64.b64encode(made) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another export made it at the same time
            path.hardlink_to(draft)
        draft.unlink()
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(path.read_bytes()))


def get_public(key: Ed25519PrivateKey) -> str:
    """Return the public half of a key, in base64."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def sign(key: Ed25519PrivateKey, data: bytes) -> bytes:
    """Return the signature of some bytes, in base64."""
    return base64.b64encode(key.sign(data)) + b"\n"


def check(public: str, signature: bytes, data: bytes) -> None:
    """Raise `SignatureBroken` if a signature is not that of a key for some bytes."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True))
        key.verify(base64.b64decode(signature.strip(), validate=True), data)
    except (ValueError, InvalidSignature) as error:
        raise SignatureBroken from error
