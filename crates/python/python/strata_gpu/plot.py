"""Charts by Vega-Lite, drawn without a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._native import StrataError
from .compare import Comparison, of_results
from .result import Result

#: Colours that are told apart by eyes of every kind: Okabe and Ito, "Color Universal Design", 2008.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8c8c8c", "#B8A800"]


def altair():
    """Altair, set to draw by itself."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise StrataError(f"plots need {error.name}, expected `pip install 'strata-gpu[plot]'`") from error
    # SVG by vl-convert: notebooks show it without fetching a script.
    altair.renderers.enable("svg")
    return altair


def plot(what: Comparison | Mapping[Any, Result], metric: str | None = None, *, x: str | None = None, title: str = ""):
    """Draws a metric of a comparison, or of runs under names: `strata.plot({"a": one, "b": other}, "cycles")`.

    A comparison with a swept key of numbers is drawn as lines over that key, any other as bars. `x` names the column across. What
    else differs is told by colour and by panels. Returns an Altair chart, which `save("chart.svg")` writes.
    """
    alt = altair()
    if isinstance(what, Mapping):
        what = of_results(what, metric or "cycles")
    metric = metric or what.metrics[0]
    if metric not in what.metrics:
        raise StrataError(f"plot: found no metric `{metric}`, expected one of {', '.join(what.metrics)}")
    varied = [name for name, values in what.axes.items() if len(values) > 1] or [next(iter(what.axes))]
    swept = [name for name in varied if all(isinstance(value, (int, float)) for value in what.axes[name])]
    across = x or (swept[0] if swept else varied[0])
    if across not in what.axes:
        raise StrataError(f"plot: x: found `{across}`, expected one of {', '.join(what.axes)}")
    others = [name for name in varied if name != across]
    rows = [row for row in what.rows() if row[metric] is not None]
    data = alt.Data(values=[{plain(name): value for name, value in row.items() if name != "missing"} for row in rows])
    lines = across in swept
    order = [str(value) for value in what.axes[across]]
    chart = alt.Chart(data, title=title) if title else alt.Chart(data)
    chart = chart.mark_line(point=True, color=COLOURS[0]) if lines else chart.mark_bar(color=COLOURS[0])
    measure = alt.Y(f"{plain(metric)}:Q", title=metric)
    encoding: dict[str, Any] = {"y": measure, "tooltip": [f"{plain(name)}:N" for name in [*varied, metric]]}
    kind = "O" if lines else "N"
    axis = alt.Axis(labelAngle=0 if sum(map(len, order)) < 60 else -40)
    encoding["x"] = alt.X(f"{plain(across)}:{kind}", title=across, sort=what.axes[across] if lines else order, axis=axis)
    if others:
        colour = others[-1]
        names = [str(value) for value in what.axes[colour]]
        scale = alt.Scale(range=COLOURS)
        encoding["color"] = alt.Color(f"{plain(colour)}:N", title=colour, sort=names, scale=scale)
        if not lines:
            encoding["xOffset"] = alt.XOffset(f"{plain(colour)}:N", sort=names)
    chart = chart.encode(**encoding).properties(width=300 if lines else alt.Step(18 if others else 60), height=220)
    if len(others) > 1:
        chart = chart.facet(f"{plain(others[0])}:N", columns=3)
    return chart


def plain(name: str) -> str:
    """A column's name without what Vega-Lite reads as a path or an expression."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)
