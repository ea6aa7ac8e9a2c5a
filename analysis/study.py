"""A study from end to end: data where it is missing, then figures and tables, each with the command that makes it.

    stinglab study draw --part chart

A study has parts; each writes PNG, CSV and one Markdown page into a folder of its own. The same settings give the same
numbers. `analysis.datasets` says how the data is made and gone on with, `analysis.findings` what is read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena import compare
from agents.base import Array
from agents.registry import make_agent
from analysis import findings, hypotheses, pictures
from analysis.advise import position_json
from analysis.cards import Drawn
from analysis.cards import positions as draw_cards
from analysis.datasets import MEASURES, Data, Settings, positions
from analysis.findings import Cell, Judged
from analysis.pages import NUMBERS, Page, about, numbers, scaled, small_p, span
from analysis.plans import STANDARD, Plan
from analysis.questions import Question
from analysis.rollouts import pair, seat_agents
from analysis.statistics import Estimate, clustered_mean
from analysis.sting_draw import DRAW
from tabletop.files import write_whole
from tabletop.game import BatchGame

NEW_SEED = 1_000_000  # further on: positions that had no part in what is tested on them
NEW_STATES, NEW_WORLDS = 3000, 16  # at most
FRESH_SEED = 900_001  # of worlds that had no part in picking a position
FRESH_WORLDS = 2000
EXTREMES = 5  # positions for each arm


def run(plan: Plan, parts: Sequence[str] = ()) -> list[Path]:
    """Do some parts of a study, all if none are named, and return the pages written; ValueError for an unknown part."""
    known = parts_of(plan.question)
    for name in parts:
        if name not in known:
            raise ValueError(f"the study {plan.question.name!r} has no part {name!r}; parts are: {', '.join(known)}")
    pages = []
    for name in parts or known:
        page = Page(plan, name)
        known[name](plan, page)
        pages.append(page.write())
        plan.report(f"wrote {pages[-1]}")
    return pages


def parts_of(question: Question) -> dict[str, Callable[[Plan, Page], None]]:
    """Return the parts of a study by name."""
    left_out = set() if question is DRAW else {"hint", "threes"}
    if not STANDARD[question.name].arms:
        left_out.add("arms")
    return {name: part for name, part in PARTS.items() if name not in left_out}


# Parts ------------------------------------------------------------------------------------------------------------------


def chart_part(plan: Plan, page: Page) -> None:
    """Draw the chart of every player count, and say what pairing saves."""
    question = plan.question
    zero, one = question.arms
    page.say(
        f"Value of `{one}` less that of `{zero}` by {question.across.title} and {question.down.title}: share of the win in "
        "percentage points, and points more than the mean of the others. Above: wins. Below: points."
    )
    rows, cuts = [], []
    for n in plan.players:
        data = plan.main(n)
        cells = {m: findings.chart(data, m) for m in MEASURES}
        figure = pictures.chart(question, cells, f"{question.title} {n} players, {len(data):,} positions")
        page.figure(f"chart-{n}p", figure, f"{question.title} {n} players")
        rows += [cell_row(question, n, m, cell) for m in MEASURES for cell in cells[m]]
        cuts.append([str(n), f"{len(data):,}", f"{data.games:,}", *(f"{findings.cut(data, m):.2f}" for m in MEASURES)])
    head = ["players", "measure", question.across.feature, question.down.feature, *NUMBERS, "adjusted_p", "verdict"]
    page.table("cells", head, rows)
    page.say(
        "Both arms share their luck, seat by seat. So many times fewer worlds give the same error as if each arm were "
        "played in worlds of its own:"
    )
    page.show(["players", "positions", "games", "cut, wins", "cut, points"], cuts)


def cell_row(question: Question, players: int, measure: str, cell: Cell) -> list[Any]:
    """Return a cell as a row of a table."""
    verdict = "too close" if cell.verdict < 0 else question.arms[cell.verdict]
    across, down = question.across.names[cell.across], question.down.names[cell.down]
    return [players, measure, across, down, *numbers(cell.estimate), cell.adjusted, verdict]


def hint_part(plan: Plan, page: Page) -> None:
    """Test the rulebook's hint."""
    page.say(" ".join((hypotheses.__doc__ or "").split("\n\n")[1].split()))
    page.say("; ".join(f"**{name}** {words}" for name, words in hypotheses.WORDS.items()) + ".")
    sets = [plan.main(n) for n in plan.players]
    rows = []
    for measure in MEASURES:
        word, scale, unit = pictures.UNITS[measure]
        tested = hypotheses.test(sets, measure)
        page.say(f"**{word.capitalize()}**: D in {unit}, 95% interval; p by Holm over all in the table.")
        lines = [
            [
                t.name,
                str(t.players),
                span(t.estimate, scale),
                f"{t.estimate.positions:,}",
                small_p(t.adjusted),
                t.verdict,
            ]
            for t in tested
        ]
        page.show(["", "players", "D", "positions", "p", "verdict"], lines)
        rows += [[measure, t.name, t.players, *numbers(t.estimate), t.adjusted, t.verdict] for t in tested]
    page.table("hint", ["measure", "hypothesis", "players", *NUMBERS, "adjusted_p", "verdict"], rows)


