"""Find the files that harmless programs write because an option or an operand names them."""

from collections.abc import Mapping, Sequence

from agent_core.tools.policy.shell import Word

_OPTIONS: Mapping[str, str] = {"sort": "ktST", "shuf": "in", "tree": "LPIHT"}
"""Programs that write to the file of `-o` and `--output`: their other letters with a value."""
_OPERANDS = frozenset(("uniq", "xxd", "pdftotext"))
"""Programs that write to their second operand."""
_COPYING = frozenset(("cp", "install", "rsync"))


def list_outputs(name: str, words: Sequence[Word]) -> list[Word]:
    """Return the files that a program's words name for writing; an unknown one has no value."""
    if name in _OPTIONS:
        return _list_named(words, _OPTIONS[name])
    if name in _OPERANDS:
        return list_operands(words)[1:]
    if name == "file" and any(_is_compiling(word.value) for word in words):
        return [Word(source="file -C", value=None)]
    return []


def list_operands(words: Sequence[Word]) -> list[Word]:
    """Return the words that are not options."""
    operands, is_over = list[Word](), False
    for word in words:
        if word.value == "--" and not is_over:
            is_over = True
        elif is_over or word.value is None or not word.value.startswith("-") or word.value == "-":
            operands.append(word)
    return operands


def merges_unknown(name: str, words: Sequence[Word]) -> bool:
    """True for a copy of a whole folder's content into another: nobody knows which names it has."""
    values = [word.value for word in words]
    if name not in _COPYING:
        return False
    if any(value and _is_into_itself(value) for value in values):
        return True
    sources = list_operands(words)[:-1] or list_operands(words)
    return any(word.value is None or _ends_in_folder(word.value, name) for word in sources) and (
        name == "rsync" or any(value is None or _is_recursive(value) for value in values)
    )


def is_short_for(value: str, option: str) -> bool:
    """True if a word is a long option, or its beginning, or a longer name with this beginning."""
    name = value.partition("=")[0]
    return len(name) > 2 and name.startswith("--") and option.startswith(name[: len(option)])


def _is_into_itself(value: str) -> bool:
    """True for the option that makes the last operand the copy, not the folder of the copy."""
    if value.startswith("--"):
        return is_short_for(value, "--no-target-directory")
    return value.startswith("-") and "T" in value


def _ends_in_folder(value: str, name: str) -> bool:
    last = value.rstrip("/").rpartition("/")[2]
    return last in (".", "..") or (value.endswith("/") and name == "rsync")


def _is_recursive(value: str) -> bool:
    if value.startswith("--"):
        return is_short_for(value, "--recursive") or is_short_for(value, "--archive")
    return value.startswith("-") and bool(set("rRa") & set(value))


def _is_compiling(value: str | None) -> bool:
    if value is None or value.startswith("--"):
        return value is None or is_short_for(value, "--compile")
    return value.startswith("-") and "C" in value


def _list_named(words: Sequence[Word], valued: str) -> list[Word]:
    found = list[Word]()
    for number, word in enumerate(words):
        value = word.value
        if value is None or not value.startswith("-"):
            continue
        following = list(words[number + 1 : number + 2])
        if value.startswith("--"):
            if is_short_for(value, "--output"):
                attached = value.partition("=")[2]
                found += [Word(source=word.source, value=attached)] if attached else following
            continue
        for at, letter in enumerate(value[1:], 1):
            if letter == "o":
                attached = value[at + 1 :]
                found += [Word(source=word.source, value=attached)] if attached else following
            if letter in valued or letter == "o":
                break
    return found
