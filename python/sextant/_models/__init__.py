"""Models: loaded, made, trained."""
