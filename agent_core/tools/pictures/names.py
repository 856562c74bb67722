"""File names of pictures: plain words, since the caption of a picture is made of them; pure."""

_LONGEST = 60


def name_file(title: str) -> str:
    """Derive a file name without an ending from a title; "" if it has no letter and no digit."""
    plain = "".join(sign if sign.isalnum() else " " for sign in title).split()
    name = ""
    for word in plain:
        if name and len(name) + len(word) >= _LONGEST:
            break
        name = f"{name}-{word}" if name else word[:_LONGEST]
    return name
