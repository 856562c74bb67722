"""Find out from git's words what a call writes, sends, and may run.

The guard in front of git switches off what a configuration names. What a command itself names is
judged here: an option that is not known to be harmless may run a program. Git also accepts the
beginning of a long option, so only whole names are known.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.execution.git_guard import is_harmless_setting
from agent_core.tools.policy.outputs import list_operands
from agent_core.tools.policy.paths import is_obeyed
from agent_core.tools.policy.shell import Word

LOCAL = frozenset(
    (
        *("status", "log", "diff", "show", "branch", "add", "rev-parse", "blame", "ls-files"),
        *("describe", "shortlog", "tag", "cat-file", "reflog", "grep", "rm", "mv", "init"),
        *("clean", "reset", "restore", "stash", "ls-tree", "merge-base", "name-rev", "version"),
        *("commit", "rev-list", "show-ref", "for-each-ref", "whatchanged", "annotate", "stage"),
        *("count-objects", "check-ignore", "diff-tree", "diff-files", "diff-index", "cherry"),
    )
)
"""Subcommands that stay in their repository."""
_PROGRAMS = frozenset(("submodule", "send-email", "svn", "p4"))
"""Subcommands of the network that run programs, or other calls of git."""
FETCHES = frozenset(("clone", "fetch", "pull", "ls-remote", "submodule", "archive"))
SENDS = frozenset(("push", "send-email", "request-pull", "send-pack", "svn", "p4"))
_NAMES = (
    "abbrev abbrev-commit after after-context ahead-behind all all-match allow-empty "
    "allow-empty-message allow-unrelated-histories always amend ancestry-path anchored and "
    "annotate append atomic author author-date-order autostash bare basic-regexp batch "
    "batch-all-objects batch-check before before-context binary bisect boundary branch branches "
    "break break-rewrites buffer build-options cached candidates cc check cherry cherry-mark "
    "cherry-pick chmod cleanup clear-decorations color color-by-age color-lines color-moved "
    "color-moved-ws color-words column combined-all-paths committer compact-summary conflict "
    "contains contents context copy count create-reflog cumulative date date-order dd debug "
    "decorate decorate-refs decorate-refs-exclude deduplicate deepen delete deleted dense depth "
    "diff-algorithm diff-filter diff-merges directory dirstat dirstat-by-file dirty dissociate "
    "do-walk dry-run dst-prefix edit email empty-directory encoding eol error-unmatch exact-match "
    "exclude exclude-first-parent-only exclude-from exclude-per-directory exclude-standard "
    "exit-code ext-grep extended-regexp ff ff-only file files-with-matches files-without-match "
    "filter find-copies find-copies-harder find-object find-renames first-parent fixed-strings "
    "fixup follow follow-tags force force-if-includes force-with-lease fork-point format "
    "full-diff full-history full-index full-name full-tree function-context git-common-dir "
    "git-dir git-path glob global graph grep grep-reflog group hardlinks head heading heads "
    "histogram ignore-all-space ignore-blank-lines ignore-case ignore-cr-at-eol ignore-errors "
    "ignore-matching-lines ignore-missing ignore-removal ignore-rev ignore-skip-worktree-bits "
    "ignore-space-at-eol ignore-space-change ignore-submodules ignore-unmatch ignore-unmerged "
    "ignored include include-untracked incremental indent-heuristic independent index "
    "initial-branch inside-work-tree intent-to-add inter-hunk-context invert-grep invert-match "
    "ipv4 ipv6 irreversible-delete is-ancestor is-bare-repository is-inside-work-tree "
    "is-shallow-repository ita-invisible-in-index ita-visible-in-index jobs keep keep-index "
    "killed left-only left-right line-number line-porcelain line-prefix list local local-env-vars "
    "log-size long mailmap match max-age max-count max-depth max-parents merge merge-base merged "
    "merges message min-age min-parents minimal mixed modified move name-only name-status "
    "negotiate-only negotiation-tip not notes null numbered numstat object-format objects octopus "
    "oneline only only-matching or order origin others ours output-indicator-context "
    "output-indicator-new output-indicator-old overlay parents patch patch-with-raw "
    "patch-with-stat path-format pathspec-file-nul patience perl-regexp pickaxe-all pickaxe-regex "
    "points-at porcelain post-rewrite prefetch pretty progress prune prune-tags quiet raw "
    "recurse-submodules recursive refetch reflog refmap refresh refs regexp-ignore-case "
    "reject-shallow relative relative-date remote-submodules remotes remove-empty rename-empty "
    "renames reset-author resolve-undo reuse-message reverse right-only root rotate-to "
    "score-debug set-upstream set-upstream-to shallow-exclude shallow-since shallow-submodules "
    "shared short short-commit shortstat show-current show-email show-forced-updates "
    "show-function show-linear-break show-name show-notes show-number show-prefix show-pulls "
    "show-stash show-stats show-toplevel signoff simplify-by-decoration simplify-merges since "
    "single-branch skip skip-to soft sort source sparse squash src-prefix stage staged stat "
    "stat-count stat-graph-width stat-name-width stat-width status stdin strategy strategy-option "
    "submodule summary symbolic symbolic-full-name symmetric symref tags text textconv theirs "
    "thin threads topics topo-order track trailer unified unmerged unordered unset-upstream "
    "unshallow until untracked untracked-files update update-head-ok update-shallow use-mailmap "
    "verbose verify walk-reflogs warn-embedded-repo with-tree without word-diff word-diff-regex "
    "word-regexp worktree write-fetch-head ws-error-highlight"
)
HARMLESS = frozenset(_NAMES.split())
"""Long options that name no program and no file to write, in any subcommand that knows them."""
RISKY = frozenset(
    (
        *("config", "config-env", "exec", "exec-path", "ext-diff", "open-files-in-pager", "output"),
        *("output-directory", "receive-pack", "remote", "separate-git-dir", "server-option"),
        *("template", "upload-pack", "work-tree", "reference", "reference-if-able"),
        *("bundle-uri", "edit-description", "gpg-sign", "sign", "local-user", "filters"),
        *("sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd", "tool", "extcmd", "add-file"),
    )
)
"""Long options that name a program, a file or another repository."""
_SHORT: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("log", "show", "diff", "reflog", "shortlog", "whatchanged", "stash", "rev-list"),
        ("0123456789pusczabwRWgiEFPmrtqevkDhB", "nUSGLlMCXI"),
    ),
    **dict.fromkeys(
        ("diff-tree", "diff-files", "diff-index"), ("0123456789puszabwRWmrtqcvD", "UM")
    ),
    "status": ("svbz", "uM"),
    "branch": ("vqardDmMcCfilt", "u"),
    **dict.fromkeys(("add", "stage"), ("nvpufNAe", "")),
    "rev-parse": ("q", ""),
    **dict.fromkeys(("blame", "annotate"), ("bltsepwfnch", "LMC")),
    "ls-files": ("tvfzcdmoisukr", "xX"),
    "tag": ("lnadvfi0123456789", "m"),
    "cat-file": ("epts", ""),
    "reset": ("qpN", ""),
    "restore": ("SWpqm", "s"),
    "rm": ("fnrq", ""),
    "mv": ("vfnk", ""),
    "clean": ("dfqnxX", "e"),
    "init": ("q", "b"),
    "ls-tree": ("drtlz", ""),
    "merge-base": ("a", ""),
    "grep": ("viwarEGFPnhHlLzopqWIc0123456789", "ABCmef"),
    "commit": ("apvqsnzio", "mCuF"),
    "show-ref": ("qds", ""),
    "for-each-ref": ("s", ""),
    "check-ignore": ("qvzn", ""),
    "count-objects": ("vH", ""),
    "cherry": ("v", ""),
    "fetch": ("vqaftmkpPn46", "jo"),
    "pull": ("vqaftmkpPn46rse", "jX"),
    "clone": ("vqlsn46", "job"),
    "ls-remote": ("htq", ""),
    "submodule": ("q", ""),
    "archive": ("lv0123456789", ""),
    "push": ("vqnf46du", "o"),
}
"""Short options that name no program and no file to write: those without a value, and with one."""
_PLAIN_GLOBALS = frozenset(
    (
        *("--no-pager", "--bare", "-P", "-p", "--paginate", "--no-optional-locks", "--version"),
        *("--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs"),
        *("--no-replace-objects", "--no-lazy-fetch", "-v"),
    )
)
_WRITTEN: Mapping[str, str] = {"--output": "", "--output-directory": ""}
_SHORT_WRITTEN = frozenset(("archive", "format-patch"))
"""Subcommands whose option `-o` names a file to write."""
_LONG_FORM = re.compile(r"--(no-)?([a-z][a-z0-9-]*)(=.*)?", re.S)


@dataclass(slots=True)
class GitCall:
    """A call of git, as its words say.

    `settings` are those of `-c` that may name a program: a person must agree to each. `rest` are
    the words behind the subcommand. `is_unclear` means that something else may run.
    """

    subcommand: str = ""
    settings: list[str] = field(default_factory=list)
    folder: Word | None = None
    rest: Sequence[Word] = ()
    written: list[Word] = field(default_factory=list)
    is_unclear: bool = False


def read(words: Sequence[Word]) -> GitCall:
    """Read the words behind `git`."""
    call = GitCall()
    position = _read_globals(words, call)
    found = words[position].value if position < len(words) else ""
    call.subcommand = found or ""
    call.rest = words[position + 1 :]
    if found is None or found.startswith("-"):
        call.is_unclear = True
        return call
    _read_options(call)
    _read_operands(call)
    if call.folder:
        folder = call.folder.value
        call.is_unclear = call.is_unclear or folder is None or is_obeyed(folder)
        call.written = [_place(word, folder) for word in call.written]
    return call


def _place(word: Word, folder: str | None) -> Word:
    """Return a word as a path from where git is called; `folder` is the one that it works in."""
    is_known = word.value is not None and folder is not None
    return Word(
        source=word.source,
        value=posixpath.join(folder or "", word.value or "") if is_known else None,
    )


def _read_globals(words: Sequence[Word], call: GitCall) -> int:
    """Read the options before the subcommand, and return its position."""
    position = 0
    while position < len(words):
        value = words[position].value
        if value in ("-C", "-c") and position + 1 < len(words):
            given = words[position + 1]
            if value == "-C":
                call.folder = given
            elif given.value is None:
                call.is_unclear = True
            elif not is_harmless_setting(given.value.partition("=")[0]):
                call.settings.append(given.value)
            position += 2
        elif value in _PLAIN_GLOBALS:
            position += 1
        else:
            break
    return position


def _read_options(call: GitCall) -> None:
    """Judge each word that git could take for an option, also one behind `--`."""
    flags, valued = _SHORT.get(call.subcommand, ("", ""))
    for number, word in enumerate(call.rest):
        value = word.value
        if value is None:
            call.is_unclear = True
            continue
        if not value.startswith("-") or value in ("-", "--"):
            continue
        name, _, given = value.partition("=")
        if name in _WRITTEN or (name[:2] == "-o" and call.subcommand in _SHORT_WRITTEN):
            attached = given if name in _WRITTEN and "=" in value else value[2:]
            if name in _WRITTEN and "=" not in value:
                attached = ""
            following = call.rest[number + 1 : number + 2]
            call.written += [Word(source=word.source, value=attached)] if attached else following
            if not attached and not following:
                call.is_unclear = True
        elif not (_is_known_long(value) or _are_known_letters(value, flags, valued)):
            call.is_unclear = True


def _is_known_long(value: str) -> bool:
    """True for a whole long option that is harmless, or switches something off."""
    found = _LONG_FORM.fullmatch(value)
    if found is None:
        return False
    is_off, name = bool(found[1]), found[2]
    return name in HARMLESS or (is_off and not found[3] and (name in RISKY or name in _OFF))


_OFF = frozenset(
    ("pager", "tags", "walk", "prefix", "color-moved", "index", "checkout", "hardlinks")
)
"""Names behind `--no-` that have no option of their own."""


def _are_known_letters(value: str, flags: str, valued: str) -> bool:
    """True for joined short options: the first with a value takes the rest of the word."""
    if value.startswith("--"):
        return False
    for letter in value[1:]:
        if letter in valued:
            return True
        if letter not in flags:
            return False
    return True


def _read_operands(call: GitCall) -> None:
    """Note files that the operands of a subcommand name for writing, and calls of programs."""
    operands = list_operands(call.rest)
    first = operands[0].value if operands else ""
    if call.subcommand == "mv":
        call.written += operands[-1:]
    elif call.subcommand == "restore":
        call.written += operands
    elif call.subcommand == "bundle" and first == "create":
        call.written += operands[1:2]
    elif call.subcommand in ("clone", "init"):
        call.written += [word for word in operands if word.value and "://" not in word.value]
    elif call.subcommand == "submodule" and first in ("", "status", "summary"):
        call.subcommand = "status"  # only these use no network
    elif call.subcommand in _PROGRAMS:
        call.is_unclear = True


def is_dry_run(words: Sequence[Word]) -> bool:
    """True if `git clean` only shows what it would delete."""
    values = [word.value for word in words]
    if None in values or any(value and value.startswith(("-e", "--e")) for value in values):
        return False
    return "-n" in values or "--dry-run" in values
