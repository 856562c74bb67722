"""The lines that were typed into `talaria chat`, without those that are to be forgotten."""

from pathlib import Path

from prompt_toolkit.history import FileHistory

from gateway.people.data_forget import forget_history


def test_an_entry_with_the_words_is_deleted_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    history = FileHistory(str(path))
    for line in ("hello", "my bluefish\nswims # far", "# no head", "goodbye"):
        history.store_string(line)
    forget_history(path, lambda text: "bluefish" in text)
    assert list(FileHistory(str(path)).load_history_strings()) == ["goodbye", "# no head", "hello"]
    assert path.stat().st_mode & 0o077 == 0
    assert [file.name for file in tmp_path.iterdir()] == ["chat_history"]


def test_a_file_without_them_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "chat_history"
    forget_history(path, lambda text: True)
    assert not path.exists()
    FileHistory(str(path)).store_string("hello")
    before = path.stat().st_mtime_ns
    forget_history(path, lambda text: "bluefish" in text)
    assert path.stat().st_mtime_ns == before
