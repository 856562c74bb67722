"""The real model, where talaria[embeddings] is installed; elsewhere it is said that it is not."""

import math
from operator import mul

import pytest

from agent_core.recall.embedder_contract import Embedder, Vector
from agent_core.recall.rerank import Reranker
from gateway.bootstrap.plugins import load_embedder
from tests.agent_core.recall.test_rerank import hit, numbers

for package in ("onnxruntime", "tokenizers"):
    pytest.importorskip(package, reason='it needs pip install "talaria[embeddings]"')


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder("minilm")


def reranker(one: Vector, other: Vector) -> float:
    return sum(map(mul, one, other))


def test_vectors_have_length_1_and_are_the_same_for_the_same_text(minilm: Embedder) -> None:
    vector = minilm.embed("my dog is called Rex")
    assert len(vector) == 384
    assert math.isclose(reranker(vector, vector), 1, abs_tol=1e-4)
    assert list(minilm.embed("my dog is called Rex")) == list(vector)


def test_what_means_the_same_lies_near(minilm: Embedder) -> None:
    question = minilm.embed("what pet do I have?")
    assert reranker(question, minilm.embed("I adopted a beagle")) > 0.3
    assert reranker(question, minilm.embed("the printer is out of paper")) < 0.2


@pytest.mark.parametrize("text", ["", " ", "\x00\ud800", "🎉" * 300, "東京", "word " * 5000])
def test_any_text_has_a_vector(minilm: Embedder, text: str) -> None:
    vector = minilm.embed(text)
    assert math.isclose(reranker(vector, vector), 1, abs_tol=1e-4)


async def test_hits_are_put_in_order_by_it(minilm: Embedder) -> None:
    hits = [hit(1, "I have a meeting", score=1.01), hit(2, "I have a beagle at home")]
    fused = await Reranker(minilm, patience=60).rerank("what pet do I have?", hits)
    assert numbers(fused) == [2, 1]
