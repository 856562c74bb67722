"""The script that reports on access logs of nginx."""

import gzip
from pathlib import Path

import pytest

from tests.agent_core.skills.bundled.scripts import refused, run

pytestmark = pytest.mark.process

AGENT = "Mozilla/5.0 (X11; Linux x86_64)"


def line(at: str, request: str, status: int, address: str = "203.0.113.1", end: str = "") -> str:
    return f'{address} - - [{at}] "{request}" {status} 512 "-" "{AGENT}"{end}\n'


def test_errors_are_counted_by_path_and_hour_without_the_query(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(
        line("24/Nov/2026:08:00:00 +0100", "GET /a?x=1 HTTP/1.1", 502)
        + line("24/Nov/2026:08:59:59 +0100", "GET /a?x=2 HTTP/1.1", 502)
        + line("24/Nov/2026:09:00:00 +0100", "GET /b HTTP/1.1", 200)
        + "\n"
    )
    shown = run("nginx-logs", str(log)).stdout
    assert "# 3 requests from 2026-11-24 08:00 to 2026-11-24 09:00 +0100" in shown
    assert "- status: 2xx 1, 5xx 2" in shown
    assert "| 2026-11-24 08:00 | 2 |" in shown
    assert "| 502 /a | 2 |" in shown
    assert "Slow requests" not in shown


def test_lines_of_scanners_with_quotes_and_bytes_are_read(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(
        line("24/Nov/2026:08:00:00 +0000", 'GET /\\"quoted\\" HTTP/1.1', 404).encode()
        + line("24/Nov/2026:08:00:01 +0000", "\\x16\\x03\\x01\\x00", 400).encode()
        + b'198.51.100.7 - - [24/Nov/2026:08:00:02 +0000] "GET /\xff HTTP/1.1" 404 9 "-" "zgrab"\n'
        + line("24/Nov/2026:08:00:03 +0000", "GET /.env HTTP/1.1", 404, "2001:db8::7").encode()
        + b"a line of another program\n"
    )
    shown = run("nginx-logs", str(log)).stdout
    assert "# 4 requests" in shown
    assert "- 1 of 5 lines are in another format and not counted" in shown
    assert "| 2001:db8::7 | 1 |" in shown
    assert "probes for weak spots: 1" in shown


def test_compressed_logs_since_a_moment_and_request_times(tmp_path: Path) -> None:
    log = tmp_path / "access.log.2.gz"
    lines = line("23/Nov/2026:08:00:00 +0000", "GET /old HTTP/1.1", 200, end=" 9.000")
    lines += line("24/Nov/2026:08:00:00 +0000", "GET /a HTTP/1.1", 200, end=" 0.250")
    lines += line("24/Nov/2026:08:00:00 +0000", "GET /b HTTP/1.1", 200, end=' rt=1.500 "-"')
    log.write_bytes(gzip.compress(lines.encode()))
    shown = run("nginx-logs", str(log), "--since", "2026-11-24T00:00:00+00:00").stdout
    assert "# 2 requests" in shown
    assert "/old" not in shown
    assert "max 1.500" in shown
    assert "- 1.500 s /b (200, 08:00)" in shown


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("dear diary\n")
    assert "no line is in the combined format of nginx" in refused("nginx-logs", str(text))
    assert "No such file" in refused("nginx-logs", str(tmp_path / "gone.log"))
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"x" * 5_000)[:20])
    assert "can't be read" in refused("nginx-logs", str(cut))
    assert "is no time" in refused("nginx-logs", str(text), "--since", "yesterday")
    assert "needs an offset" in refused("nginx-logs", str(text), "--since", "2026-11-24")
    assert "can't be read" in refused("nginx-logs", str(tmp_path))
