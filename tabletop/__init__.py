"""Batched tabletop games: what does not know which game is played.

`game` holds the protocol every game follows, `loops` the lane loops bound to a game's kernels, `seeding` the random
streams, `records` game records, `conformance` the checks that anybody's game can be put through, `adapters` the
interfaces of other libraries.
"""

from tabletop.game import BatchGame, GameSpec, IllegalActionError, PositionError
from tabletop.state import NO_PLAYER

__all__ = ["NO_PLAYER", "BatchGame", "GameSpec", "IllegalActionError", "PositionError"]
