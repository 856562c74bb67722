"""External memory: a durable queue to one provider, and a cache of what it recalls."""
