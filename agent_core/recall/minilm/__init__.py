"""The embedding model all-MiniLM-L6-v2, run on the CPU from installed packages."""

from agent_core.recall.minilm.embedder import create

__all__ = ["create"]
