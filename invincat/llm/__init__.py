"""Talking to models: messages, the client contract, and its two implementations (ASSISTANT "Talking to models")."""
