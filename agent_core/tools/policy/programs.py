"""Tables of programs: which run other programs, stay on this machine, or use the network."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """The options of a program that runs the command behind them. Any other may change what runs.

    `flags` and `long` take no separate word; `valued` and `long_valued` do, and `attached` may have
    a value in the same word only. `skipped` counts the words between the options and the command.
    """

    flags: str = ""
    valued: str = ""
    attached: str = ""
    long: tuple[str, ...] = ()
    long_valued: tuple[str, ...] = ()
    skipped: int = 0


RUNNERS: Mapping[str, Runner] = {
    "sudo": Runner(
        flags="nEHPbkKSA",
        valued="ugphCTrtU",
        long=("--non-interactive", "--preserve-env", "--set-home", "--stdin"),
        long_valued=("--user", "--group"),
    ),
    "doas": Runner(flags="n", valued="u"),
    "env": Runner(
        flags="i0v",
        valued="u",
        long=("--ignore-environment", "--null", "--debug"),
        long_valued=("--unset",),
    ),
    "nice": Runner(flags="0123456789", valued="n", long_valued=("--adjustment",)),
    "ionice": Runner(flags="t", valued="cn", long=("--ignore",)),
    "nohup": Runner(),
    "time": Runner(flags="p"),  # its other options may write any text to any file
    "timeout": Runner(
        flags="v",
        valued="ks",
        long=("--foreground", "--preserve-status", "--verbose"),
        long_valued=("--kill-after", "--signal"),
        skipped=1,
    ),
    "setsid": Runner(flags="cfw", long=("--ctty", "--fork", "--wait")),
    "stdbuf": Runner(valued="ioe", long_valued=("--input", "--output", "--error")),
    "command": Runner(flags="pvV"),
    "builtin": Runner(),
    "exec": Runner(flags="cl", valued="a"),
    "coproc": Runner(),
    "busybox": Runner(),
    "unshare": Runner(flags="fmuinpUrCT"),
    "flock": Runner(
        flags="sxeunoF",
        valued="wE",
        long=("--shared", "--exclusive", "--unlock", "--nonblock", "--close", "--no-fork"),
        long_valued=("--timeout", "--wait", "--conflict-exit-code"),
        skipped=1,
    ),
    "xargs": Runner(
        flags="0rtpxo",
        valued="InPdaLsE",
        attached="iel",
        long=("--null", "--no-run-if-empty", "--verbose", "--exit", "--max-lines", "--replace"),
        long_valued=("--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars"),
    ),
}
"""Programs that run the command behind their options."""
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "fish"))
LOCAL = frozenset(
    (
        *("ls", "dir", "cat", "tac", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep"),
        *("egrep", "fgrep", "zgrep", "rg", "comm", "diff", "cmp", "join", "paste", "nl", "od"),
        *("xxd", "hexdump", "strings", "file", "stat", "du", "df", "pwd", "echo", "printf"),
        *("true", "false", ":", "test", "[", "[[", "seq", "yes", "date", "cal", "sleep", "whoami"),
        *("id", "groups", "uname", "hostname", "uptime", "free", "ps", "basename", "dirname"),
        *("realpath", "readlink", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum"),
        *(
            "base64",
            "base32",
            "fold",
            "fmt",
            "column",
            "expand",
            "unexpand",
            "rev",
            "shuf",
            "tsort",
        ),
        *("numfmt", "bc", "expr", "factor", "jq", "tree", "which", "type", "cd", "pushd", "popd"),
        *("read", "exit", "return", "break", "continue", "shift", "wait", "jobs", "kill", "umask"),
        *("set", "unset", "local", "let", "getopts", "hash", "times", "ulimit", "sync", "nproc"),
        *("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zcat", "zstd", "pdftotext"),
        *("mkdir", "touch", "cp", "mv", "ln", "chmod", "chown", "chgrp", "tee", "truncate"),
        *("rm", "rmdir", "unlink", "shred", "split", "csplit", "mktemp", "find", "git", "sed"),
    )
)
"""Programs that use no network and run no other program, except those read separately."""
SPEAKERS = frozenset(
    (
        *("echo", "printf", "test", "[", "true", "false", ":", "kill", "sleep", "exit"),
        *("basename", "dirname", "return", "seq", "shift", "wait"),
    )
)
"""Programs that open no file that their words name."""
READERS = frozenset(
    (
        *("ls", "dir", "cat", "tac", "head", "tail", "wc", "grep", "egrep", "fgrep", "zgrep", "rg"),
        *("diff", "cmp", "file", "stat", "du", "echo", "printf", "test", "[", "find", "git"),
        *("cut", "tr", "nl", "od", "hexdump", "strings", "join", "paste", "comm", "fold", "fmt"),
        *("column", "expand", "unexpand", "rev", "tsort", "numfmt", "expr", "jq", "sed", "seq"),
        *("readlink", "realpath", "basename", "dirname", "which", "type", "date", "[[", "read"),
        *("md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "base64", "base32"),
    )
)
"""Programs that write to no file that their words name, except those read separately."""
WRITERS = frozenset(
    (
        *("mkdir", "touch", "chmod", "chown", "chgrp", "tee", "truncate", "split", "csplit"),
        *("patch", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "mknod", "mkfifo"),
        *("setfacl", "chattr", "fallocate"),
    )
)
"""Programs that write to every path in their arguments."""
COPIERS = frozenset(("cp", "mv", "ln", "install", "link"))
"""Programs that write to the last path in their arguments."""
DELETERS = frozenset(("rm", "rmdir", "unlink", "shred", "srm", "wipe", "trash", "trash-put", "del"))
DESTROYERS = frozenset(("wipefs", "blkdiscard", "fdisk", "parted", "sfdisk", "mkswap"))
MANAGERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("pip", "pip3", "pipx"), frozenset(("install", "download", "wheel", "inject"))),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        frozenset(
            (
                *("install", "i", "add", "ci", "update", "up", "upgrade", "exec", "x", "dlx"),
                *("create", "init", "isntall", "in", "install-test", "it", "link"),
            )
        ),
    ),
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "yum", "dnf", "zypper", "brew", "snap", "flatpak"),
        frozenset(
            ("install", "upgrade", "dist-upgrade", "full-upgrade", "update", "reinstall", "remove")
        ),
    ),
    "apk": frozenset(("add", "update", "upgrade", "fix")),
    **dict.fromkeys(
        ("conda", "mamba", "micromamba"), frozenset(("install", "create", "update", "env"))
    ),
    "cargo": frozenset(("install", "add", "update", "fetch", "binstall")),
    "gem": frozenset(("install", "update")),
    "go": frozenset(("install", "get", "mod", "run")),
    "composer": frozenset(("install", "require", "update", "create-project", "global")),
    "uv": frozenset(("pip", "add", "sync", "tool", "run", "lock", "python", "init")),
    "poetry": frozenset(("install", "add", "update", "lock")),
    "dpkg": frozenset(("-i", "--install", "--unpack", "--configure")),
    "rpm": frozenset(("-i", "-U", "-Uvh", "-ivh", "--install", "--upgrade")),
    "gh": frozenset(("extension",)),
    "code": frozenset(("--install-extension",)),
}
"""Package managers, and their subcommands that install."""
INSTALLERS = frozenset(
    ("npx", "bunx", "uvx", "pnpx", "easy_install", "pacman", "emerge", "nix-env")
)
DECLARING = frozenset(("export", "declare", "typeset", "readonly", "local", "unset"))
MAILERS = frozenset(
    ("mail", "mailx", "s-nail", "sendmail", "mutt", "neomutt", "msmtp", "swaks", "exim")
)
SENDERS = frozenset(
    (
        *MAILERS,
        *("ssh", "scp", "sftp", "ftp", "lftp", "tftp", "nc", "ncat", "netcat", "socat", "telnet"),
        *("gh", "glab", "hub", "aws", "gcloud", "gsutil", "az", "s3cmd", "rclone", "twine"),
        *("http", "https", "xh", "kubectl", "helm", "terraform", "ansible", "mosquitto_pub"),
        *("dig", "nslookup", "host", "ping", "ping6", "traceroute", "whois", "nmap", "drill"),
        *("wscat", "websocat", "croc", "wormhole", "ffsend", "ngrok", "cloudflared", "stripe"),
        *("docker", "podman", "heroku", "vercel", "netlify", "fly", "flyctl", "doctl", "firebase"),
    )
)
PUBLISHERS: Mapping[str, frozenset[str]] = {
    "npm": frozenset(("publish", "unpublish", "deprecate", "owner", "access", "token")),
    "pnpm": frozenset(("publish",)),
    "yarn": frozenset(("publish", "npm")),
    "bun": frozenset(("publish",)),
    "cargo": frozenset(("publish", "yank", "owner", "login")),
    "gem": frozenset(("push", "yank", "owner")),
    "poetry": frozenset(("publish",)),
    "uv": frozenset(("publish",)),
}
"""Package managers, and their subcommands that publish data."""
CURL_FLAGS = frozenset("sSLfOIkvigG46#jRJNZ") - frozenset("G")
"""Options of curl that take no separate word, and send nothing but the address."""
CURL_LONG = frozenset(
    (
        *(
            "--silent",
            "--show-error",
            "--location",
            "--fail",
            "--remote-name",
            "--head",
            "--verbose",
        ),
        *("--include", "--compressed", "--insecure", "--globoff", "--ipv4", "--ipv6", "--http1.1"),
        *(
            "--http2",
            "--remote-header-name",
            "--progress-bar",
            "--fail-with-body",
            "--no-progress-meter",
        ),
        *("--remote-time", "--no-buffer", "--create-dirs", "--parallel"),
    )
)
CURL_WITH_WORD = frozenset(
    (
        *(
            "-o",
            "--output",
            "-m",
            "--max-time",
            "--connect-timeout",
            "--retry",
            "-w",
            "--write-out",
        ),
        *("--max-filesize", "-r", "--range", "--retry-delay", "--max-redirs", "--output-dir"),
    )
)
CURL_DATA = frozenset(
    (
        *("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "-F"),
        *("--form", "-T", "--upload-file", "-X", "--request", "-H", "--header", "-u", "--user"),
        *("-A", "--user-agent", "-e", "--referer", "-b", "--cookie"),
    )
)
"""Options of curl that send data to the same host, each with a separate word."""
WGET_FLAGS = frozenset("qcNvdSrlpkmH46")
WGET_LONG = frozenset(
    (
        *("--quiet", "--continue", "--no-clobber", "--timestamping", "--no-verbose", "--spider"),
        *("--no-check-certificate", "--content-disposition", "--mirror", "--show-progress", "-nv"),
        *("-nc", "-nd", "-np", "--no-parent", "--no-directories", "--recursive"),
    )
)
WGET_WITH_WORD = frozenset(
    ("-O", "--output-document", "-P", "--directory-prefix", "-T", "--timeout", "-t", "--tries")
)
WRITING_OPTIONS = frozenset(
    ("-o", "--output", "--output-dir", "-O", "--output-document", "-P", "--directory-prefix")
)
STRANGE_VARIABLES = frozenset(
    (
        *(
            "PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT",
            "BASH_ENV",
            "ENV",
            "IFS",
            "SHELLOPTS",
        ),
        *("BASHOPTS", "PS4", "PROMPT_COMMAND", "PAGER", "EDITOR", "VISUAL", "BROWSER", "CDPATH"),
        *("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT"),
        *("NODE_OPTIONS", "LESSOPEN", "LESSCLOSE", "TAR_OPTIONS", "HOME", "CURL_HOME", "WGETRC"),
        *("GLOBIGNORE", "XDG_CONFIG_HOME", "WORKSPACE", "GNUPGHOME", "SSH_ASKPASS"),
        *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
        *("OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "GCONV_PATH", "LOCPATH"),
        *("MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "SHELL", "INPUTRC", "ZDOTDIR", "FPATH"),
        *("NODE_PATH", "PERL5DB", "PERLLIB", "PERLDB_OPTS", "RUBYLIB", "GEM_PATH", "GEM_HOME"),
        *("IRBRC", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "RUSTC", "GOFLAGS"),
        *("GOENV", "GOTOOLDIR", "PSQLRC", "MANOPT", "VIMINIT", "EXINIT", "VIM", "VIMRUNTIME"),
        *("SCREENRC", "ANSIBLE_CONFIG", "SSH_ASKPASS", "SUDO_ASKPASS", "BC_ENV_ARGS", "AWKPATH"),
        *("AWKLIBPATH", "PHPRC", "PHP_INI_SCAN_DIR", "GTK_MODULES", "QT_PLUGIN_PATH", "TERMINFO"),
        *("GCC_EXEC_PREFIX", "COMPILER_PATH", "RIPGREP_CONFIG_PATH", "PYTHONUSERBASE"),
        *("GREP", "GZIP", "XZ_OPT", "XZ_DEFAULTS", "MAGIC", "TMPDIR", "HGRCPATH", "HGRCSKIPREPO"),
        *("OCTAVE_INITFILE", "BASH_LOADABLES_PATH", "EXECIGNORE", "GLIBC_TUNABLES"),
        *("PYTHONBREAKPOINT", "PYTHONPLATLIBDIR", "PYTHONWARNINGS", "PYTHONINSPECT"),
    )
)
"""Variables that change the behaviour of later programs, as do all with `_STRANGE_BEGINNINGS`."""
_STRANGE_BEGINNINGS = (
    *("GIT_", "BASH_FUNC_", "npm_", "NPM_CONFIG_", "LD_", "LUA_INIT", "R_PROFILE", "R_ENVIRON"),
    *("RUSTC_", "CARGO_", "PIP_", "BUNDLE_", "YARN_", "_JAVA_", "GDB", "TCL", "XDG_"),
)


def is_strange(name: str) -> bool:
    """True for a variable that changes the behaviour of later programs."""
    return (
        name in STRANGE_VARIABLES
        or name.startswith(_STRANGE_BEGINNINGS)
        or name.endswith(("PAGER", "_EDITOR"))
    )
