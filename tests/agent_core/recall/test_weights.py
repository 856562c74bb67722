"""What a model is made of is read from installed packages, and only if it is what was measured."""

import hashlib
from importlib.metadata import files

import pytest

from agent_core.recall.weights import read_weights

FILE = next(one for one in files("pytest") or () if one.name == "METADATA")
DIGEST = hashlib.sha256(FILE.read_binary()).hexdigest()


def test_the_file_that_was_measured_is_read() -> None:
    assert read_weights("pytest", FILE.as_posix(), DIGEST) == FILE.read_binary()


def test_another_file_of_that_name_is_refused() -> None:
    with pytest.raises(ValueError, match="is not the expected file"):
        read_weights("pytest", FILE.as_posix(), hashlib.sha256(b"other").hexdigest())


def test_a_package_without_the_file_is_told() -> None:
    with pytest.raises(ValueError, match="pytest is installed, but contains no pytest"):
        read_weights("pytest", "pytest/model.onnx", DIGEST)


def test_a_package_that_is_not_there_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="no-such-model"):
        read_weights("no-such-model", "model.onnx", DIGEST)
