"""Pure rules over proposals: what may become a memory, and what is refused, and why."""
