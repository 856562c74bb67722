"""The model's Python code, run in the sandbox: it can call tools through the gateway."""

from agent_core.tools.workspace.code.tool import EXECUTE_CODE, ExecuteCodeTool

__all__ = ["EXECUTE_CODE", "ExecuteCodeTool"]
