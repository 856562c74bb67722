"""Keep git from running programs that a repository's or the home's configuration names.

Git runs hooks, filters, drivers, pagers and helpers that a configuration names, under names that
nobody can list in advance. So `git` is a guard in front of the real git: it reads the names of all
settings in effect, and overrides each one that is not known to be harmless. A setting that the
command itself gives with `-c` stays, because the policy has judged it.
"""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from agent_core.errors import BackendUnavailable

FOLDER = "/opt/talaria/git"
"""The folder of the guard in a sandbox or a container."""
HOST_FOLDER = "git-guard"
"""The folder of the guard in Talaria's home, for commands that see files of this machine."""
LINKS = ("git-upload-pack", "git-receive-pack", "git-upload-archive")
"""Names under which git starts itself for another repository, without the settings of a command."""
_FIXED: Mapping[str, str] = {
    "safe.bareRepository": "explicit",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "true",
    "credential.helper": "",
    "protocol.ext.allow": "never",
    "protocol.fd.allow": "never",
    "gpg.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultKeyCommand": "false",
    "help.autoCorrect": "0",
}
"""Settings that every call gets, because they need no look at the configuration."""
_VARIABLES: Mapping[str, str] = {
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_SSH_COMMAND": "ssh",
    "GIT_ASKPASS": "",
    "GIT_PROXY_COMMAND": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_CONFIG_COUNT": str(len(_FIXED)),
    **{f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(_FIXED)},
    **{f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(_FIXED.values())},
}
"""The variables with which git runs; they also hold where the guard is not found."""


def _within(section: str, names: str) -> tuple[str, ...]:
    return tuple(f"{section}.{name}" for name in names.split())


