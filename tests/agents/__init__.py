"""Tests of bots, registry, arena and ratings."""
