"""Guided mode: forced decisions for models that can't call tools, or do it badly."""
