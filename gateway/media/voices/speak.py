"""Program: speaks the text of its input as OGG with Opus, on this machine and without a network.

Usage: speak LANGUAGE
"""

import io
import sys
from typing import Any

import av
import numpy as np
from hibari import SAMPLE_RATE, Hibari
from py_nanotts import NanoTTS

from gateway.media.voices.installed import PICO_VOICES
from gateway.media.voices.languages import recognize

_PICO_RATE = 16_000
_OPUS_RATE = 48_000
_BITS = 32_000
"""Bits a second: clear speech, and a minute in 240 kB."""
_LOUDEST = 0.9
_ESCAPES = str.maketrans("<>", "  ")
"""Pico reads markup between these signs."""


def speak(text: str, language: str) -> bytes:
    """Speak a text in its own language, expected to be `language`, a BCP 47 tag.

    Raises `ValueError` for a language without a voice.
    """
    name = recognize(text, language.partition("-")[0].lower())
    if name == "en":
        return encode(Hibari()(text), SAMPLE_RATE)
    if name not in PICO_VOICES:
        raise ValueError(f"there is no local voice for the language {language}")
    sound = NanoTTS().speak(text.translate(_ESCAPES), voice=PICO_VOICES[name])
    return encode(np.frombuffer(sound, "<i2").astype("f4") / 32768, _PICO_RATE)


def encode(samples: Any, rate: int) -> bytes:
    """Encode mono samples between -1 and 1 as a voice message: OGG with Opus."""
    loudest = float(np.abs(samples).max(initial=0)) or 1.0
    scaled = np.clip(samples * (_LOUDEST / loudest) * 32767, -32768, 32767).astype("<i2")
    kept = io.BytesIO()
    with av.open(kept, "w", format="ogg") as made:
        stream = made.add_stream("libopus", rate=_OPUS_RATE, layout="mono")
        stream.bit_rate = _BITS
        frame = av.AudioFrame.from_ndarray(scaled.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = rate
        change = av.AudioResampler(
            format="s16", layout="mono", rate=_OPUS_RATE, frame_size=stream.frame_size or 960
        )
        for piece in (*change.resample(frame), *change.resample(None)):
            made.mux(stream.encode(piece))
        made.mux(stream.encode(None))
    return kept.getvalue()


if __name__ == "__main__":
    sys.stdout.buffer.write(speak(sys.stdin.read(), sys.argv[1]))