HARMLESS = (
    *_within(
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode"
        " symlinks autocrlf eol safecrlf abbrev quotepath whitespace compression loosecompression"
        " bigfilethreshold trustctime checkstat preloadindex untrackedcache splitindex"
        " sharedrepository sparsecheckout sparsecheckoutcone commitgraph multipackindex"
        " packedgitlimit packedgitwindowsize deltabasecachelimit longpaths protecthfs protectntfs"
        " usereplacerefs warnambiguousrefs notesref commentchar commentstring fsync fsyncmethod"
        " fsyncobjectfiles createobject disambiguate hidedotfiles ignorestat checkroundtripencoding"
        " filesreflocktimeout packedrefstimeout maxtreedepth excludesfile attributesfile"
        " fsmonitorhookversion restrictinheritedhandles preferreflogbackend",
    ),
    *("add.*", "advice.*", "am.keepcr", "am.threeway", "apply.*", "author.*", "committer.*"),
    *("user.*", "checkout.*", "clean.requireforce", "color.*", "column.*", "commitgraph.*"),
    *_within("blame", "blankboundary coloring date markignoredlines markunblamablelines showemail"),
    *("blame.showroot", "branch.autosetupmerge", "branch.autosetuprebase", "branch.sort"),
    *_within("branch.*", "remote pushremote merge rebase description"),
    *_within("clone", "defaultremotename filtersubmodules rejectshallow"),
    *_within("commit", "cleanup gpgsign status verbose"),
    *_within("credential", "username usehttppath protectprotocol sanitizeprompt"),
    *("credential.*.username", "credential.*.usehttppath"),
    *_within(
        "diff",
        "algorithm autorefreshindex colormoved colormovedws context dirstat ignoresubmodules"
        " indentheuristic interhunkcontext mnemonicprefix noprefix relative renamelimit renames"
        " statgraphwidth statnamewidth submodule suppressblankempty wordregex wserrorhighlight"
        " srcprefix dstprefix",
    ),
    *_within("diff.*", "xfuncname funcname binary wordregex algorithm cachetextconv"),
    *("extensions.*", "fastimport.unpacklimit", "feature.*", "fsck.*", "gc.*", "grep.*"),
    *_within(
        "fetch",
        "fsckobjects negotiationalgorithm output parallel prune prunetags recursesubmodules"
        " showforcedupdates unpacklimit writecommitgraph",
    ),
    *_within(
        "format",
        "attach cc coverletter coverfromdescription encodeemailheaders filenamemaxlength"
        " forceinbodyfrom from headers notes numbered pretty signoff subjectprefix thread to"
        " useautobase",
    ),
    *_within("gpg", "format mintrustlevel ssh.allowedsignersfile ssh.revocationfile"),
    *_within(
        "http",
        "postbuffer lowspeedlimit lowspeedtime maxrequests minsessions version useragent"
        " sslcainfo sslcapath sslcert sslkey sslcipherlist sslversion sslbackend pinnedpubkey"
        " followredirects noepsv proxyauthmethod proxysslcainfo",
    ),
    *("help.format", "i18n.*", "index.*", "init.defaultbranch"),
    *("init.defaultobjectformat", "interactive.singlekey", "log.*", "lsrefs.*", "mailinfo.*"),
    *("mailmap.blob", "maintenance.*", "merge.*.name", "merge.*.recursive"),
    *_within(
        "merge",
        "autostash branchdesc conflictstyle defaulttoupstream directoryrenames ff log renamelimit"
        " renames renormalize stat suppressdest verbosity verifysignatures",
    ),
    *("notes.*", "pack.*", "pretty.*", "protocol.version", "pull.ff", "pull.rebase", "push.*"),
    *_within(
        "rebase",
        "abbreviatecommands autosquash autostash backend forkpoint missingcommitscheck"
        " reschedulefailedexec stat updaterefs rebasemerges",
    ),
    *("receive.*", "remote.pushdefault", "remotes.*", "repack.*", "rerere.*", "revert.reference"),
    *_within(
        "remote.*",
        "url pushurl fetch push mirror prune prunetags tagopt skipdefaultupdate skipfetchall"
        " promisor partialclonefilter followremotehead serveroption",
    ),
    *("safe.*", "showbranch.*", "sparse.*", "splitindex.*", "ssh.variant", "stash.*", "status.*"),
    *_within("submodule", "active alternateerrorstrategy alternatelocation fetchjobs recurse"),
    *("submodule.propagatebranches", "tag.*", "tar.umask", "tar.*.remote", "transfer.*"),
    *_within("submodule.*", "url active branch fetchrecursesubmodules ignore shallow"),
    *_within("trailer", "ifexists ifmissing where separators"),
    *_within("trailer.*", "key ifexists ifmissing where"),
    *("uploadarchive.*", "uploadpackfilter.*", "versionsort.*", "worktree.*"),
    *_within(
        "uploadpack",
        "allowanysha1inwant allowfilter allowreachablesha1inwant allowrefinwant allowtipsha1inwant"
        " hiderefs keepalive",
    ),
)
"""Settings that name no program, and no file that git would show or write; `*` fits any text."""
_NAMING = "*hook|*command|*cmd|*program|*helper|*editor|*pager|*textconv|*driver|*exec"
"""Names that stand for a program, also in a section that is harmless as far as it is known."""
_NEUTRAL: Mapping[str, str] = {
    "filter.*.required|http.savecookies": "false",
    "http.sslverify|http.*.sslverify": "true",
    "pull.twohead": "recursive",
    "pull.octopus": "octopus",
    "uploadpack.packobjectshook": "env",
    "filter.*|alias.*|credential.helper|credential.*.helper|init.templatedir": "",
    "http.extraheader|http.*.extraheader|http.curloptresolve|core.askpass|core.gitproxy": "",
    "http.cookiefile|http.*.cookiefile|blame.ignorerevsfile": "",
    "diff.external|diff.*.command": (
        'd() { git diff --no-index --no-ext-diff --no-textconv -- "$2" "$5"; :; }; d'
    ),
    "diff.*.textconv|core.pager|interactive.difffilter": "cat",
    "merge.*.driver": "git merge-file -q %A %O %B",
    "core.hookspath|commit.template|format.signaturefile|mailmap.file|diff.orderfile": "/dev/null",
    "core.editor|sequence.editor": ":",
    "core.sshcommand": "ssh",
    "core.alternaterefscommand|trailer.*.command|trailer.*.cmd": "true",
    "gpg.program|gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "submodule.*.update": "checkout",
    "tar.*.command": "gzip -cn",
    "rebase.instructionformat": "%s",
    "format.outputdirectory": ".",
    "help.autocorrect": "0",
}
"""The values with which settings do nothing; all others become `false`, which runs nothing."""
_SAFE = (
    "status diff log show grep blame annotate add commit stash checkout switch branch merge rebase"
    " tag worktree fetch push pull clone ls-remote archive cherry-pick revert format-patch am apply"
    " rev-list cat-file ls-files ls-tree gc repack maintenance fsck submodule submodule--helper"
    " interpret-trailers checkout-index hash-object request-pull range-diff notes replace"
    " credential difftool mergetool help update-ref symbolic-ref reflog pack-refs read-tree"
    " sparse-checkout rerere fetch-pack send-pack merge-tree restore reset bundle fast-export"
    " update-server-info merge-index init rm mv clean rev-parse describe shortlog merge-base"
    " name-rev receive-pack upload-pack upload-archive for-each-ref show-ref show-branch stage"
    " count-objects check-ignore check-attr check-mailmap diff-files diff-index diff-tree"
    " whatchanged cherry var verify-commit verify-tag write-tree update-index merge-file"
    " for-each-repo filter-branch send-email version column stripspace patch-id sh-i18n"
    " pack-objects unpack-objects index-pack prune prune-packed remote-http remote-https http-fetch"
    " verify-pack show-index multi-pack-index commit-graph unpack-file mktree mktag commit-tree"
    " mailinfo mailsplit fmt-merge-msg upload-archive--writer difftool--helper"
)
"""Subcommands that obey `core.hooksPath`, or change neither references nor an index.

Others run hooks before they read the configuration.
"""
_SCRIPT = r"""#!/bin/bash -p
# Git, without the programs that a repository's or the home's configuration names.
guard=${BASH_SOURCE[0]%/*}
[ "${0##*/}" = git ] || set -- "${0##*/git-}" "$@"
fail() { printf 'git: %s\n' "$1" >&2; exit "${2:-128}"; }
real= left=$PATH:
while [ -n "$left" ] && [ -z "$real" ]; do
    place=${left%%:*} left=${left#*:}
    [ -z "$place" ] || [ "$place" -ef "$guard" ] || [ ! -x "$place/git" ] || real=$place/git
done
[ -n "$real" ] || fail 'git is not installed here' 127
unset GIT_EXEC_PATH
{ : < /etc/gitconfig; } 2> /dev/null || export GIT_CONFIG_NOSYSTEM=1  # else git would stop
if [ "${GIT_GUARD%%:*}" = "$real" ]; then nested=1 core=${GIT_GUARD#*:}
else
    nested= core=
    [ "$real" != /usr/bin/git ] || for place in /usr/lib/git-core /usr/libexec/git-core; do
        [ ! -x "$place/git" ] || core=$place
    done
    [ -n "$core" ] || core=$("$real" --exec-path) || exit
fi
globals=()
while :; do
    case ${1-} in
        -C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)
            globals+=("$1" "${2-}")
            shift
            [ $# -eq 0 ] || shift ;;
        -h|--help)  # the configuration may name the program that shows a page
            [ $# -gt 1 ] || exec "$real" "${globals[@]}" "$1"
            set -- help "${@:2}" ;;
        ''|--exec-path|--html-path|--man-path|--info-path|--version|-v|--list-cmds=*|config)
            exec "$real" "${globals[@]}" "$@" ;;
        -*) globals+=("$1"); shift ;;
        *) break ;;
    esac
done
if [ -z "${GIT_CONFIG_COUNT-}" ]; then
    @EXPORTS@
fi
mapfile -d '' -t found < <(
    "$real" "${globals[@]}" config --list --name-only --show-scope --includes -z && printf 'end\0')
[ "${found[-1]-}" = end ] ||
    fail "the configuration can't be read, so programs that it names can't be switched off"
unset 'found[-1]'
case $1 in @SAFE@) hooks=none ;; bisect*|remote) hooks=reference-transaction ;; *) hooks='*' ;; esac
if [ "$hooks" != none ] && place=$("$real" "${globals[@]}" rev-parse --path-format=absolute \
    --git-common-dir 2>/dev/null); then
    for hook in "$place"/hooks/$hooks; do
        [ ! -x "$hook" ] || [[ $hook == *.sample ]] || fail "$1 would run the hook $hook; remove it"
    done
fi
harmless=' @HARMLESS@ '
count=$GIT_CONFIG_COUNT proxy=${https_proxy:-${http_proxy-}} off= is_able=
for ((at = 0; at < ${#found[@]}; at += 2)); do
    scope=${found[at]} key=${found[at + 1]}
    if [ "$scope" = command ]; then
        [ "$key" != safe.barerepository ] || is_able=1
        continue
    fi
    section=${key%%.*} kind=${key%%.*}.${key##*.}
    [ "$kind" = "$key" ] || kind=$section.*.${key##*.}
    [[ $harmless != *" $kind "* && $harmless != *" $key "* ]] || continue
    case $key in @NAMING@) ;; *) [[ $harmless != *" $section.* "* ]] || continue ;; esac
    case $key in
        core.worktree)
            top=$("$real" "${globals[@]}" rev-parse --show-toplevel) || exit
            [[ $top/ == "$(cd -P -- "${WORKSPACE-}" && pwd)"/* ||
                $top/ == "$(cd -P -- "${TMPDIR-}" && pwd)"/* ]] ||
                fail "core.worktree of this repository is outside of the workspace: $top"
            continue ;;
        url.*|remote.*.uploadpack|remote.*.receivepack|remote.*.vcs)
            # Git takes the first value of these, so they can't be overridden.
            case $scope,$1 in
                global,*|system,*) [ "${key%%.*}" = remote ] || continue ;;&
                *,clone|*,fetch|*,pull|*,push|*,ls-remote|*,remote|*,submodule|*,archive|\
                *,fetch-pack|*,send-pack)
                    fail "the configuration names a program or another address ($key); remove it" ;;
            esac
            continue ;;
        include.path|includeif.*.path) continue ;;  # the list has what they include
        http.proxy|http.*.proxy|remote.*.proxy) value=$proxy ;;
        @NEUTRAL@
        *) value=false ;;
    esac
    case $scope,$key in
        *.required) ;;
        local,filter.*|local,diff.*|local,merge.*.driver|local,credential.*|local,core.hookspath)
            off+=" $key" ;;
    esac
    export "GIT_CONFIG_KEY_$count=$key" "GIT_CONFIG_VALUE_$count=$value"
    count=$((count + 1))
done
[ -n "$is_able" ] || fail 'it is older than 2.31, so programs of a configuration stay on; update it'
if [ -z "$nested" ] && [ -n "$off" ]; then
    printf 'git runs without:%s (a person can allow one with `git -c NAME=PROGRAM`)\n' "$off" >&2
fi
case :$PATH: in *":$core:"*) ;; *) PATH=$PATH:$core ;; esac
export PATH GIT_CONFIG_COUNT=$count GIT_EXEC_PATH=$guard GIT_GUARD=$real:$core
exec "$real" "${globals[@]}" "$@"
"""


