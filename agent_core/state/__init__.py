"""The database: its engine, and one module of queries for each table or purpose.

Import the modules as namespaces: `from agent_core.state.queues import outbox`.
"""
