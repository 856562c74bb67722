"""Chat platforms behind one contract; independent of the agent.

`contract` holds the duties of a platform, `abilities` its optional abilities, `messages` the values
that pass between platform and gateway. Each sub-package with an `adapter` module is one platform.
"""
