"""Git and its relatives: what their words may run or write, however they are written."""

import subprocess

import pytest

from agent_core.tools.policy import git
from agent_core.tools.policy.command_effects import list_command_actions
from agent_core.tools.policy.verdicts import Facts, judge
from tests.agent_core.tools.policy.command_effects import list_effects
from tests.tables import check_each


def _rows(text: str) -> tuple[str, ...]:
    """Return the lines of a table, one command each."""
    return tuple(line.strip() for line in text.strip().splitlines())


GIT_READS = _rows(
    r"""
    git status -sb
    git status --porcelain=v2 -uno
    git log --oneline -5 --graph --all
    git log -p -2 --stat -- a
    git log --since=1.week --author=a --format=%h
    git log -S x
    git diff --cached --stat
    git diff -U5 -w --word-diff
    git diff --no-index a b
    git show HEAD:a
    git show --name-only HEAD
    git branch -vv
    git branch -a --merged
    git blame -L 1,5 a
    git grep -n 'a b' -- src
    git ls-files -o --exclude-standard
    git rev-parse --short HEAD
    git rev-parse --show-toplevel
    git describe --tags --always
    git stash list
    git stash show -p
    git tag -l 'v*'
    git shortlog -sn
    git reflog -5
    git -C a status
    git --no-pager log -3
    git -c core.quotePath=off ls-files
    git commit -qam a
    git commit -m 'a b' --amend --no-edit
    git commit -F- <<< a
    git -c user.name=a -c user.email=b commit -m c
    git add -A
    git stash push -m a -u
    git diff --no-ext-diff --no-textconv HEAD
    git rev-list --count HEAD
    git --version
    git cat-file -p HEAD
    git merge-base a b
    git ls-tree -r HEAD
    git log --no-merges
    git show-ref --heads
    env A=1 git status
    command git status
    bash -c 'git status'
    nice git log; timeout 5 git status
    grep -i a b | sort; git status
    git diff-tree -r HEAD
    git submodule status
    git init -q a
    """
)
OTHER_READS = _rows(
    r"""
    sort -u -k 2 a
    sort -rn a | uniq -c
    sed -nE 1,5p a
    sed -i.bak s/a/b/ a
    sed --in-place s/a/b/ a
    cp -r a b
    cp a/* b
    tree -L 2
    time ls
    xxd a
    rsync -av --exclude=x a b
    file a
    shuf -n 3 a
    install -m 755 a b
    uniq -c a
    """
)
GIT_NAMES_A_PROGRAM = _rows(
    r"""
    git grep --open=./x a
    git grep --open-files-in-pager=./x a
    git grep -O./x a
    git grep -nO./x a
    git grep --op a
    git init --template=x
    git init --templ=x a
    git init --separate-git-dir=x
    git init --sep=x
    git clone --template=x https://a.example
    git clone --conf=core.pager=./x https://a.example
    git clone -c a.b=c https://a.example
    git clone -u ./x https://a.example/b
    git clone --upl=./x https://a.example/b
    git fetch --upload-pack=./x origin
    git fetch --upload=./x origin
    git pull --upl ./x a
    git push --receive-pack=./x a
    git push --exec=./x a
    git push --rec=./x a
    git ls-remote --exec=./x a
    git ls-remote --upload-p=./x a
    git archive --exec=./x a
    git submodule foreach ./x
    git submodule update
    git submodule--helper foreach ./x
    git rebase -x ./x HEAD~1
    git rebase --exec ./x a
    git bisect run ./x
    git apply a
    git am a
    git difftool
    git mergetool
    git filter-branch --tree-filter ./x
    git x
    git --git-dir=x status
    git --exec-path=. status
    git --config-env=a.b=C status
    git --work-tree=/ status
    git config a b
    git -C .git log
    git -C "$x" status
    git diff --ext-diff
    git diff --ext
    git log --unknown
    git status -Q
    git log "$x"
    git send-email a
    git help -w a
    git instaweb
    git daemon
    git hook run a
    /usr/bin/git status
    /bin/git log
    env -i git status
    env - git status
    env -u PATH git status
    env --ignore-environment A=1 git status
    env --unset=GIT_EXEC_PATH git status
    sudo git status
    command -p git status
    exec -c git status
    bash -lc 'git status'
    bash --login -c 'git status'
    PATH=/usr/bin git status
    unset GIT_EXEC_PATH; git status
    GIT_DIR=x git status
    env GIT_DIR=x git log
    git fast-import < a
    git svn fetch
    git archive --format=x HEAD --exec x
    git p4 x
    """
)
GIT_WRITES_WHAT_IS_OBEYED = _rows(
    r"""
    git log --output=.git/config
    git log --output .git/config
    git show --output=.git/a a
    git diff --no-index --output=.git/config a b
    git diff --no-index --output .git/config a b
    git log --outp=.git/config
    git -C .git log --output=config
    git -C a/.git show --output=x
    git archive -o .git/config HEAD
    git archive -o.git/config HEAD
    git archive --outp=.x a
    git format-patch -o .git/hooks HEAD~1
    git bundle create .git/config HEAD
    git mv a .shell
    git log --output="$x"
    git restore .shell/1
    git restore -s a .git*
    git init .config
    git log -- --output=.git/config
    git log --grep -- --output=.git/config
    """
)
WRITES_WHAT_IS_OBEYED = _rows(
    r"""
    tar xf a
    tar xf a --to-command=./x
    tar -I ./x -xf a
    tar --use-comp=./x -xf a
    tar cf a --checkpoint=1 --checkpoint-action=exec=./x b
    awk '{print > ".git/config"}' a
    awk 'BEGIN{system("./x")}'
    awk '"./x" | getline' a
    awk -f x a
    sed -i'.git/*' s/a/b/ a
    sed --in-place=.git/* s/a/b/ a
    sed -n 'w .git/config' a
    sed 1e./x a
    find a -exec cp {} .git/config ';'
    zip -T -TT ./x a b
    patch -p1 < a
    patch < a
    patch .git/config a
    patch -i a
    patch -o .git/config a b
    cp -r evil/. .
    cp -a evil/. .
    cp -R evil/.. b
    cp --rec evil/. .
    cp -rT evil .
    cp --archive --no-target-directory evil .
    cp -a . ../b
    cp -r a/b/. ~
    cp --no-t -r a .
    rsync -a evil/ .
    rsync -r evil/. b
    rsync -ae ./x a b
    rsync -a -e ./x a b
    rsync -ave ./x a b
    rsync --rsh=./x a b
    rsync --rsync-path=./x a b
    rsync --daemon
    rsync --write-batch=.git/x a b
    rsync --log-file=.git/config a b
    rsync -aT .git a b
    sort -o .git/config a
    sort -o.git/config a
    sort -uo.git/config a
    sort --out=.shell/1 a
    sort --o .git/config a
    sort --compress-p=./x a
    shuf -o .git/config a
    tree -o .shell/1
    uniq a .git/config
    xxd -r a .git/config
    pdftotext a .gitconfig
    file -C -m .git/a
    cp a --target-d=.git
    cp a --target=.git
    cp a -t.git
    dd if=a of=.git/config
    tee -a .git/config < a
    time -o .git/config -f x ls
    /usr/bin/time --output=.git/config ls
    find . -fprintf .git/config x
    find . -fprint .gitconfig
    find . -fls .git/x
    sed -i s/a/b/ .git/config
    sed -Ei s/a/b/ .git/config
    sed s/a/b/w.git/config a
    sed s/a/b/e a
    unzip a
    7z x a
    hg status
    hg --config a.b=c log
    svn co https://a.example
    svn diff --diff-cmd ./x
    install -T -r a/. b
    """
)