def _render() -> str:
    """Return the guard: a bash script."""
    exports = " ".join(
        f"{name}='{value}'" for name, value in _VARIABLES.items() if name.startswith("GIT_CONFIG_")
    )
    neutral = [f"{keys}) value='{value}' ;;" for keys, value in _NEUTRAL.items()]
    return (
        _SCRIPT.replace("@EXPORTS@", f"export {exports}")
        .replace("@HARMLESS@", " ".join(HARMLESS))
        .replace("@SAFE@", _SAFE.replace(" ", "|"))
        .replace("@NAMING@", _NAMING)
        .replace("@NEUTRAL@", "\n        ".join(neutral))
    )


SCRIPT = _render()


def make_environment(folder: str, path: str) -> dict[str, str]:
    """Return the variables with which git runs behind the guard in `folder`, before `path`."""
    return {"PATH": f"{folder}:{path}", "GIT_EXEC_PATH": folder, **_VARIABLES}


def is_harmless_setting(key: str) -> bool:
    """True for a setting of git that names no program, and no file to show or to write."""
    section, dot, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    plain = f"{section.lower()}{dot}{f'{middle}.' if middle else ''}{name.lower()}"
    is_naming = any(fnmatchcase(plain, ending) for ending in _NAMING.split("|"))
    whole = f"{section.lower()}.*"
    known = (pattern for pattern in HARMLESS if not (is_naming and pattern == whole))
    return any(fnmatchcase(plain, pattern) for pattern in known)


def install(folder: Path) -> Path:
    """Write the guard to a folder of this machine, and return the folder.

    Raises `BackendUnavailable` if it can't be written.
    """
    program = folder / "git"
    try:
        if not _is_current(program):
            folder.mkdir(mode=0o755, exist_ok=True)
            # Commands begin side by side, in several threads: each writes a file of its own.
            descriptor, made = tempfile.mkstemp(prefix="git.", dir=folder)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(SCRIPT)
                os.fchmod(descriptor, 0o555)
            Path(made).replace(program)
        for name in LINKS:
            with suppress(FileExistsError):
                (folder / name).symlink_to("git")
    except OSError as error:
        raise BackendUnavailable(f"the guard of git can't be written: {error.strerror}") from error
    return folder


def _is_current(program: Path) -> bool:
    return os.access(program, os.X_OK) and program.read_text(encoding="utf-8") == SCRIPT