def rules_part(plan: Plan, page: Page) -> None:
    """Judge the rules."""
    question = plan.question
    zero, one = question.arms
    page.say(
        f"Gain: against always `{zero}`. Loss: against the choice by rollouts, made on half the worlds and valued on the "
        "other; a rule can do better than that choice (a loss below 0), since it is noisy. Best thresholds and trees were "
        "fitted on half the games and valued on the other half. Losses of a game are those of its decisions added up, to "
        "first order: how a rule does that is always followed is measured in the part `arms`. Wins in percentage points."
    )
    tables: dict[int, list[Judged]] = {}
    rows, trees = [], []
    for n in plan.players:
        data = plan.main(n)
        tables[n] = findings.rule_table(data)
        page.say(f"**{about(data)}; {data.asked_per_game:.2f} such decisions for a player and game.**")
        each = data.asked_per_game
        lines = [judged_line(judged, each) for judged in tables[n]]
        head = ["rule", one, "k", "gain, wins", "loss, wins", "a game", "gain, points", "loss, points", "a game"]
        page.show(head, lines)
        rows += [row for judged in tables[n] for row in judged_rows(n, judged, each)]
        trees += [f"{n} players, {findings.MEASURE_WORDS[m]}\n{findings.tree_text(data, m)}" for m in MEASURES]
    page.figure("rules", pictures.rules(tables, question, f"{question.title} What rules gain"), "what rules gain")
    page.table("rules", ["players", "rule", "chosen", "k", "k_low", "k_high", "measure", "what", *NUMBERS], rows)
    page.say("The trees, fitted on all positions:")
    page.say("```text\n" + "\n".join(trees) + "\n```")


def judged_line(judged: Judged, each: float) -> list[str]:
    """Return a rule as a line to be read. each: decisions for a player and game."""
    limit = judged.threshold
    k = f"{limit.best} ({limit.low} to {limit.high})" if limit is not None else ""
    line = [judged.name, f"{100 * judged.chosen:.0f}%", k]
    for measure in MEASURES:
        scale = pictures.UNITS[measure][1]
        loss = judged.loss[measure]
        line += [span(judged.gain[measure], scale), span(loss, scale), span(scaled(loss, each), scale)]
    return line


def judged_rows(players: int, judged: Judged, each: float) -> list[list[Any]]:
    """Return a rule as rows of a table."""
    limit = judged.threshold
    k = [limit.best, limit.low, limit.high] if limit is not None else ["", "", ""]
    rows = []
    for m in MEASURES:
        for what, e in (
            ("gain", judged.gain[m]),
            ("loss", judged.loss[m]),
            ("loss_per_game", scaled(judged.loss[m], each)),
        ):
            rows.append([players, judged.name, judged.chosen, *k, m, what, *numbers(e)])
    return rows


def curves_part(plan: Plan, page: Page) -> None:
    """Draw the value of both arms."""
    question, rows = plan.question, []
    page.say("The value of both arms, with 95% intervals clustered by game, and below one less the other.")
    for measure in MEASURES:
        found = {n: findings.curves(plan.main(n), measure) for n in plan.players}
        word = pictures.UNITS[measure][0]
        page.figure(
            f"curves-{measure}", pictures.curves(question, found, measure, f"{question.title} Value in {word}"), word
        )
        for n, curve in found.items():
            for level, *estimates in curve:
                for what, e in zip((*question.arms, "difference"), estimates, strict=True):
                    rows.append([n, measure, question.across.names[level], what, *numbers(e)])
    page.table("curves", ["players", "measure", question.across.feature, "what", *NUMBERS], rows)