def test_ordinary_calls_of_git_and_its_relatives_ask_nothing() -> None:
    def check(text: str) -> None:
        for is_confined in (True, False):
            effects = list_effects(text, is_confined=is_confined)
            assert effects <= {"write workspace", "write outside", "delete workspace"}

    check_each((*GIT_READS, *OTHER_READS), check)


def test_what_a_call_of_git_or_a_relative_may_run_or_write_is_seen() -> None:
    def check(text: str) -> None:
        assert "!" in list_effects(text)
        assert "delete outside" in list_effects(text, is_confined=False, has_network=False)

    check_each((*GIT_NAMES_A_PROGRAM, *GIT_WRITES_WHAT_IS_OBEYED, *WRITES_WHAT_IS_OBEYED), check)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("git log --output=/etc/a", "/etc/a"),
        ("git log --output /etc/a", "/etc/a"),
        ("git archive -o /etc/a HEAD", "/etc/a"),
        ("git bundle create /etc/a HEAD", "/etc/a"),
        ("git format-patch -o/etc/a HEAD", "/etc/a"),
        ("git -C /etc log --output=a", "/etc/a"),
        ("sort -uo /etc/a b", "/etc/a"),
        ("sort --out=/etc/a b", "/etc/a"),
        ("uniq b /etc/a", "/etc/a"),
        ("sed -Ei s/a/b/ /etc/a", "/etc/a"),
        ("cp b --target=/etc/a", "/etc/a"),
        ("patch /etc/a b", "/etc/a"),
    ],
)
def test_an_output_that_words_name_is_a_write(text: str, target: str) -> None:
    actions = list_command_actions(text, "", has_network=False)
    assert target in {one.target for one in actions if one.kind == "write"}


