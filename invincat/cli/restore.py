"""`invincat restore NAME ...`."""

from invincat.cli.retire import one_field_command

command = one_field_command("restore", "Undo a supersession or an archiving.")
