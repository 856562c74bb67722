"""List prices of the sandbox providers, for an estimate of what an hour costs.

Sources: the providers' own pages of prices, as of 2026. They change, so an owner can say another.
"""

_GIB = 2**30
_MODAL_CORE, _MODAL_GIB = 0.1419, 0.0240
"""US dollars an hour of one physical core, and of one GiB, in a sandbox."""
_MODAL_GPUS = {
    "T4": 0.59,
    "L4": 0.80,
    "A10": 1.10,
    "A10G": 1.10,
    "L40S": 1.95,
    "A100": 2.10,
    "A100-40GB": 2.10,
    "A100-80GB": 2.50,
    "H100": 3.95,
    "H200": 4.54,
    "B200": 6.25,
}
_MODAL_CORES, _MODAL_MEMORY = 0.125, 128 * 2**20
"""What Modal keeps free for a sandbox that asks for nothing."""
_DAYTONA_CPU, _DAYTONA_GIB = 0.0504, 0.0162
_DAYTONA_MEMORY = _GIB
"""Bytes of a sandbox that asks for nothing; it has one processor."""


def estimate_modal(cpus: float, memory: int, gpu: str) -> float | None:
    """Return US dollars an hour of an idle sandbox; None for a card without a known price.

    0 processors or bytes are Modal's defaults. Whoever uses more than is kept free pays more.
    """
    card, _, count = gpu.upper().rstrip("!+").partition(":")
    if card and (card not in _MODAL_GPUS or not (count or "1").isdecimal()):
        return None
    cards = _MODAL_GPUS[card] * int(count or 1) if card else 0.0
    return (
        cards + (cpus or _MODAL_CORES) * _MODAL_CORE + (memory or _MODAL_MEMORY) / _GIB * _MODAL_GIB
    )


def estimate_daytona(cpus: int, memory: int, gpus: int) -> float | None:
    """Return US dollars an hour of a running sandbox; None for one with graphics cards.

    0 processors or bytes are Daytona's defaults.
    """
    if gpus:
        return None
    return (cpus or 1) * _DAYTONA_CPU + (memory or _DAYTONA_MEMORY) / _GIB * _DAYTONA_GIB
