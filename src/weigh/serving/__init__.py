"""A model as a service: the calculator, and a JSON API on FastAPI and uvicorn.

rows       what comes in, checked
contract   OpenAPI, and a page of it
traffic    counts of scored rows by level, and /metrics
served     a model with all that is answered from it
log        one JSON line for each request
app        `make_app`: routes and limits
routes     what each address answers
limits     who is answered: host names, connections, and how long a body may take
http       uvicorn's server and connections, within bounds, with a stop that loses no request
server     `serve`: a model file on a socket, in one process or several
"""

from weigh.serving.app import make_app
from weigh.serving.log import Log
from weigh.serving.server import serve

__all__ = ["Log", "make_app", "serve"]
