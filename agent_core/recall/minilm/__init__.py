"""all-MiniLM-L6-v2 as an embedding model: small, on the processor, from installed packages."""

from agent_core.recall.minilm.embedder import create

__all__ = ["create"]
