"""Sting, floor by floor: rule examples, reference, golden games, invariants, texts, errors."""
