"""Skills are copied from folders and Git repositories, and nothing of theirs runs or escapes."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.install.contract import StagedSkill
from agent_core.skills.install.sources import open_source
from agent_core.skills.install.stage import find_staged, stage_skill
from tests.agent_core.skills.skill_folders import write_skill

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
GIT = {
    **ENVIRON,
    **{f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


class Desk:
    """A home, and places with skills."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.scratch = folder, folder / "skills", folder / "scratch"

    def stage(self, source: str, name: str = "tidy", **hubs: str) -> StagedSkill:
        opened, named = open_source(source, "", self.scratch, ENVIRON, hubs)
        name = named or name
        return stage_skill(self.home, name, opened.open_skill(name))

    def list(self, source: str, **hubs: str) -> list[str]:
        opened, _ = open_source(source, "", self.scratch, ENVIRON, hubs)
        return list(opened.list_skills())

    def files(self, staged: StagedSkill) -> set[str]:
        place = find_staged(self.home, staged.token, staged.name)
        return {one.relative_to(place).as_posix() for one in place.rglob("*") if one.is_file()}

    def is_clean(self) -> bool:
        return not list(self.home.rglob("SKILL.md"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def git(place: Path, *words: str) -> str:
    argv = ["git", "-C", str(place), *words]
    return subprocess.run(argv, check=True, capture_output=True, env=GIT, text=True).stdout.strip()


def commit(place: Path) -> str:
    git(place, "init", "--quiet", "--initial-branch=main")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message=x")
    return git(place, "rev-parse", "HEAD")


def test_a_folder_is_copied_without_what_only_its_author_needs(desk: Desk) -> None:
    place = write_skill(desk.folder / "from/deep", "tidy")
    (place / "scripts/__pycache__").mkdir(parents=True)
    (place / "scripts/run.py").write_text("1")
    (place / "scripts/__pycache__/run.pyc").write_bytes(b"1")
    (place / ".git").mkdir()
    (place / ".git/config").write_text("x")
    assert desk.list(str(desk.folder / "from")) == ["tidy"]
    staged = desk.stage(str(desk.folder / "from"))
    assert desk.files(staged) == {"SKILL.md", "scripts/run.py"}
    assert (staged.address, staged.commit) == (str(place), "")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a:b", "unsafe name"),
        ("a\nb", "unsafe name"),
        ("a\\b", "unsafe name"),
        ("end.", "unsafe name"),
        ("x" * 129, "unsafe name"),
        ("/".join("abcdefgh") + "/i", "8 folders"),
    ],
)
def test_unsafe_names_are_refused(desk: Desk, path: str, reason: str) -> None:
    place = write_skill(desk.folder / "from", "tidy")
    (place / path).parent.mkdir(parents=True, exist_ok=True)
    (place / path).touch()
    with pytest.raises(SkillConflict, match=reason):
        desk.stage(str(place))
    assert desk.is_clean()


def test_links_pipes_and_names_that_differ_by_capitals_are_refused(desk: Desk) -> None:
    place = write_skill(desk.folder / "from", "tidy")
    (place / "link").symlink_to("/etc")
    with pytest.raises(SkillConflict, match="contains a link: link"):
        desk.stage(str(place))
    (place / "link").unlink()
    os.mkfifo(place / "pipe")
    with pytest.raises(SkillConflict, match="contains a special file: pipe"):
        desk.stage(str(place))
    (place / "pipe").unlink()
    (place / "A").touch()
    (place / "a").touch()
    with pytest.raises(SkillConflict, match="differ only by capitals"):
        desk.stage(str(place))
    assert desk.is_clean()


def test_a_broken_skill_and_a_place_without_one_are_refused(desk: Desk) -> None:
    place = write_skill(desk.folder / "from", "tidy", described="")
    with pytest.raises(SkillBroken, match="needs a `description`"):
        desk.stage(str(place))
    with pytest.raises(SkillConflict, match="There is no skill other"):
        desk.stage(str(place.parent), "other")
    with pytest.raises(SkillConflict, match="is a file; unpack it first"):
        desk.list(str(place / "SKILL.md"))
    with pytest.raises(SkillConflict, match="not a folder"):
        desk.list(str(place / "none"))
    with pytest.raises(SkillConflict, match="no hub research"):
        desk.list("research")
    assert desk.is_clean()


