"""`invincat delete NAME ...`."""

from invincat.cli.retire import one_field_command

command = one_field_command(
    "delete", "Delete memories that were wrong. The history stays in git, the name becomes free."
)
