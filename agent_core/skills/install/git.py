"""Git repositories as sources of skills, read without a checkout: hooks, filters, links and
submodules of a repository have no effect.
"""

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from agent_core.errors import SkillConflict
from agent_core.skills.catalog import SKILL_FILE, show_name
from agent_core.skills.install.contract import SkillFile

_SECONDS = 120.0
"""The most seconds of one Git command."""
_LARGEST_PACK = 256 * 1024 * 1024
"""The most bytes of a repository's newest commit, compressed."""
_LARGEST_LIST = 16 * 1024 * 1024
"""The most bytes of the list of its files. Nested trees can name one file a billion times."""
_LONGEST_ERROR = 1_000_000
_DEEPEST = 4
"""The most levels below the top of a repository at which a skill is found."""
_ADDRESS = re.compile(
    r"https://[A-Za-z0-9][^\s@\x00-\x1f]*|ssh://(?:[\w.-]+@)?[A-Za-z0-9][^\s@\x00-\x1f]*"
    r"|file:///[^\s\x00-\x1f]*|\w[\w.-]*@[A-Za-z0-9][\w.-]*:(?!//)[A-Za-z0-9~/][^\s\x00-\x1f]*"
)
_REF = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,199}")
_KEPT = ("PATH", "HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "https_proxy", "HTTPS_PROXY")
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "credential.helper=",
    "fetch.fsckObjects=true",
    "gc.auto=0",
    "http.followRedirects=initial",
    "maintenance.auto=false",
    "protocol.allow=never",
)


def is_git_address(text: str) -> bool:
    """Return True for an address that only Git can fetch from; `http:` and others are refused
    later.
    """
    return "://" in text or _ADDRESS.fullmatch(text) is not None


