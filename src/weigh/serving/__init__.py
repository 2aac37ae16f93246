"""A model as a service: the calculator, and a JSON API on FastAPI and uvicorn.

lookup     one row scored without a table
rows       what comes in, checked
contract   OpenAPI, and a page of it
served     a model with all that is answered from it
watch      the model in use, and its file
log        one JSON line for each request
app        `make_app`: routes and limits
server     `serve`: a socket, signals, and a stop that loses nothing
"""

from weigh.serving.app import make_app
from weigh.serving.log import Log
from weigh.serving.server import serve

__all__ = ["Log", "make_app", "serve"]
