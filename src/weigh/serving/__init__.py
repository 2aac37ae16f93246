"""A model as a service: the calculator, and a JSON API on FastAPI and uvicorn.

rows       what comes in, checked
contract   OpenAPI, and a page of it
served     a model with all that is answered from it
log        one JSON line for each request
app        `make_app`: routes and limits
routes     what each address answers
hosts      host names that are answered for
limits     who may stay connected, and how long a body may take
connections  the HTTP of a connection, within bounds
server     `serve`: a model file on a socket
process    the process that serves, its signals and its end
workers    several such processes
"""

from weigh.serving.app import make_app
from weigh.serving.log import Log
from weigh.serving.server import serve

__all__ = ["Log", "make_app", "serve"]
