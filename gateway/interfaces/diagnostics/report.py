"""The report of `talaria check` and `talaria doctor`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from gateway.interfaces.diagnostics.finding import Finding, describe

_DONE, _WRONG = 0, 2


class Report:
    """Prints each finding as soon as it is made, or all findings as one JSON object."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._findings: list[Finding] = []

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings while the iterable makes them."""
        for one in findings:
            self._findings.append(one)
            if not self._as_json:
                print(describe(one), flush=True)

    def end(self, fixed: Sequence[str] | None = None) -> int:
        """Print the JSON, with the fixes that were made. Return 0 without a fault, else 2."""
        is_well = all(one.state != "fault" for one in self._findings)
        if self._as_json:
            done = {} if fixed is None else {"fixed": list(fixed)}
            findings = [asdict(one) for one in self._findings]
            print(json.dumps({"ok": is_well, **done, "findings": findings}))
        return _DONE if is_well else _WRONG
