"""OpenSpiel's information-set MCTS plays a round of Sting against players who choose at random.

pip install 'stinglab[trainers]' && python examples/openspiel_ismcts.py --games 10
"""

import argparse

import numpy as np
from open_spiel.python.algorithms import ismcts, mcts

from sting_env import StingGame
from tabletop.adapters.openspiel import SpielState, resampler


def make_bot(simulations, seed):
    """Return OpenSpiel's bot, its worlds dealt by our `determinize`: it sees what its player may see."""
    random = np.random.RandomState(seed)
    bot = ismcts.ISMCTSBot(
        game=None,
        evaluator=mcts.RandomRolloutEvaluator(1, random),
        uct_c=0.5,
        max_simulations=simulations,
        random_state=random,
        use_observation_string=True,
    )
    bot.set_resampler(resampler(seed))
    return bot


def main(games=4, simulations=50, seed=0, **options):
    """Return the mean payoff of the bot, which changes seats from game to game."""
    game = StingGame(**{"num_players": 2, "rounds": 1, "hand_size": 5} | options)
    bot, random = make_bot(simulations, seed), np.random.default_rng(seed)
    paid = []
    for number in range(games):
        state, seat = SpielState(game, seed + number // game.num_players), number % game.num_players
        while not state.is_terminal():
            mine = state.current_player() == seat
            state.apply_action(bot.step(state) if mine else random.choice(state.legal_actions()))
        paid.append(state.returns()[seat])
        print(f"game {number}: {paid[-1]:+.3f}", flush=True)
    print(f"mean payoff of {games} games: {np.mean(paid):+.3f}")
    return float(np.mean(paid))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
