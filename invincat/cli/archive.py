"""`invincat archive NAME ...`."""

from invincat.cli.retire import one_field_command

command = one_field_command("archive", "Retire memories; nothing takes their place.")