class GitSource:
    """The skills in the newest commit of a branch, a tag or an id, fetched into a bare repository.

    Git sees only the search path, the home folder and the proxy of `environ`.
    """

    def __init__(self, address: str, ref: str, scratch: Path, environ: Mapping[str, str]) -> None:
        """Fetch the commit into the new folder `scratch`. Blocks. Raises `SkillConflict`."""
        if _ADDRESS.fullmatch(address) is None:
            raise SkillConflict(
                f"{show_name(address[:200])} is not an address that Talaria fetches skills from;"
                " use https://, ssh:// or file://, without a password."
            )
        if ref and (_REF.fullmatch(ref) is None or ".." in ref):
            raise SkillConflict(f"{show_name(ref[:80])} is not a branch, a tag or a commit.")
        self.address = address
        self._place = scratch
        self._scheme = address.partition("://")[0] if "://" in address else "ssh"
        self._environ = {key: environ[key] for key in _KEPT if key in environ} | _ENVIRONMENT
        git = shutil.which("git", path=environ.get("PATH"))
        if git is None:
            raise SkillConflict("Git is not installed; install it, or give a folder.")
        self._git = git
        scratch.mkdir(mode=0o700, parents=True)
        self._run("init", "--quiet", "--bare", "--template=", str(scratch))
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
        self._run("fetch", *options, "--", address, ref or "HEAD")
        self.commit = self._run("rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()
        self._blobs: dict[str, str] = {}
        self._files = list(self._list())

    def list_skills(self) -> Sequence[str]:
        """List the names of the skills; see `SkillSource`."""
        return sorted(self._find_places())

    def open_skill(self, name: str) -> "GitSkill":
        """Open a skill; see `SkillSource`."""
        places = self._find_places()
        if name not in places:
            raise SkillConflict(f"There is no skill {show_name(name)[:64]} in {self.address}.")
        return self.open_folder(places[name])

    def open_folder(self, folder: str) -> "GitSkill":
        """Open the skill in a folder of the repository; "" is the top."""
        start = f"{folder}/" if folder else ""
        files = [one for one in self._files if one.path.startswith(start)]
        return GitSkill(self, start, files)

    def read(self, file: SkillFile) -> bytes:
        """Read a plain file by its path in the repository. Raises `SkillConflict`."""
        return self._run("cat-file", "blob", self._blobs[file.path], most=file.size)

    def find_file(self, path: str) -> SkillFile | None:
        """Find a plain file by its path in the repository."""
        return next((one for one in self._files if one.path == path and not one.kind), None)

    def _find_places(self) -> dict[str, str]:
        """Find the folders of skills by name. Raises `SkillConflict`."""
        found: dict[str, str] = {}
        for file in self._files:
            path = PurePosixPath(file.path)
            if path.name != SKILL_FILE or len(path.parts) > _DEEPEST + 1:
                continue
            folder = "" if len(path.parts) == 1 else str(path.parent)
            name = show_name(path.parent.name) or self._name_itself()
            if name in found:
                raise SkillConflict(f"There are two skills {name} in {self.address}.")
            found[name] = folder
        return found

    def _name_itself(self) -> str:
        last = self.address.rstrip("/").rpartition("/")[2].rpartition(":")[2]
        return last.removesuffix(".git")

    def _list(self) -> Sequence[SkillFile]:
        """List all entries of the commit. Raises `SkillConflict`."""
        words = ("ls-tree", "-r", "-l", "-z", "--full-tree", self.commit)
        found = []
        for record in self._run(*words, most=_LARGEST_LIST).split(b"\0")[:-1]:
            head, _, raw = record.partition(b"\t")
            mode, _, blob, size = head.decode().split()
            path = os.fsdecode(raw)
            kinds = {"120000": "link", "160000": "submodule"}
            self._blobs[path] = blob
            found.append(
                SkillFile(
                    path=path,
                    size=int(size) if size.isdecimal() else 0,
                    is_executable=mode == "100755",
                    kind=kinds.get(mode, ""),
                )
            )
        return found

    def _run(self, *words: str, most: int = 1_000_000) -> bytes:
        """Run Git without the settings of this computer, and return its output.

        Raises `SkillConflict` on an error, and for more than `most` bytes.
        """
        settings = (*_SETTINGS, f"protocol.{self._scheme}.allow=always")
        options = [part for one in settings for part in ("-c", one)]
        # A shell sets the limit, in blocks of 512 bytes: code between fork and exec could hang.
        limit = f'ulimit -f {_LARGEST_PACK // 512}; exec "$@"'
        argv = ["/bin/sh", "-c", limit, "sh", self._git, *options, *words]
        process = subprocess.Popen(  # noqa: S603 - the words are checked
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._place,
            env=self._environ | {"GIT_DIR": str(self._place)},
            start_new_session=True,
        )
        try:
            output, errors = _collect(process, most)
        finally:
            _kill(process)
        if process.returncode:
            raise SkillConflict(f"{self.address} can't be fetched: {_describe(errors)}.")
        return output


class GitSkill:
    """The files of one skill in a commit."""

    def __init__(self, source: GitSource, start: str, files: Sequence[SkillFile]) -> None:
        """`start` is the beginning of the paths of its `files`."""
        self.address, self.commit = source.address, source.commit
        self._source = source
        self._start = start
        self._files = {one.path.removeprefix(start): one for one in files}

    def list_files(self) -> Sequence[SkillFile]:
        """List the files and links; see `SkillContent`."""
        return [
            SkillFile(path=path, size=one.size, is_executable=one.is_executable, kind=one.kind)
            for path, one in self._files.items()
        ]

    def read(self, file: SkillFile) -> bytes:
        """Read a plain file; see `SkillContent`."""
        return self._source.read(self._files[file.path])


def _collect(process: "subprocess.Popen[bytes]", most: int) -> tuple[bytes, bytes]:
    """Read a command's output. Raises `SkillConflict` if it is too long or takes too long."""
    assert process.stdout  # noqa: S101 - both are pipes
    assert process.stderr  # noqa: S101
    streams = {process.stdout: bytearray(), process.stderr: bytearray()}
    limits = {process.stdout: most, process.stderr: _LONGEST_ERROR}
    deadline = time.monotonic() + _SECONDS
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(deadline - time.monotonic())
            if not ready:
                raise SkillConflict(f"Git takes longer than {_SECONDS:.0f} seconds.")
            for key, _ in ready:
                stream = process.stdout if key.fd == process.stdout.fileno() else process.stderr
                if not (block := os.read(key.fd, 65_536)):
                    selector.unregister(stream)
                streams[stream] += block
                if len(streams[stream]) > limits[stream]:
                    raise SkillConflict("Git writes more than the repository may have.")
    process.wait(_SECONDS)
    return bytes(streams[process.stdout]), bytes(streams[process.stderr])


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill Git with its children, which hold its pipes."""
    with suppress(ProcessLookupError):  # Git has ended, with all of its children
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def _describe(errors: bytes) -> str:
    """Return the first sentence of an error that Git wrote."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines()]
    faults = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    text = faults[0].partition(": ")[2] or faults[0] if faults else "Git failed"
    return show_name(text)[:300].rstrip(".")
