"""A model as a service: the calculator, and a JSON API on FastAPI and uvicorn.

requests   parsing and validation of the rows of a request
contract   the API as OpenAPI and as a page
records    the log, and counts of scored rows by level for /metrics
loaded     a loaded model with its responses, reloaded when its file changes
app        `make_app`: routes as an ASGI application, and checks of hosts and bodies
routes     the handlers of all routes
http       uvicorn's server with limits on clients, and a shutdown that loses no request
server     `serve`: serves a model file on a socket, in one process or several
"""

from weigh.serving.app import make_app
from weigh.serving.records import Log
from weigh.serving.server import serve

__all__ = ["Log", "make_app", "serve"]