def arms_part(plan: Plan, page: Page) -> None:
    """Let agents that are alike but for the rule meet in duplicate deals."""
    question, agent = plan.question, plan.agent
    page.say(
        f"`{agent}` under a fixed rule against `{agent}` as it is, one against copies of the other, the same deals from "
        f"every seat ({plan.blocks:,} deals). A randomised experiment: nothing but the rule differs. Beside it, what the "
        "rollouts foretell where they can: the gains of all decisions of a game added up, to first order."
    )
    shown, rows = {}, []
    for n in plan.players:
        game = plan.settings(n).game(question)
        lines = []
        foretold = foretell(plan, plan.main(n)) if any(rule for _, rule in plan.standard.arms.values()) else {}
        for label, (option, rule) in plan.standard.arms.items():
            spec = f"{agent}:{option}"
            result = compare(game, [spec, agent], plan.blocks, plan.seed)
            found = result.pair(spec, agent)
            share = found.win_share
            win = Estimate(
                share.mean - 1 / n, 0, share.low - 1 / n, share.high - 1 / n, np.nan, plan.blocks, plan.blocks
            )
            paid = found.payoff
            margin = Estimate(paid.mean, 0, paid.low, paid.high, np.nan, plan.blocks, plan.blocks)
            lines.append((label, win, foretold.get(rule or "")))
            rows.append([n, label, spec, "measured", "win", win.mean, win.low, win.high])
            rows.append(
                [n, label, spec, "measured", "margin", *(100 * x for x in (margin.mean, margin.low, margin.high))]
            )
            if rule in foretold:
                e = foretold[rule]
                rows.append([n, label, spec, "foretold", "win", e.mean, e.low, e.high])
        shown[n] = lines
    page.figure("arms", pictures.arms(shown, f"{question.title} {agent} under a rule, against {agent}"), "arms")
    head = ["players", "rule", "measured", "foretold"]
    page.say("Share of wins less an equal share, in percentage points:")
    page.show(
        head,
        [
            [str(n), label, span(win, 100), span(e, 100) if e is not None else ""]
            for n, lines in shown.items()
            for label, win, e in lines
        ],
    )
    page.table("arms", ["players", "rule", "agent", "what", "measure", "mean", "low", "high"], rows)


def foretell(plan: Plan, data: Data) -> dict[str, Estimate]:
    """Return what each fixed rule gains in wins a game on the agent's own choice, to first order, by its name."""
    own = data.choice(plan.agent) == 1 if plan.agent in data.settings.policies else np.zeros(len(data), bool)
    difference = data.difference("win")
    return {
        name: scaled(clustered_mean(difference * (chosen.astype(float) - own), data.game_numbers), data.asked_per_game)
        for name, chosen in plan.question.rules(data.columns).items()
    }


def robustness_part(plan: Plan, page: Page) -> None:
    """Ask again under other continuations, populations and rules, and say what turns round."""
    question = plan.question
    page.say(
        "The same question in coarse cells: first as in the chart, then with games played, and played on, by another "
        "agent, without exploration on the way, and under other rules. A frame marks a cell whose answer is the opposite, "
        "both being clear of chance."
    )
    rows, turned = [], []
    for n in plan.players:
        data = plan.main(n)
        sets = {plan.agent: data} | {label: plan.make(settings) for label, settings in variants(plan, n).items()}
        names = list(question.groups(data.columns))
        for measure in MEASURES:
            found = {
                label: findings.strip(other, measure, question.groups(other.columns)) for label, other in sets.items()
            }
            word = pictures.UNITS[measure][0]
            figure = pictures.strips(question, names, found, measure, f"{question.title} {n} players, {word}")
            page.figure(f"robustness-{n}p-{measure}", figure, f"{n} players, {word}")
            base = found[plan.agent]
            turned += [
                [str(n), word, label, names[place]]
                for label, cells in found.items()
                for place in findings.flips(base, cells)
            ]
            rows += [
                [n, measure, label, names[c.across], *numbers(c.estimate), c.adjusted, verdict_of(question, c)]
                for label, cells in found.items()
                for c in cells
            ]
    page.say("What turns round:" if turned else "Nothing turns round.")
    if turned:
        page.show(["players", "measure", "variant", "cell"], turned)
    page.table("robustness", ["players", "measure", "variant", "cell", *NUMBERS, "adjusted_p", "verdict"], rows)


def verdict_of(question: Question, cell: Cell) -> str:
    """Return the better arm's name, or that it is too close."""
    return "too close" if cell.verdict < 0 else question.arms[cell.verdict]


def variants(plan: Plan, players: int) -> dict[str, Settings]:
    """Return the settings of all variants by label."""
    found = {f"played by {spec}": plan.smaller(players, spec) for spec in plan.continuations}
    found["no exploration"] = plan.smaller(players, plan.agent, explore=0.0)
    for label, options in plan.standard.variants.items():
        found[label] = plan.smaller(players, plan.agent, options=tuple(options.items()))
    return found


