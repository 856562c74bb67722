"""Imports without optional parts: they fail in the block only, and Telegram needs none."""

import subprocess
import sys
from importlib import import_module

import pytest

from adapters.toolkit.optional_modules import leaving_out


def test_an_import_fails_in_the_block_and_works_after_it() -> None:
    sys.modules.pop("colorsys", None)
    with leaving_out("colorsys"), pytest.raises(ImportError):
        import_module("colorsys")
    loaded = import_module("colorsys")
    with leaving_out("colorsys"):
        assert import_module("colorsys") is loaded


@pytest.mark.process
def test_telegram_loads_no_cryptography_and_no_command_line() -> None:
    code = (
        "import sys, adapters.telegram.adapter, httpx\n"
        "assert not {'cryptography', 'rich', 'click'} & sys.modules.keys()\n"
        "import cryptography"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
