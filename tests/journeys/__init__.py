"""Stories that a person would live: the real house and the real SDKs between emulated servers."""
