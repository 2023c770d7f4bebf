"""`invincat rescore NAME ... --score N`."""

import click

from invincat.cli.retire import one_field_command

command = one_field_command(
    "rescore",
    "Set the score of memories; the tier follows.",
    click.option("--score", required=True, type=int, metavar="0..100"),
)
