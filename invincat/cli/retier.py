"""`invincat retier NAME ... --tier TIER`."""

import click

from invincat.cli.options import Among
from invincat.cli.retire import one_field_command
from invincat.memory.entry import Tier

command = one_field_command(
    "retier",
    "Set the tier of memories; the score is clamped into its band.",
    click.option("--tier", required=True, type=Among(Tier)),
)
