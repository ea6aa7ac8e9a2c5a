"""Stingy, the tile game, as an environment."""
