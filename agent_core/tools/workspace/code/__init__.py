"""Python code of the model, run in the sandbox: its calls of tools come back to the gateway."""

from agent_core.tools.workspace.code.tool import EXECUTE_CODE, ExecuteCodeTool

__all__ = ["EXECUTE_CODE", "ExecuteCodeTool"]
