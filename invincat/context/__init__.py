"""What a model is told: pure shaping of text."""
