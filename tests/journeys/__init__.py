"""Stories that a person would live: the real gateway and the real SDKs between emulated servers."""
