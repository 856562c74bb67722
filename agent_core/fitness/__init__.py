"""The fitness test: small tasks that show what a model can be trusted with.

Code judges every answer, never another model. Reviews and skills are asked for with the product's
own prompts, and their answers pass the product's own checks.
"""
