"""A model as a service: the calculator, and a JSON API on FastAPI and uvicorn.

rows       parsing and validation of the rows of a request
contract   the API as OpenAPI and as a page
traffic    counts of scored rows by level, for /metrics
served     a loaded model with its responses, reloaded when its file changes
log        one JSON line for each request
app        `make_app`: routes and limits as an ASGI application
routes     the handlers of all routes
limits     limits on host names, connections, and the time that a body may take
http       uvicorn's server with limits on requests, and a shutdown that loses no request
server     `serve`: serves a model file on a socket, in one process or several
"""

from weigh.serving.app import make_app
from weigh.serving.log import Log
from weigh.serving.server import serve

__all__ = ["Log", "make_app", "serve"]
