"""Program: prints the words of a recording, with Whisper on this machine and without a network.

Usage: hear FILE
"""

import hashlib
import os
import sys

from faster_whisper import WhisperModel

from gateway.media.voices.installed import locate_weights

_DIGEST = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
"""SHA-256 of the weights (Systran's conversion of OpenAI's Whisper base)."""
_SMALL_FILES = ("config.json", "tokenizer.json", "vocabulary.txt")
_MOST_THREADS = 4


def load_model() -> WhisperModel:
    """Load the weights into memory; they stay in two packages, so that nothing is written.

    Raises `ValueError` if they are not those that were measured.
    """
    first, second = locate_weights()
    weights = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    if hashlib.sha256(weights).hexdigest() != _DIGEST:
        raise ValueError("the weights of Whisper are not those that Talaria knows")
    files = {name: (first / name).read_bytes() for name in _SMALL_FILES}
    return WhisperModel(
        "base",
        device="cpu",
        compute_type="int8",
        cpu_threads=min(os.cpu_count() or 1, _MOST_THREADS),
        files={"model.bin": weights, **files},
    )


def transcribe(path: str) -> str:
    """Return the words of a recording in any language; empty if nobody speaks in it."""
    segments, _ = load_model().transcribe(
        path, beam_size=1, vad_filter=True, condition_on_previous_text=False
    )
    return " ".join(segment.text.strip() for segment in segments)


if __name__ == "__main__":
    print(transcribe(sys.argv[1]))