def agents_part(plan: Plan, page: Page) -> None:
    """Say how the policies choose, and where they disagree with rollouts."""
    question = plan.question
    one = question.arms[1]
    found: dict[int, Any] = {}
    rows, lines = [], []
    for n in plan.players:
        data = plan.main(n)
        found[n] = {spec: findings.behaviour(data, spec) for spec in plan.policies}
        rows += [
            [n, spec, question.across.names[level], *numbers(e)]
            for spec, curve in found[n].items()
            for level, e in curve
        ]
    page.say(f"How often each takes `{one}`, in the positions of the main study:")
    page.figure("agents", pictures.behaviour(question, found, f"{question.title} What agents do"), "what agents do")
    page.table("agents", ["players", "policy", question.across.feature, *NUMBERS], rows)
    rows = []
    for n in plan.players:
        for spec, data in own_data(plan, n).items():
            for part in findings.disagreement(data, spec):
                level = "all" if part.level is None else question.across.names[part.level]
                for what, e in (("differs", part.share), (one, part.chosen), *part.loss.items()):
                    rows.append([n, spec, level, what, *numbers(e)])
                if part.level is None:
                    losses = [(part.loss[m], pictures.UNITS[m][1]) for m in MEASURES]
                    cost = [span(e, scale) for e, scale in losses]
                    cost += [span(scaled(e, data.asked_per_game), scale) for e, scale in losses]
                    shares = [f"{100 * part.chosen.mean:.1f}%", f"{100 * part.share.mean:.0f}%"]
                    lines.append([str(n), spec, *shares, *cost])
    page.say(
        "Where a policy disagrees with rollouts, and what its choices lose against them. Each policy is judged in positions of "
        "its own games, played on by itself. Rollouts choose on half the worlds and are valued on the other half, so noise "
        "makes them disagree often and does not make the loss large."
    )
    page.show(
        ["players", "policy", one, "disagrees", "loss a decision, wins", "points", "loss a game, wins", "points"], lines
    )
    page.table("disagreement", ["players", "policy", question.across.feature, "what", *NUMBERS], rows)


def own_data(plan: Plan, players: int) -> dict[str, Data]:
    """Return for each policy a data set of its own games, played on by itself, as far as the study has one."""
    found = {plan.agent: plan.main(players)} if plan.agent in plan.policies else {}
    for spec in plan.policies:
        same = [other for other in plan.continuations if other.partition(":")[0] == spec.partition(":")[0]]
        if spec != plan.agent and same:
            found[spec] = plan.of_agent(players, same[0])
    return found


def positions_part(plan: Plan, page: Page) -> None:
    """Show the positions where the choice matters most, valued in new worlds."""
    question = plan.question
    zero, one = question.arms
    page.say(
        f"The {2 * EXTREMES} costliest decisions of the main study: where `{zero}` is better by most, and where `{one}` is, of "
        f"different games. They were picked by half their worlds for being extreme, so they are valued in {FRESH_WORLDS:,} "
        "others, which had no part in it."
    )
    rows = []
    for n in plan.players:
        data = plan.main(n)
        game = data.settings.game(question)
        low, high = findings.extremes(data, "win", EXTREMES)
        picked = np.concatenate([low, high])
        states = positions(question, data.settings, data.part(picked).columns)
        values = revalue(plan, game, states)
        first = data.difference("win", "first")[picked]
        for i, (win, margin) in enumerate(zip(*values, strict=True)):
            estimates = [clustered_mean(x, np.arange(len(x))) for x in (*win.T, win[:, 1] - win[:, 0], *margin.T)]
            name = f"{n}p-{i + 1:02d}"
            text = position_json(game, states[i])
            write_whole(plan.out / "positions" / f"{name}.json", text)
            ends = [x for e in estimates for x in (e.mean, e.low, e.high)]
            rows.append([n, i + 1, f"positions/{name}.json", first[i], *ends])
        draw_positions(plan, page, n, states, values)
    whats = [f"win_{zero}", f"win_{one}", "win_difference", f"margin_{zero}", f"margin_{one}"]
    columns = [f"{what}{end}" for what in whats for end in ("", "_low", "_high")]
    page.table("positions", ["players", "number", "file", "difference_when_picked", *columns], rows)
    page.say(f"Each is a file that `stinglab advise --position {plan.out.as_posix()}/positions/2p-01.json` reads.")


