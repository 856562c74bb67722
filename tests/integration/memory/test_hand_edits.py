"""Hand edits of memory files, however odd, are read and limited."""

from pathlib import Path

from tests.fakes.chat import FakeChat
from tests.integration.shared_harness import shared_harness

_LONGEST_PROMPT = 20_000
_LINE = "- Line {number:05} of a long life\n"
_LIMIT = 2200


def _write(home: Path, name: str, content: bytes) -> None:
    path = home / "memories" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _long() -> bytes:
    return "".join(_LINE.format(number=number) for number in range(700)).encode()


async def test_a_hand_edit_with_a_zero_byte_is_kept(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hi")
        _write(tmp_path, "people/ann/MEMORY.md", b"- likes t\0ea\n- likes milk\n")
        await here.says("ann", "/new")
        (request, *_) = await here.asks("ann", "hi again")
        assert "- likes tea\n- likes milk" in request.system


async def test_the_prompt_shows_the_first_part_of_a_file_over_its_limit(tmp_path: Path) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, chat=chat) as here:
        for name in ("ann", "bob"):
            await here.says(name, "hi")
        await here.make_owner("ann")
        _write(tmp_path, "people/bob/MEMORY.md", _long())
        await here.says("bob", "/new")
        (request, *_) = await here.asks("bob", "hi again")
        assert len(request.system) < _LONGEST_PROMPT
        assert _LINE.format(number=60) in request.system
        assert _LINE.format(number=80) not in request.system
        assert "[cut here: only the first 2,200 characters are shown]" in request.system
        to_owner = await chat.sees_text(
            "Someone edited the file “memories/people/bob/MEMORY.md” by hand."
        )
        to_bob = await chat.sees_text("Someone edited by hand what I remember about you.")
        assert (
            f"{len(_long()):,} characters, and I read only the first {_LIMIT:,}." in to_owner.text
        )
        assert f"{len(_long()):,} characters, and I read only the first {_LIMIT:,}." in to_bob.text
        assert to_owner.chat_id != to_bob.chat_id


async def test_each_file_over_its_limit_is_reported_once(tmp_path: Path) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, chat=chat) as here:
        await here.says("ann", "hi")
        await here.make_owner("ann")
        _write(tmp_path, "team/MEMORY.md", _long())
        await here.says("ann", "hi again")
        await chat.sees_text("Someone edited the file “memories/team/MEMORY.md” by hand.")
        _write(tmp_path, "team/MEMORY.md", _long() + b"- One more line\n")
        await here.says("ann", "and again")
    chat.inlet = None
    async with shared_harness(tmp_path, chat=chat) as here:
        await here.says("ann", "hello")
    assert len([one for one in chat.shown if "Someone edited" in one.text]) == 1
