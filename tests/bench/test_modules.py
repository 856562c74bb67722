"""The benchmarks can be started."""

from importlib import import_module


def test_all_parts_are_found() -> None:
    assert import_module("bench.__main__").main