def revalue(plan: Plan, game: BatchGame, states: Array) -> tuple[Array, Array]:
    """Return win share and margin of both arms in new worlds: float64 [B, W, 2] each."""
    agents = seat_agents(game, (plan.agent,))
    swapper = make_agent(plan.standard.swapper or plan.agent, game)
    moves = plan.question.moves(game, states, swapper, np.zeros(len(states), np.uint64))
    worlds = min(FRESH_WORLDS, 32 * plan.worlds)
    found = pair(plan.question, game, states, moves, agents, worlds, FRESH_SEED + plan.seed)
    return found.win, found.margin


def draw_positions(plan: Plan, page: Page, n: int, states: Array, values: tuple[Array, Array]) -> None:
    """Show positions: as cards where the question has them, else as text."""
    question = plan.question
    if question is not DRAW:
        game = plan.settings(n).game(question)
        for i, state in enumerate(states):
            win = [clustered_mean(values[0][i, :, a], np.arange(len(values[0][i]))) for a in range(2)]
            ends = ", ".join(
                f"{name} {100 * e.mean:.0f} ± {100 * (e.high - e.mean):.0f}% of the win"
                for name, e in zip(question.arms, win, strict=True)
            )
            page.say(f"**{n} players, {i + 1}**: {ends}")
            page.say("```text\n" + game.to_text(state, int(state["current_player"])) + "\n```")
        return
    each = np.arange(values[0].shape[1])
    drawn = []
    for i, state in enumerate(states):
        win, margin = (v[i] for v in values)
        difference = clustered_mean(win[:, 1] - win[:, 0], each)
        drawn.append(
            Drawn(
                state,
                f"{i + 1}. {better(question, difference)}",
                (clustered_mean(win[:, 0], each), clustered_mean(win[:, 1], each)),
                (clustered_mean(margin[:, 0], each), clustered_mean(margin[:, 1], each)),
            )
        )
    figure = draw_cards(drawn, f"{question.title} {n} players: the costliest decisions")
    page.figure(f"positions-{n}p", figure, f"{n} players: the costliest decisions")


def better(question: Question, difference: Estimate) -> str:
    """Say which arm is better by how much of the share of wins, or that it is too close."""
    size, half = 100 * abs(difference.mean), 100 * (difference.high - difference.mean)
    if difference.low <= 0 <= difference.high:
        return (
            f"too close to tell ({pictures.signed(100 * difference.mean, 0)} ± {half:.0f} points of the share of wins)"
        )
    return f"{question.arms[int(difference.mean > 0)]} is better by {size:.0f} ± {half:.0f} points of the share of wins"


def threes_part(plan: Plan, page: Page) -> None:
    """Test on new positions what the chart of the main study suggested."""
    page.say(
        "Seen in the chart, not written down before: when stuck, two is good with 2 and 5 cards and bad with 1, 3 and 4. It "
        "takes three cards for a set or run and one to discard, so that a hand of 2 or 5 with two cards more can go out to "
        "the last card. What is found by looking has to be tested on other data: here are new positions (another seed), on "
        "which nothing was chosen."
    )
    rows, lines = [], []
    for n in plan.players:
        states, worlds = min(plan.states, NEW_STATES), min(plan.worlds, NEW_WORLDS)
        data = plan.make(plan.settings(n, seed=plan.seed + NEW_SEED, states=states, worlds=worlds))
        hand, stuck = data.columns["hand_size"], data.columns["stuckness"] > 0
        parts = {
            "stuck with 2 or 5": stuck & ((hand == 2) | (hand == 5)),
            "stuck with 1, 3 or 4": stuck & ((hand == 1) | (hand == 3) | (hand == 4)),
        }
        for measure in MEASURES:
            scale = pictures.UNITS[measure][1]
            found = {name: findings.mean_of(data, data.difference(measure), where) for name, where in parts.items()}
            gain = np.where(parts["stuck with 2 or 5"], data.difference(measure), 0.0)
            found["rule: two when stuck with 2 or 5, gain on always one, a decision"] = clustered_mean(
                gain, data.game_numbers
            )
            lines += [
                [str(n), pictures.UNITS[measure][0], name, span(e, scale), f"{e.positions:,}"]
                for name, e in found.items()
            ]
            rows += [[n, measure, name, *numbers(e)] for name, e in found.items()]
    page.show(["players", "measure", "what", "two less one", "positions"], lines)
    page.table("threes", ["players", "measure", "what", *NUMBERS], rows)


PARTS: dict[str, Callable[[Plan, Page], None]] = {
    "chart": chart_part,
    "hint": hint_part,
    "rules": rules_part,
    "threes": threes_part,
    "curves": curves_part,
    "arms": arms_part,
    "robustness": robustness_part,
    "agents": agents_part,
    "positions": positions_part,
}
