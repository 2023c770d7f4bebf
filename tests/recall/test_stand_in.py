"""What Whoosh need not load is not loaded, and is whole for everybody else."""

import subprocess
import sys

PROGRAM = """
import sys
import invincat.recall.index
assert not {"ssl", "asyncio", "http.client"} & sys.modules.keys(), "loaded"
import urllib.request
from urllib.request import urlretrieve
urlretrieve("data:,x")
from urllib.request import Request, getproxies
from urllib import request
assert urllib.request.Request is request.Request is Request
assert urllib.request.urlretrieve.__module__ == "urllib.request"
"""


def test_a_search_loads_no_client_and_who_wants_one_gets_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
