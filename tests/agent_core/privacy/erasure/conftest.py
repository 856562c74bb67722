"""The bare connection of the state's tests."""

from tests.agent_core.state.conftest import connection

__all__ = ["connection"]
