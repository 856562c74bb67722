"""Release check: build the wheel, install it in a clean environment, start it and stop it.

Run it with `make release-check`. It exits with a sentence and a code other than 0 at the first
step that fails.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALL_LIMIT_MB = 150
"""MiB of disk for the installed packages with bytecode, as `du -sm` counts them, without pip."""
INSTALLERS = {"pip", "setuptools", "pkg_resources", "_distutils_hack"}
"""Packages that `python -m venv` itself puts into an environment."""
START_SECONDS = 60.0
"""The first start compiles every module it imports."""
STOP_SECONDS = 30.0
POLL_SECONDS = 0.1
QUESTION = "Hello! Who are you?\n"


def main() -> None:
    """Run every step in order. Raises `SystemExit` at the first that fails."""
    with tempfile.TemporaryDirectory(prefix="talaria-release-") as name:
        folder = Path(name)
        wheel = build_wheel(folder / "wheel")
        print(f"Built {wheel.relative_to(ROOT)}, {wheel.stat().st_size / 1e6:.1f} MB.")
        environment = folder / "environment"
        install(wheel, environment)
        size = measure(environment)
        print(f"Installed {size} MB of packages, with bytecode.")
        if size > INSTALL_LIMIT_MB:
            raise SystemExit(f"The installation takes more than {INSTALL_LIMIT_MB} MB.")
        talk(environment / "bin" / "talaria", folder)
    print("The release check passed.")


def build_wheel(folder: Path) -> Path:
    """Build the wheel with the locked build backend and put it into `dist/`."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    [wheel] = folder.glob("*.whl")
    ROOT.joinpath("dist").mkdir(exist_ok=True)
    return Path(shutil.copy(wheel, ROOT / "dist"))


def install(wheel: Path, environment: Path) -> None:
    """Install the wheel without extras at the locked versions; check that nothing is missing."""
    python = str(environment / "bin" / "python")
    uv = shutil.which("uv")
    venv.create(environment, with_pip=uv is None)
    if uv:
        command, options = [uv, "pip"], ["--quiet", "--compile-bytecode", "--python", python]
    else:
        command, options = [python, "-m", "pip"], ["--quiet"]
    # pip takes hashes for every package or for none, and the wheel has no hash in the lock.
    pins = environment / "pins.txt"
    lines = ROOT.joinpath("requirements.lock").read_text().splitlines()
    pins.write_text("\n".join(line.rstrip(" \\") for line in lines if "==" in line))
    run([*command, "install", *options, "--constraint", str(pins), str(wheel)])
    run([*command, "check", *(["--python", python] if uv else [])])


def measure(environment: Path) -> int:
    """MiB that the installed packages take on disk."""
    [packages] = environment.glob("lib/python*/site-packages")
    blocks = 0
    for path in packages.iterdir():
        if path.name.partition("-")[0] not in INSTALLERS:
            files = [path, *path.rglob("*")]
            blocks += sum(file.lstat().st_blocks for file in files)
    return -(-blocks * 512 // 2**20)


def talk(talaria: Path, folder: Path) -> None:
    """Start the gateway on an empty home, get an answer from it, and stop it with SIGTERM."""
    port = find_free_port()
    environ = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "TALARIA_HOME": str(folder / "home"),
        "TALARIA_HTTP__PORT": str(port),
    }
    log = folder / "gateway.log"
    began = time.monotonic()
    with log.open("wb") as output:
        gateway = subprocess.Popen(
            [talaria, "run"], env=environ, cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_healthy(gateway, port, log)
        print(f"Started in {time.monotonic() - began:.1f} s.")
        answer = run([str(talaria), "chat"], environ, given=QUESTION).strip()
        if not answer:
            raise SystemExit("The gateway did not answer a message.")
        print(f"Answered: {answer.splitlines()[0]}")
        asked = time.monotonic()
        gateway.send_signal(signal.SIGTERM)
        code = gateway.wait(STOP_SECONDS)
        print(f"Stopped in {time.monotonic() - asked:.1f} s.")
        if code:
            raise SystemExit(f"The gateway exited with {code}:\n{log.read_text()}")
    finally:
        gateway.kill()
        gateway.wait()


def wait_until_healthy(gateway: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until /health says yes. Raises `SystemExit` when the gateway ends or takes too long."""
    latest = time.monotonic() + START_SECONDS
    while time.monotonic() < latest and gateway.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(POLL_SECONDS)
    raise SystemExit(f"The gateway did not start:\n{log.read_text()}")


def find_free_port() -> int:
    """A loopback port that nothing uses."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def run(command: Sequence[str], environ: Mapping[str, str] | None = None, given: str = "") -> str:
    """Run a command in the checkout and return its output. Raises `SystemExit` if it fails."""
    done = subprocess.run(
        command, cwd=ROOT, env=environ, input=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