@pytest.mark.parametrize(
    "address",
    [
        "http://x.example/a",
        "git://x.example/a",
        "ext::sh -c touch% /tmp/x://",
        "--upload-pack=touch://x",
        "ssh://-oProxyCommand=x/a",
        "https://user:secret@x.example/a",
        "file://../x",
        "https://x.example/a b",
    ],
)
def test_addresses_that_could_do_more_than_fetch_are_refused(desk: Desk, address: str) -> None:
    with pytest.raises(SkillConflict, match="is not an address"):
        desk.list(address)


@pytest.mark.process
def test_a_repository_is_read_without_running_anything_of_it(desk: Desk) -> None:
    place = desk.folder / "repository"
    skill = write_skill(place / "skills", "tidy")
    (skill / "run.sh").write_text("echo hi")
    (skill / "run.sh").chmod(0o755)
    (place / ".gitattributes").write_text("* filter=evil\n")
    made = commit(place)
    mark = desk.folder / "mark"
    for hook in ("post-checkout", "post-merge", "pre-commit", "reference-transaction"):
        file = place / ".git/hooks" / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch {mark}\n")
        file.chmod(0o755)
    git(place, "config", "filter.evil.smudge", f"touch {mark}")
    git(place, "config", "uploadpack.packObjectsHook", f"touch {mark};")
    staged = desk.stage(f"file://{place}")
    assert (staged.commit, staged.address) == (made, f"file://{place}")
    assert desk.files(staged) == {"SKILL.md", "run.sh"}
    assert not mark.exists()
    copy = find_staged(desk.home, staged.token, "tidy")
    assert [(copy / one).stat().st_mode & 0o777 for one in ("run.sh", "SKILL.md")] == [0o700, 0o600]


@pytest.mark.process
def test_links_and_submodules_in_a_repository_are_refused(desk: Desk) -> None:
    place = desk.folder / "repository"
    skill = write_skill(place, "tidy")
    (skill / "link").symlink_to("/etc/passwd")
    made = commit(place)
    with pytest.raises(SkillConflict, match="contains a link: link"):
        desk.stage(f"file://{place}")
    git(place, "rm", "--quiet", "tidy/link")
    git(place, "update-index", "--add", "--cacheinfo", f"160000,{made},tidy/module")
    git(place, "commit", "--quiet", "--message=y")
    desk.scratch = desk.folder / "second"
    with pytest.raises(SkillConflict, match="contains a submodule: module"):
        desk.stage(f"file://{place}")
    assert desk.is_clean()


@pytest.mark.process
def test_an_index_names_skills_of_repositories_at_fixed_commits(desk: Desk) -> None:
    repository, index = desk.folder / "repository", desk.folder / "index"
    write_skill(repository / "skills", "tidy")
    made = commit(repository)
    entry = {"name": "tidy", "git": f"file://{repository}", "commit": made, "path": "skills/tidy"}
    index.mkdir()
    (index / "index.json").write_text(json.dumps({"skills": [entry]}))
    commit(index)
    hub = {"hub": f"file://{index}"}
    assert desk.list("hub", **hub) == ["tidy"]
    desk.scratch = desk.folder / "second"
    staged = desk.stage("hub/tidy", "", **hub)
    assert (staged.address, staged.commit) == (f"file://{repository}", made)
    for damaged in ({"commit": "main"}, {"git": "ext::sh"}, {"name": "../tidy"}, {"git": None}):
        (index / "index.json").write_text(json.dumps({"skills": [entry | damaged]}))
        git(index, "commit", "--quiet", "--all", "--message=y")
        desk.scratch = desk.folder / str(damaged)
        with pytest.raises(SkillConflict, match="is not valid"):
            desk.list("hub", **hub)


@pytest.mark.process
def test_faults_of_git_are_sentences(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SkillConflict, match=r"can't be fetched: .*does not appear to be"):
        desk.list(f"file://{desk.folder}/none")
    monkeypatch.setitem(ENVIRON, "PATH", "/nonexistent")
    with pytest.raises(SkillConflict, match="Git is not installed"):
        desk.list(f"file://{desk.folder}/none")
