"""Tools of foreign MCP servers: connections, pinned descriptions, and results.

Only the modules that speak the protocol import the SDK. They are loaded when the first server is
configured.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.mcp.accounts import SendLink as SendLink
    from agent_core.tools.mcp.accounts import SignInOutcome as SignInOutcome
    from agent_core.tools.mcp.calls import CallHooks as CallHooks
    from agent_core.tools.mcp.calls import RunningCall as RunningCall
    from agent_core.tools.mcp.contract import EVERYONE as EVERYONE
    from agent_core.tools.mcp.contract import AccountFiles as AccountFiles
    from agent_core.tools.mcp.contract import CallOutcome as CallOutcome
    from agent_core.tools.mcp.contract import ForeignTool as ForeignTool
    from agent_core.tools.mcp.contract import Listing as Listing
    from agent_core.tools.mcp.contract import McpServer as McpServer
    from agent_core.tools.mcp.contract import McpSession as McpSession
    from agent_core.tools.mcp.contract import McpUnavailable as McpUnavailable
    from agent_core.tools.mcp.contract import OpenSession as OpenSession
    from agent_core.tools.mcp.contract import Surroundings as Surroundings
    from agent_core.tools.mcp.forms import Field as Field
    from agent_core.tools.mcp.forms import Form as Form
    from agent_core.tools.mcp.forms import FormAnswer as FormAnswer
    from agent_core.tools.mcp.forms import PageLink as PageLink
    from agent_core.tools.mcp.forms import Value as Value
    from agent_core.tools.mcp.hub import McpServers as McpServers
    from agent_core.tools.mcp.hub import Notify as Notify
    from agent_core.tools.mcp.hub import ServerReport as ServerReport
    from agent_core.tools.mcp.listing import combine as combine
    from agent_core.tools.mcp.listing import dump_listing as dump_listing
    from agent_core.tools.mcp.listing import name_tool as name_tool
    from agent_core.tools.mcp.loading import load_sessions as load_sessions
    from agent_core.tools.mcp.offers import name_command as name_command
    from agent_core.tools.mcp.pins import Digests as Digests
    from agent_core.tools.mcp.pins import Judged as Judged
    from agent_core.tools.mcp.pins import Pins as Pins
    from agent_core.tools.mcp.pins import accept_tools as accept_tools
    from agent_core.tools.mcp.pins import forget_server as forget_server
    from agent_core.tools.mcp.pins import judge as judge
    from agent_core.tools.mcp.pins import list_digests as list_digests
    from agent_core.tools.mcp.pins import read_pins as read_pins
    from agent_core.tools.mcp.schema import reduce_schema as reduce_schema
    from agent_core.tools.mcp.sign_in import SignInFault as SignInFault
    from agent_core.tools.mcp.sign_in import SignInUnavailable as SignInUnavailable
    from agent_core.tools.mcp.sign_ins import SignInReport as SignInReport
    from agent_core.tools.mcp.sign_ins import SignIns as SignIns
    from agent_core.tools.mcp.sign_ins import clear_tokens as clear_tokens
    from agent_core.tools.mcp.supervisor import McpConnection as McpConnection
    from agent_core.tools.mcp.supervisor import Timings as Timings
    from agent_core.tools.mcp.token_files import TokenFolder as TokenFolder
    from agent_core.tools.mcp.token_files import make_key as make_key
    from agent_core.tools.mcp.tool import FormAsker as FormAsker
else:
    __getattr__ = export_lazily(__name__, __file__)
