"""The picture: what one append costs as the store grows, all contenders, both axes by tens."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING

from bench import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from bench.measure import Cell

INK, QUIET, RULE = "#1f2933", "#6b7785", "#e4e7eb"
COLOURS = {
    report.JOURNAL: "#0b6e4f",
    report.RAW: "#3d5a80",
    report.LINES: "#8a6d3b",
    report.LANGGRAPH: "#9a5b9f",
    report.LANGGRAPH_FULL: "#b57edc",
    report.ARRAY: "#c8553d",
}
_LINE = 0.038  # a label's height, as a part of the picture's


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Draw and save."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9.6, 5.6), dpi=160, layout="constrained")
    figure.set_facecolor("white")
    axes.set_xscale("log")
    axes.set_yscale("log")
    curves = {name: _curve(cells, name) for name in COLOURS}
    for name, curve in curves.items():
        _draw_curve(axes, name, curve)
    _dress(axes, curves)
    _label(axes, curves)
    figure.savefig(path)
    plt.close(figure)


def _curve(cells: Iterable[Cell], name: str) -> list[tuple[int, float]]:
    return sorted((cell.size, cell.cost_us) for cell in cells if cell.name == name)


def _draw_curve(axes: Axes, name: str, curve: list[tuple[int, float]]) -> None:
    ours = name == report.JOURNAL
    axes.plot(
        *zip(*curve, strict=True),
        color=COLOURS[name],
        linewidth=3.2 if ours else 1.6,
        marker="o",
        markersize=7 if ours else 4.5,
        linestyle=(0, (4, 2)) if name == report.LANGGRAPH_FULL else "-",
        zorder=3 if ours else 2,
        solid_capstyle="round",
    )


def _label(axes: Axes, curves: dict[str, list[tuple[int, float]]]) -> None:
    """Name every curve at its right end, pushed apart where ends meet."""
    widest = max(curve[-1][0] for curve in curves.values())
    ends = sorted((curve[-1][1], name) for name, curve in curves.items() if curve[-1][0] == widest)
    bottom, top = axes.get_ylim()
    gap = (top / bottom) ** _LINE
    below = 0.0
    for cost, name in ends:
        at = max(cost, below * gap)
        below = at
        _write(axes, f"{name}  {_cost(cost)}", (widest, cost), (widest * 1.35, at), name)
    for name, curve in curves.items():
        size, cost = curve[-1]
        if size != widest:
            text = f"{name}  {_cost(cost)}\nnot measured beyond {size:,}"
            _write(axes, text, (size, cost), (size * 1.25, cost), name)


def _write(
    axes: Axes, text: str, end: tuple[float, float], at: tuple[float, float], name: str
) -> None:
    axes.annotate(
        text,
        xy=end,
        xytext=at,
        color=COLOURS[name],
        fontsize=10 if name == report.JOURNAL else 9,
        fontweight="bold" if name == report.JOURNAL else "normal",
        verticalalignment="center",
        annotation_clip=False,
        arrowprops={
            "arrowstyle": "-",
            "color": COLOURS[name],
            "linewidth": 0.6,
            "relpos": (0, 0.5),  # from the label's edge, not through the one below
        },
    )


def _cost(us: float) -> str:
    return f"{us:,.0f} µs" if us < 1_000 else f"{us / 1_000:,.3g} ms"


def _dress(axes: Axes, curves: dict[str, list[tuple[int, float]]]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_title(
        "What one durable append costs as the store grows",
        loc="left",
        color=INK,
        fontsize=13,
        fontweight="bold",
        pad=14,
    )
    axes.set_xlabel("records already stored", color=QUIET)
    axes.set_ylabel("time per append, synced to disk (lower is better)", color=QUIET)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _cost(y)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, which="major", color=RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(RULE)
    axes.tick_params(colors=QUIET, which="both", length=0)
    costs = [cost for curve in curves.values() for _, cost in curve]
    axes.set_ylim(10 ** floor(log10(min(costs))), 10 ** ceil(log10(max(costs) * 1.3)))
