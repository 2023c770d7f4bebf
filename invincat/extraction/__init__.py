"""What people and repositories say, read without a model: text in, operations out. Pure."""
