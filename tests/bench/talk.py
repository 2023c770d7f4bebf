"""`python -m tests.bench.talk`: what talking costs beside the model, which here answers at once.

Four numbers, p50 and p95: from start to the first request of `invincat -p` (a process; the SDK's import alone stands
beside it), from start to a desk that takes a prompt, from a turn's begin to its first token, and from the last token
to a prompt that is usable while an extraction of 5 s is under way.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from invincat.agent.events import Text
from invincat.desk import Desk, Models
from tests.bench import report
from tests.bench.place import Place, build, sealed
from tests.bench.report import Row, Yardstick
from tests.bench.timing import Processes, Sample
from tests.fakes.answers import Answer, chat
from tests.fakes.openai_server import OpenAIServer, Request

MEMORY = "memory-model"
EXTRACTION = 5.0
# A process that opens a desk and ends: what a person waits for before the prompt.
OPENED = """
import asyncio, os, sys, time
from invincat.app import App
from invincat.desk import Desk, Models
async def main():
    desk = Desk(app := App.at(), Models.chosen(None, app.settings))
    await desk.open()
    sys.stdout.write(f"{time.time()}\\n")
    sys.stdout.flush()
    os._exit(0)
asyncio.run(main())
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments, measure, print one table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.talk", description=__doc__)
    parser.add_argument("--runs", type=int, default=21, metavar="N")
    parser.add_argument("--memories", type=int, default=1000, metavar="N", help="memories in the store")
    asked = parser.parse_args(arguments)
    before = report.load()
    with tempfile.TemporaryDirectory(prefix="invincat-bench-") as folder, sealed(Path(folder)):
        place = build(Path(folder) / "repo", asked.memories, 20)
        with OpenAIServer() as server, Processes() as processes:
            server.always(lambda request: chat("Hello, Ada.", piece=0))
            rows = [*_processes(place, server, processes, asked.runs), *_desk(place, server, asked.runs)]
    print(f"{report.machine()}; load {before} before, {report.load()} after; `!` is above its target\n")
    print(report.table(rows))


def _processes(place: Place, server: OpenAIServer, processes: Processes, runs: int) -> list[Row]:
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "key-0123456789abcdef",
        "OPENAI_MODEL": "talk-model",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    first, opened = Sample(), Sample()
    for number in range(runs + 1):
        arrived = len(server.requests)
        began = time.time()
        command = [sys.executable, "-P", "-m", "invincat", "-p", "ok"]
        with subprocess.Popen(
            command, cwd=place.root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as process:
            while len(server.requests) == arrived:
                time.sleep(0.001)
            seconds = time.time() - began
            process.wait()
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"began = {time.time()}{OPENED}"],
            cwd=place.root,
            env=environment,
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if number:  # the first one warms the caches
            first.seconds.append(seconds)
            opened.seconds.append(float(done.stdout) - float(done.args[3].split()[2]))
    sdk = processes.measure(runs, [sys.executable, "-P", "-c", "import openai"], place.root)
    for sample in (first, opened):
        sample.cpu.append(0.0)
    return [
        Row("talk", place.label, "start to first request", first, Yardstick("import openai", sdk)),
        Row("talk", place.label, "start to a desk that takes a prompt", opened, target=400.0),
    ]


def _desk(place: Place, server: OpenAIServer, runs: int) -> list[Row]:
    token, usable, gaps = Sample(cpu=[0.0]), Sample(cpu=[0.0]), Sample(cpu=[0.0])
    asyncio.run(_talk(Desk(place.app(), _models(server, "talk-model")), runs, token))
    server.always(_slow_memory)
    asyncio.run(_learn(Desk(place.app(), _models(server, MEMORY)), server, runs, usable, gaps))
    return [
        Row("talk", place.label, "turn's begin to first token", token, target=30.0),
        Row("talk", place.label, f"last token to usable, extraction of {EXTRACTION:g} s", usable, target=50.0),
        Row("talk", place.label, "event loop's longest hold-up in a turn beside it", gaps),
    ]


def _models(server: OpenAIServer, memory: str) -> Models:
    return Models("talk-model", memory, "key-0123456789abcdef", server.base_url)


def _slow_memory(request: Request) -> Answer:
    if request.body["model"] != MEMORY:
        return chat("Hello, Ada.", piece=0)
    whole = chat(json.dumps({"operations": []}), piece=1)
    size = -(-len(whole.render(request.body)) // 50)
    return replace(whole, write=size, pause=EXTRACTION / 50)


async def _talk(desk: Desk, runs: int, token: Sample) -> None:
    await desk.open()
    await _turn(desk, "ok", Sample())  # loads the SDK and connects
    for _ in range(runs):
        await _turn(desk, "ok", token)
    await desk.close(0.0)


async def _learn(desk: Desk, server: OpenAIServer, runs: int, usable: Sample, gaps: Sample) -> None:
    """The first turn starts an extraction; from its last token on the prompt is there when the turn is over."""
    await desk.open()
    await _turn(desk, "ok", Sample())
    for number in range(runs):
        ticks: list[float] = []
        ticking = asyncio.create_task(_tick(ticks))
        last = await _turn(desk, f"We always run the tests through nox, says number {number}", Sample())
        await desk.counts()  # the status bar
        usable.seconds.append(time.perf_counter() - last)
        await asyncio.sleep(0.05)
        ticking.cancel()
        gaps.seconds.append(max(ticks, default=0.0))
        assert desk.remembering()
    await desk.close(0.0)


async def _turn(desk: Desk, text: str, token: Sample) -> float:
    """When its last token came; the time to its first one is added to `token`."""
    began, last = time.perf_counter(), 0.0
    async with aclosing(desk.turn(text)) as events:
        async for event in events:
            if isinstance(event, Text):
                if not last:
                    token.seconds.append(time.perf_counter() - began)
                last = time.perf_counter()
    return last


async def _tick(ticks: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        ticks.append(time.perf_counter() - began - 0.001)


if __name__ == "__main__":
    main()
