"""The application of the API: its routes, its errors and its OpenAPI description."""

from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agent_core.errors import StoreError
from gateway.app.gateway import Gateway
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.clients import ERRORS
from gateway.interfaces.api.errors import answer_http, answer_invalid
from gateway.interfaces.api.events import add_events
from gateway.interfaces.api.requests import Requests
from gateway.interfaces.api.resources.replies import TaggedRoute
from gateway.interfaces.api.resources.routes import add_resources
from gateway.interfaces.api.responses import answer_store_error
from gateway.interfaces.api.routes import add_api


def make_api(gateway: Gateway, access: ApiAccess) -> FastAPI:
    """Make the application that serves `/api/` and `/v1/`."""
    requests = Requests(gateway)
    api = APIRouter(prefix="/api", responses=ERRORS, route_class=TaggedRoute)
    add_resources(api, gateway, requests)
    add_events(api, gateway, access)
    application = FastAPI(
        title="Talaria",
        version=version("talaria"),
        routes=api.routes,  # `include_router` would analyse each route again
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers={
            StoreError: answer_store_error,
            HTTPException: answer_http,
            RequestValidationError: _answer_invalid,
        },
    )
    application.state.access = access
    add_api(application, gateway, requests)
    application.add_route("/api/openapi.json", lambda _: JSONResponse(application.openapi()))
    return application


async def _answer_invalid(_: Request, error: Exception) -> Response:
    """Name the first wrong field; never repeat what the client sent."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it alone
    return answer_invalid(error.errors()[0])
