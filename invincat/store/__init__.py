"""Where memories are kept. The only place that knows dulwich, or runs git for storage."""
