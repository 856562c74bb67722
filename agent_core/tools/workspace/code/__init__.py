"""The model's Python code, run in the sandbox: it can call tools through the gateway."""
