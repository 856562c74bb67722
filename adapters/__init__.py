"""Chat platforms behind one contract; knows nothing of the agent.

`contract` holds the duties of a platform, `abilities` its optional abilities, `messages` what
passes between platform and gateway. Each sub-package with an `adapter` module is one platform.
"""
