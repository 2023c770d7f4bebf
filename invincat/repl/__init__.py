"""The built-in assistant in a terminal: one file per prompt-toolkit seam (ASSISTANT "REPL")."""
