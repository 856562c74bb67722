"""Encrypt backups with age, for recipients or with a passphrase.

For recipients, a backup is an ordinary age file. With a passphrase, it begins with a key in age's
text form, which the passphrase opens; an age file for that key follows. Both are streams, so that a
backup of any size needs little memory.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, BinaryIO

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.backups.extras import load_extra

AGE = b"age-encryption.org/v1\n"
KEY = b"-----BEGIN AGE ENCRYPTED FILE-----\n"
"""The first bytes of an encrypted backup: one for recipients, and one with a passphrase."""
_KEY_END = b"-----END AGE ENCRYPTED FILE-----\n"
_MOST_KEY_LINES = 64
_LONGEST_KEY_LINE = 128
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The keys for which a backup is encrypted; without any, it is not encrypted."""

    recipients: tuple[str, ...] = ()
    """Public keys: `age1...`, or SSH keys."""
    passphrase: str = ""

    def __bool__(self) -> bool:
        """Return whether the backup is encrypted."""
        return bool(self.recipients or self.passphrase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The passphrase and the key files that open an encrypted backup."""

    passphrase: str = ""
    identities: tuple[str, ...] = ()
    """The contents of key files, of age or SSH."""


@contextmanager
def encrypting(sink: BinaryIO, lock: Lock) -> Iterator[tuple[BinaryIO, Keys]]:
    """Yield a stream that encrypts its bytes into `sink`, and keys that decrypt them for a check.

    Without a passphrase, the key for the check is made for this backup alone and stored nowhere.
    Raises `StoreError` if a recipient is not a public key.
    """
    pyrage = load_extra("pyrage")
    targets = [read_recipient(one) for one in lock.recipients]
    own = pyrage.x25519.Identity.generate()
    keys = Keys(passphrase=lock.passphrase, identities=() if lock.passphrase else (str(own),))
    if lock.passphrase:
        sink.write(pyrage.passphrase.encrypt(str(own).encode(), lock.passphrase, armored=True))
    receiving, sending = os.pipe()

    def work() -> None:
        with os.fdopen(receiving, "rb") as source:
            pyrage.encrypt_io(source, sink, [own.to_public(), *targets])

    with ThreadPoolExecutor(1, thread_name_prefix="backup-encryption") as pool:
        running = pool.submit(work)
        with os.fdopen(sending, "wb") as stream:
            yield stream, keys
        running.result()


@contextmanager
def decrypting(source: BinaryIO, keys: Keys, name: str) -> Iterator[BinaryIO]:
    """Yield a stream with the decrypted bytes; `name` names the backup in messages.

    The stream of a truncated or altered backup ends early. Raises `StoreError` if no key opens it.
    """
    pyrage = load_extra("pyrage")
    identities = _open_keys(pyrage, source, keys, name)
    receiving, sending = os.pipe()

    def work() -> None:
        with os.fdopen(sending, "wb") as sink:
            pyrage.decrypt_io(source, sink, identities)

    with ThreadPoolExecutor(1, thread_name_prefix="backup-decryption") as pool:
        running = pool.submit(work)
        try:
            with os.fdopen(receiving, "rb") as stream:
                yield stream
        except StoreError as error:
            fault = running.exception()
            if fault is None or isinstance(fault, BrokenPipeError):
                raise
            if isinstance(fault, pyrage.DecryptError) and "matching" in str(fault):
                raise StoreError(
                    f"the given key doesn't open {name}; name another one with --identity"
                ) from error
            raise StoreDamaged(_describe_damage(name)) from error
        fault = running.exception()
        if fault:
            raise StoreDamaged(_describe_damage(name)) from fault


def read_recipient(text: str) -> Any:
    """Parse a public key with pyrage. Raises `StoreError` if it is not one."""
    pyrage = load_extra("pyrage")
    kind = pyrage.ssh if text.startswith("ssh-") else pyrage.x25519
    try:
        return kind.Recipient.from_str(text)
    except pyrage.RecipientError as error:
        raise StoreError(
            f"{text!r} is not a public key of age or SSH; `age-keygen` makes one"
        ) from error


def _open_keys(pyrage: ModuleType, source: BinaryIO, keys: Keys, name: str) -> list[Any]:
    """Return the identities to try; read the protected key in front of the backup if it has one.

    Given identities replace the protected key: they may hold that key, decrypted by the `age`
    program.
    """
    is_protected = _peek(source, KEY) == KEY
    lines: list[bytes] = []
    while is_protected and len(lines) < _MOST_KEY_LINES and lines[-1:] != [_KEY_END]:
        lines.append(source.readline(_LONGEST_KEY_LINE))
    if keys.identities:
        return [one for text in keys.identities for one in _read_identities(pyrage, text)]
    if not is_protected:
        raise StoreError(f"{name} is encrypted; name the file of its key with --identity")
    if not keys.passphrase:
        raise StoreError(
            f"{name} is encrypted; run this in a terminal, which asks for the passphrase, or set"
            " BACKUP_PASSPHRASE"
        )
    if lines[-1] != _KEY_END:
        raise StoreDamaged(_describe_damage(name))
    return [_unlock(pyrage, b"".join(lines), keys.passphrase, name)]


def _unlock(pyrage: ModuleType, protected: bytes, passphrase: str, name: str) -> Any:
    """Return the identity that a passphrase protects. Raises `StoreError`.

    In each try, age estimates the speed of this machine. It refuses a passphrase that would take
    over 16 s.
    """
    for _ in range(_TRIES):
        try:
            own = pyrage.passphrase.decrypt(protected, passphrase)
        except pyrage.DecryptError as error:
            if "work parameter" not in str(error):
                raise StoreError(
                    f"the passphrase is wrong for {name}; give the one that it was made with"
                ) from error
        else:
            return pyrage.x25519.Identity.from_str(own.decode())
    raise StoreError(
        f"this machine is too slow or too busy for the passphrase of {name}; try again when nothing"
        " else runs, or open its key with age: see Encrypt backups in docs/always-on.md"
    )


def _read_identities(pyrage: ModuleType, text: str) -> list[Any]:
    try:
        if text.startswith("-----BEGIN"):
            return [pyrage.ssh.Identity.from_buffer(text.encode())]
        lines = [line.strip() for line in text.splitlines()]
        kept = [line for line in lines if line and not line.startswith("#")]
        return [pyrage.x25519.Identity.from_str(line) for line in kept]
    except pyrage.IdentityError as error:
        raise StoreError(
            "the key file holds no private key of age or SSH; name the file that `age-keygen` wrote"
        ) from error


def _describe_damage(name: str) -> str:
    return f"{name} is cut off or damaged; use another backup"


def _peek(source: BinaryIO, expected: bytes) -> bytes:
    """Return the first bytes without consuming them; `source` is buffered."""
    found: bytes = source.peek(len(expected))[: len(expected)]  # type: ignore[attr-defined]
    return found
