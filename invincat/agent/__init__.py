"""The assistant: the loop, its sessions, and the memory agent that learns from them."""