def test_a_setting_that_names_a_program_is_asked_for_by_its_name() -> None:
    text = "git -c core.hooksPath=.git/hooks -c color.ui=never commit -m a"
    for has_network in (False, True):
        asked = list_command_actions(text, "a", has_network=has_network)
        found = [(one.target, one.place) for one in asked if one.place != "workspace"]
        assert found == [("git -c core.hooksPath=.git/hooks", "repository /workspace/a")]
    anywhere = list_command_actions("git -c filter.x.clean=./x add a", "", has_network=False)
    assert ("git -c filter.x.clean=./x", "anywhere") in {
        (one.target, one.place) for one in anywhere
    }


CARRIERS = _rows(
    r"""
    git init --separate-git-dir=evil/g && git status
    git grep --open=./evil.sh a
    git init --template=evil && git commit --allow-empty -m a
    patch -p1 < evil.diff; git status
    git log --output=.git/config; git status
    git diff --no-index --output=.git/config a b; git status
    cp -r evil/. .; git status
    git clone --template=evil https://a.example/b && git -C b status
    git submodule foreach ./evil.sh
    """
)
"""What a text from elsewhere made the assistant run: each sent private words away."""


@pytest.mark.parametrize("is_tainted", [False, True])
def test_a_text_can_not_make_git_send_private_words_without_a_question(is_tainted: bool) -> None:
    def check(text: str) -> None:
        actions = list_command_actions(text, "", has_network=True)
        verdict = judge(
            "terminal", actions, Facts(is_tainted=is_tainted, is_owner=True), is_proposed=False
        )
        assert verdict.effect == "ask"

    check_each(CARRIERS, check)


def test_without_a_sandbox_only_an_owner_allows_a_member_what_git_may_run() -> None:
    def check(text: str) -> None:
        actions = list_command_actions(text, "", has_network=True, is_confined=False)
        verdict = judge("terminal", actions, Facts(is_owner=False), is_proposed=False)
        assert verdict.effect == "deny" or (verdict.effect, verdict.needs_owner) == ("ask", True)

    check_each((*CARRIERS, *GIT_NAMES_A_PROGRAM), check)


@pytest.mark.process
def test_no_harmless_option_stands_for_a_risky_one() -> None:
    """Git takes the beginning of a long option for the option, where it has no such option."""

    def check(subcommand: str) -> None:
        known = _list_options(subcommand)
        for name in git.HARMLESS - known:
            meant = {one for one in known if one.startswith(name)}
            assert not meant & git.RISKY, (name, meant)

    check_each(sorted(git.LOCAL | git.FETCHES | {"push"}), check)


@pytest.mark.process
def test_every_option_that_git_knows_is_judged_by_its_whole_name() -> None:
    """An option that the table doesn't know asks, and so does each beginning of a name."""

    def check(subcommand: str) -> None:
        for name in _list_options(subcommand):
            is_asked = "!" in list_effects(f"git {subcommand} --{name}=x https://a.example/b")
            assert is_asked or name in git.HARMLESS or name == "output"
            if len(name) > 4 and name[:-1] not in git.HARMLESS:
                assert "!" in list_effects(f"git {subcommand} --{name[:-1]}=.git/x")

    check_each(sorted(git.LOCAL | git.FETCHES | {"push"}), check)


def _list_options(subcommand: str) -> frozenset[str]:
    words = ("git", subcommand, "--git-completion-helper-all")
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd="/")
    found = done.stdout.split() if done.returncode == 0 else []
    names = (word.removeprefix("--").removesuffix("=") for word in found if len(word) > 2)
    return frozenset(name for name in names if not name.startswith("no-"))
