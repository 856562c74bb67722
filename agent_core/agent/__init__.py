"""The agent: prepares, runs, resumes and finalizes turns.

Its parts are the loop of a turn, the prompt, compaction, quotas and the replay of past turns.
"""
