"""A row's checksum, by which damage is found before it is served."""

import zlib


def checksum(*values: str | int | None) -> int:
    """CRC-32 over the values in their order, 0 to 2**32 - 1.

    Each value is written with its kind and length, so that no two lists of values share
    an encoding. A bool counts as the integer that SQLite makes of it.
    """
    encoded = "".join(map(_encode, values)).encode("utf-8", "surrogatepass")
    return zlib.crc32(encoded)


def _encode(value: str | int | None) -> str:
    if value is None:
        return "n"
    if isinstance(value, str):
        return f"s{len(value)}:{value}"
    return f"i{int(value)};"
