"""The domain: memories, their states, the operations on them. Pure: no clock, no disk, no git."""
