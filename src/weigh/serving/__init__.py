"""A model as a service: the calculator, and a JSON API on FastAPI and uvicorn.

rows       what comes in, checked
contract   OpenAPI, and a page of it
served     a model with all that is answered from it
reloading  the model in use, and its file
log        one JSON line for each request
body       a request's bytes, within limits of size and time
routes     what is answered to whom
app        `make_app`: routes and limits
limits     who may stay connected
process    signals, and a stop that loses nothing
server     `serve`: a model file on a socket
"""

from weigh.serving.app import make_app
from weigh.serving.log import Log
from weigh.serving.server import serve

__all__ = ["Log", "make_app", "serve"]
