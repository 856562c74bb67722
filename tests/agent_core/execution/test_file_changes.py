"""Earlier states of a workspace's files come back, whatever happened to the files meanwhile."""

import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from agent_core.execution.file_changes import FileChange, FileChanges, Moment
from agent_core.execution.file_states import TooManyFiles, Watched

pytestmark = pytest.mark.process


class Work:
    """A workspace with its store, and calls that change it."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "work"
        self.store = folder / "store"
        self.outside = folder / "outside"
        self.place.mkdir(exist_ok=True)
        self.outside.write_text("private")
        self.clock = 0
        self.has_room = True
        self.reopen()

    def reopen(self, most: int = 1_000) -> None:
        watched = Watched(self.place, frozenset({".shell"}), most)
        self.changes = FileChanges(self.store, watched, lambda _: self.has_room)

    def moment(self, turn: int) -> Moment:
        self.clock += 1
        return Moment(turn=turn, at=self.clock, row=0)

    def call(self, turn: int, work: Callable[[], object], path: str | None = None) -> None:
        self.changes.begin(self.moment(turn), path)
        work()
        self.changes.end(self.moment(turn), path)

    def shell(self, turn: int, text: str) -> None:
        self.call(turn, lambda: subprocess.run(text, shell=True, check=True, cwd=self.place))

    def undo(self, number: int | None = None, key: str = "") -> FileChange | None:
        chosen = self.changes.find_newest() if number is None else None
        number = chosen.number if chosen else number
        if number is None:
            return None
        return self.changes.undo(number, self.moment(0), key or f"key {self.clock}")

    def show(self) -> dict[str, tuple[str, int]]:
        """Return everything in the workspace, with its content and mode."""
        found = {}
        for path in sorted(self.place.rglob("*")):
            state = path.lstat()
            words = "/" if stat.S_ISDIR(state.st_mode) else ""
            if path.is_symlink():
                words = f"-> {path.readlink()}"
            elif path.is_file():
                words = path.read_text()
            mode = 0 if path.is_symlink() else stat.S_IMODE(state.st_mode)
            found[str(path.relative_to(self.place))] = (words, mode)
        return found


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


CHANGES = (
    "echo new > a",
    "rm a b",
    "rm -r d",
    "mv d e",
    "chmod 755 a",
    "rm a; mkdir a; echo x > a/x",
    "rm -r d; echo file > d",
    "ln -s /etc/passwd l; ln -sf b a",
    "mkdir -p x/y/z; echo deep > x/y/z/f; mkdir x/empty",
    "cp -r d f; echo more >> f/c; rm b; echo b2 > b",
    "touch a; rm link; mkdir link",
    "chmod 500 d; echo n > n",
    "printf '%s' \"$(seq 200000)\" > long",
    'echo odd > "$(printf \'a\\377b\')"; echo q > "with \'quotes\' and \\"more\\""',
)


@pytest.mark.parametrize("text", CHANGES)
def test_every_change_comes_back_and_its_undo_is_undone(work: Work, text: str) -> None:
    start = "echo one > a; echo two > b; mkdir d; echo three > d/c; chmod 640 b; ln -s b link"
    work.shell(1, start)
    before = work.show()
    work.shell(2, text)
    after = work.show()
    assert before != after or text.startswith("touch")
    made = work.undo()
    assert work.show() == before
    assert made is not None
    assert (made.kept, made.lost) == ((), ())
    again = work.undo(made.number)
    assert again is not None
    assert work.show() == after
    assert work.undo() is not None
    assert work.show() == before
    work.undo()
    assert work.show() == {}
    assert work.undo() is None
    assert work.outside.read_text() == "private"


def test_the_calls_of_one_turn_are_one_change_and_memory_splits_them(work: Work) -> None:
    work.shell(1, "echo 1 > a")
    work.shell(1, "echo 2 > a; echo 2 > b")
    work.shell(1, "rm b")
    work.shell(2, "true")
    (change,) = work.changes.list_changes()
    assert list(change.entries) == ["a"]
    work.undo()
    assert work.show() == {}


def test_one_path_is_watched_without_a_look_at_the_rest(work: Work) -> None:
    (work.place / "by hand").write_text("x")
    work.call(1, lambda: (work.place / "a").write_text("1"), "a")
    (work.place / "door").symlink_to("folder")
    (work.place / "folder").mkdir()
    work.call(2, lambda: (work.place / "folder" / "b").write_text("2"), "./door/../door/b")
    (newest, _) = work.changes.list_changes()
    assert list(newest.entries) == ["folder/b"]
    work.call(3, lambda: None, "../outside")
    work.call(3, lambda: None, ".shell/1")
    assert len(work.changes.list_changes()) == 2
    work.undo()
    work.undo()
    assert sorted(work.show()) == ["by hand", "door", "folder"]


def test_what_was_there_before_the_first_call_stays(work: Work) -> None:
    (work.place / "old").write_text("old")
    work.changes.begin(work.moment(1), "new")
    work.changes.begin(work.moment(2))
    (work.place / "new").write_text("new")
    work.changes.end(work.moment(2))
    work.changes.end(work.moment(1), "new")
    while work.undo():
        pass
    assert list(work.show()) == ["old"]


def test_what_somebody_else_changed_since_stays_and_is_told(work: Work) -> None:
    work.shell(1, "echo 1 > a; echo 1 > b; mkdir d; echo 1 > d/c")
    (work.place / "a").write_text("mine")
    (work.place / "d" / "own").write_text("mine")
    made = work.undo()
    assert made is not None
    assert (sorted(made.entries), made.kept, made.lost) == (["b", "d/c"], ("a", "d"), ())
    assert {path: words for path, (words, _) in work.show().items()} == {
        "a": "mine",
        "d": "/",
        "d/own": "mine",
    }
    work.shell(2, "echo 2 > e")
    (work.place / "e").write_text("mine")
    nothing = work.undo()
    assert nothing is not None
    assert (dict(nothing.entries), nothing.kept) == ({}, ("e",))


def test_a_change_within_the_same_tick_is_seen(work: Work) -> None:
    for number in range(100):
        work.call(number, lambda n=number: (work.place / "a").write_text(f"{n:04}"))  # type: ignore[misc]
    for number in reversed(range(99)):
        work.undo()
        assert (work.place / "a").read_text() == f"{number:04}"


def test_an_undo_never_follows_a_link(work: Work, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c").write_text("1\n")
    work.shell(1, "mkdir d; echo 1 > d/c; echo 1 > a")
    work.shell(2, "echo 2 > d/c; echo 2 > a; rm -r d")
    (work.place / "d").symlink_to(other)
    (work.place / "a").unlink()
    (work.place / "a").symlink_to(work.outside)
    made = work.undo()
    assert made is not None
    assert not made.entries
    assert (work.outside.read_text(), (other / "c").read_text()) == ("private", "1\n")
    (work.place / "secret").symlink_to(work.outside)
    work.shell(3, "ln -s ../outside x; ln ../outside hard 2>/dev/null || true")
    assert b"private" not in b"".join(
        one.read_bytes()
        for one in work.store.rglob("*")
        if one.is_file() and one.parent.name != "copies"
    )
    work.undo()
    assert work.outside.read_text() == "private"


def test_without_room_nothing_is_lost_and_it_is_told(work: Work) -> None:
    work.has_room = False
    work.shell(1, "echo 1 > a")
    made = work.undo()
    assert made is not None
    assert (made.lost, list(work.show())) == (("a",), ["a"])
    work.has_room = True
    work.shell(2, "true")
    assert [one.turn for one in work.changes.list_changes()] == [1], "a copy is no change"
    work.shell(3, "echo 2 > a")
    work.undo()
    assert (work.place / "a").read_text() == "1\n"


def test_a_damaged_copy_is_not_restored(work: Work) -> None:
    work.shell(1, "echo 1 > a")
    work.shell(2, "echo 2 > a")
    for copy in (work.store / "copies").iterdir():
        copy.write_bytes(b"other")
    made = work.undo()
    assert made is not None
    assert (made.lost, (work.place / "a").read_text()) == (("a",), "2\n")


def test_copies_that_nothing_needs_leave(work: Work) -> None:
    work.shell(1, "echo 1 > a; echo 3 > c")
    work.shell(2, "echo 2 > a")
    assert work.changes.sweep() == 0
    work.changes.drop(1)
    work.changes.drop(2)
    assert work.changes.sweep() == 2
    assert len(list((work.store / "copies").iterdir())) == 2
    assert work.undo() is None


def test_own_folders_and_odd_files_do_not_count(work: Work) -> None:
    work.shell(1, "mkdir .shell d; echo x > .shell/1; mkfifo pipe; echo 1 > d/.shell")
    (change,) = work.changes.list_changes()
    assert sorted(change.entries) == ["d", "d/.shell"]


def test_a_closed_folder_counts_as_unchanged(work: Work, plain_user: None) -> None:
    work.shell(1, "mkdir d; echo 1 > d/a; echo 1 > b")
    work.shell(2, "echo 2 > b; chmod 000 d")
    (change, _) = work.changes.list_changes()
    assert sorted(change.entries) == ["b", "d"]
    work.undo()
    assert (work.place / "d" / "a").read_text() == "1\n"


def test_a_workspace_with_too_many_files_is_left_alone(work: Work) -> None:
    work.shell(1, "echo 1 > a")
    work.reopen(50)
    with pytest.raises(TooManyFiles):
        work.shell(2, "touch $(seq 100)")
    with pytest.raises(TooManyFiles):
        work.shell(3, "true")
    work.reopen()
    work.shell(4, "echo 2 > a")
    assert [one.turn for one in work.changes.list_changes()] == [4, 1]
    work.undo()
    assert (work.place / "a").read_text() == "1\n"
    assert (work.place / "50").exists()


_KILLED = dedent("""
    import os, signal, sys
    from pathlib import Path
    from tests.agent_core.execution.test_file_changes import Work

    folder, step, deed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    work, seen = Work(folder), 0

    def watch(event, args):
        global seen
        if event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "open"):
            if event == "open" and not (isinstance(args[2], int) and args[2] & os.O_CREAT):
                return
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    if deed == "undo":
        work.undo(key="undo")
    else:
        work.shell(2, "echo 2 > a; rm b; mkdir e; echo 2 > e/f")
    print(seen)
