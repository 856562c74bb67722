"""Every module keeps the rules of the gateway, and every rule can fail."""

import pytest

from tests.architecture.rules import RULES
from tests.architecture.source import PRODUCT, Module, list_modules
from tests.tables import check_each

DOC = '"""Does one thing, and says which."""\n'


# One test, so that one worker parses every module, and not each of them.
@pytest.mark.slow
def test_every_module_keeps_the_rules() -> None:
    assert [
        f"{rule.__name__}: {fault}"
        for module in list_modules()
        for rule in RULES
        for fault in rule(module)
    ] == []


@pytest.mark.slow
def test_the_whole_gateway_is_looked_at() -> None:
    seen = {module.path.partition("/")[0] for module in list_modules()}
    assert {*PRODUCT, "tests"} <= seen


FAULTS = (
    ("check_functions", "gateway/a.py", DOC + "def f():\n" + "    a = 1\n" * 60),
    ("check_functions", "gateway/a.py", DOC + "def f(a, b, c, d, *, e, f, g):\n    pass\n"),
    ("check_names", "gateway/turns/a.py", DOC + "a = sender.display_name\n"),
    ("check_names", "agent_core/agent/a.py", DOC + "a = PlainName('x')\n"),
    ("check_name", "gateway/utils.py", DOC),
    ("check_name", "gateway/turn_manager.py", DOC),
    ("check_name", "adapters/common/a.py", DOC),
    ("check_first_line", "gateway/a.py", "A = 1\n"),
    ("check_first_line", "gateway/a.py", '"""\n\nLater."""\n'),
    ("check_init", "gateway/cli/__init__.py", DOC + "A = 1\n"),
    ("check_init", "gateway/turns/__init__.py", DOC + "from gateway.jobs import Outcomes\n"),
    ("check_init", "adapters/x/__init__.py", DOC + "from adapters.x.adapter import create\n"),
    ("check_init", "gateway/a/__init__.py", DOC + "from gateway.a.b import B\n"),
    ("check_no_mock", "tests/a.py", DOC + "from unittest import mock\n"),
    ("check_no_mock", "tests/a.py", DOC + "import unittest.mock\n"),
    ("check_shared_tests", "tests/a/test_b.py", DOC + "from tests.a.test_c import make\n"),
    ("check_shared_tests", "bench/a.py", DOC + "from tests.a import test_c\n"),
    ("check_shared_tests", "tests/a.py", DOC + "import tests.a.test_c\n"),
    ("check_excepts", "gateway/a.py", DOC + "try:\n    a\nexcept Exception:\n    pass\n"),
    ("check_excepts", "gateway/a.py", DOC + "try:\n    a\nexcept:\n    pass\n"),
    (
        "check_excepts",
        "gateway/a.py",
        DOC + "try:\n    a\nexcept (OSError, Exception) as e:\n    raise X from e\n",
    ),
    ("check_excepts", "gateway/a.py", DOC + "with contextlib.suppress(Exception):\n    a\n"),
    ("check_environment", "gateway/app/build.py", DOC + "import os\nA = os.environ\n"),
    ("check_environment", "gateway/app/build.py", DOC + "from os import getenv\n"),
    ("check_paths", "gateway/a.py", DOC + "A = Path('~/a').expanduser()\n"),
    ("check_importlib", "gateway/app/build.py", DOC + "import importlib\n"),
    ("check_importlib", "gateway/app/build.py", DOC + "A = __import__('x')\n"),
    ("check_sdks", "gateway/app/build.py", DOC + "from telegram import Bot\n"),
    ("check_sdks", "adapters/telegram/api.py", DOC + "import anthropic\n"),
)


def test_a_planted_fault_is_found() -> None:
    def check(row: tuple[str, str, str]) -> None:
        rule, path, text = row
        check = next(one for one in RULES if one.__name__ == rule)
        assert len(list(check(Module(path=path, text=text)))) == 1

    check_each(FAULTS, check)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("adapters/contract.py", DOC + "A = 1\n" * 148),
        (
            "agent_core/models/x/__init__.py",
            DOC + 'from agent_core.models.x.client import create\n\n__all__ = ["create"]\n',
        ),
        ("gateway/fairness.py", DOC + "try:\n    a\nexcept Exception:\n    pass\n"),
        ("gateway/a.py", DOC + "try:\n    a\nexcept BaseException:\n    b()\n    raise\n"),
        ("gateway/app/settings.py", DOC + "import os\nA = os.environ\n"),
        ("gateway/app/plugins.py", DOC + "import importlib\n"),
        ("agent_core/state/migrate.py", DOC + "from importlib.resources import files\n"),
        ("adapters/telegram/api.py", DOC + "from telegram import Bot\n"),
        ("tests/a.py", DOC + "from telegram import Bot\n"),
        ("tests/a.py", DOC + "from aiohttp.test_utils import TestServer\n"),
    ],
)
def test_what_is_allowed_is_not_a_fault(path: str, text: str) -> None:
    module = Module(path=path, text=text)
    assert [fault for rule in RULES for fault in rule(module)] == []
