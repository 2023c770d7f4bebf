"""Search over memories. The only place that knows Whoosh."""
