"""An engine of containers for tests: one that answers, and an image of this machine's programs."""

import os
import subprocess
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

IMAGE = "talaria-commands-test:1"
_PACKAGES = (
    *("bash", "coreutils", "dash", "libc6", "libc-bin", "libtinfo6", "libselinux1"),
    *("libpcre2-8-0", "libgmp10", "libacl1", "libattr1", "libcrypt1", "findutils", "grep", "sed"),
    *("mawk", "debianutils", "base-files", "base-passwd", "libpython3.11-minimal", "zlib1g"),
    *("libpython3.11-stdlib", "python3.11", "python3.11-minimal", "python3-minimal", "libssl3"),
    *("libexpat1", "libffi8", "liblzma5", "libbz2-1.0", "libuuid1", "hostname", "util-linux"),
    *("procps", "libproc2-0", "libsystemd0", "libgcc-s1", "mount", "libmount1", "libblkid1"),
    *("libsmartcols1", "libudev1", "libcap2", "libcap-ng0"),
)
_MERGED = ("bin", "sbin", "lib", "lib64")
_LINKS = ("/usr/bin/awk", "/etc/alternatives/awk")


@cache
def has_engine(program: str = "docker") -> bool:
    """Return whether an engine answers (DOCKER_HOST, or the default), with the image in it."""
    try:
        asked = subprocess.run([program, "version"], check=False, capture_output=True, timeout=20)
        return asked.returncode == 0 and (_has_image(program) or _make_image(program))
    except (OSError, subprocess.SubprocessError):
        return False


def _has_image(program: str) -> bool:
    words = [program, "image", "inspect", IMAGE]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def _make_image(program: str) -> bool:
    """Import the files of Debian packages of this machine; no registry is reached."""
    files = sorted({*_list_files()})
    if "/usr/bin/bash" not in files:
        return False
    words = [program, "import", "-", IMAGE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as importing:
        assert importing.stdin
        with tarfile.open(fileobj=importing.stdin, mode="w|") as image:
            root = tarfile.TarInfo(".")
            root.type, root.mode = tarfile.DIRTYPE, 0o755
            image.addfile(root)
            for name in _MERGED:
                image.add(f"/{name}", name)
            for path in files:
                image.add(path, path.lstrip("/"), recursive=False)
    return importing.returncode == 0


def _list_files() -> Iterator[str]:
    for package in _PACKAGES:
        listed = subprocess.run(
            ["dpkg", "-L", package], check=False, capture_output=True, text=True
        )
        for line in listed.stdout.splitlines():
            top = line.split("/")[1] if line.startswith("/") else ""
            path = f"/usr{line}" if top in _MERGED else line
            if top and path != "/." and os.path.lexists(path):
                yield path
    yield from filter(os.path.islink, _LINKS)


def remove_containers(folder: Path, program: str = "docker") -> None:
    """Remove the containers whose workspaces are below a folder."""
    listed = subprocess.run(
        [program, "ps", "--all", "--quiet", "--filter", "label=talaria.home"],
        check=True,
        capture_output=True,
        text=True,
    )
    for container in listed.stdout.split():
        shown = subprocess.run(
            [program, "inspect", "--format", "{{json .Mounts}}", container],
            check=False,
            capture_output=True,
            text=True,
        )
        if str(folder) in shown.stdout:
            words = [program, "rm", "--force", container]
            subprocess.run(words, check=False, capture_output=True)
