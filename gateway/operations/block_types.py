"""Requests and answers of the operations on memory blocks. Quick to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListBlocks:
    """Asks for the blocks that a person sees or made, by the folder of the person."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PickBlock:
    """Names a block, and the folder of the person who asks."""

    person: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeBlock(PickBlock):
    """Asks for a new block of at most `limit` characters."""

    description: str
    limit: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBlock(PickBlock):
    """Asks to change a block; None leaves a part as it is."""

    limit: int | None = None
    description: str | None = None
    is_read_only: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAudience(PickBlock):
    """Names a reader of a block: a person, an account such as `telegram:1234`, or `everyone`.

    `me` is the person who asks, and `here` the group of a chat.
    """

    reader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBlock:
    """Says what was done to a block, in the language of whoever asked."""

    name: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockReader:
    """Names a reader of a block: a person, a group or everyone. Requests name them by `reader`."""

    reader: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDetail:
    """A block with its entries. `size` and `limit` are in characters.

    `readers` are those who see it besides the person who asks, who may change it if `is_own`.
    """

    name: str
    description: str
    size: int
    limit: int
    is_read_only: bool
    is_own: bool
    readers: tuple[BlockReader, ...]
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDetails:
    """The blocks, by name."""

    blocks: tuple[BlockDetail, ...]
