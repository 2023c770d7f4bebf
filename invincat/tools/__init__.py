"""What the assistant can do: tools with typed arguments and bounded results (ASSISTANT "Tools")."""