""")


def _kill_at(folder: Path, step: int, deed: str) -> bool:
    """Do a deed in another process that is killed at a step; return whether it was killed."""
    words = [sys.executable, "-c", _KILLED, str(folder), str(step), deed]
    ended = subprocess.run(words, check=False, capture_output=True, cwd=Path.cwd())
    assert ended.returncode in (0, -9), ended.stderr.decode()
    return ended.returncode == -9


def _prepare(folder: Path) -> tuple[Work, dict[str, tuple[str, int]]]:
    folder.mkdir()
    work = Work(folder)
    work.shell(1, "echo 1 > a; chmod 640 a; echo 1 > b; mkdir d; echo 1 > d/c")
    return work, work.show()


@pytest.mark.slow
def test_a_process_that_is_killed_at_any_step_of_an_undo_finishes_it_later(tmp_path: Path) -> None:
    for step in range(1, 100):
        work, before = _prepare(tmp_path / f"undo{step}")
        work.shell(2, "echo 2 > a; rm b; rm -r d; mkdir e; echo 2 > e/f; ln -s a l")
        after = work.show()
        was_killed = _kill_at(tmp_path / f"undo{step}", step, "undo")
        work.reopen()
        made = work.undo(2, key="undo")
        assert made is not None, step
        assert (work.show(), made.kept, made.lost) == (before, (), ()), step
        assert len(work.changes.list_changes()) == 3, "an undo is made once"
        work.undo(made.number)
        assert work.show() == after, step
        if not was_killed:
            assert step > 15
            return
    raise AssertionError("it never ended")


@pytest.mark.slow
def test_what_a_killed_call_changed_can_be_taken_back(tmp_path: Path) -> None:
    for step in range(1, 100):
        work, before = _prepare(tmp_path / f"call{step}")
        was_killed = _kill_at(tmp_path / f"call{step}", step, "call")
        work.reopen()
        has_run = work.show() != before
        work.changes.recover()
        newest = work.changes.find_newest()
        assert newest is not None
        assert newest.turn == (2 if has_run else 1), step
        if has_run:
            made = work.undo()
            assert made is not None
            assert (work.show(), made.kept, made.lost) == (before, (), ()), step
        if not was_killed:
            assert step > 5
            return
    raise AssertionError("it never ended")
