"""Code that several platforms share: text, Markdown, options, HTTP, backoff and caches."""
