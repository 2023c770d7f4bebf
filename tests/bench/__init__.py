"""How long things take, each beside a yardstick of the same run: `python -m tests.bench`. A command, not tests."""
