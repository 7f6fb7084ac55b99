"""Searches of a design space, by Optuna."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from math import exp, inf, log
from typing import Any

from . import _native, _progress
from .compare import measure, named
from .errors import Cancelled
from .machine import names, overrides
from .program import Program

StrataError = _native.StrataError

#: Points that are asked for together. It does not depend on the host, so that a seed gives the same search everywhere.
BATCH = 8


class Front:
    """What a search has found. `to_arrow()` gives a row for each point: the keys' values, the objectives, the constrained metrics,
    `feasible`, `front` for those that no other feasible point beats, and `missing` with the reason of a point without numbers."""

    def __init__(self, study, keys: list[str], objectives: Mapping[str, str], constraints: Sequence[str]):
        self.study = study
        self.objectives = dict(objectives)
        self.keys = keys
        done = [trial for trial in study.trials if trial.state.is_finished()]
        best = {trial.number for trial in pareto(done, list(objectives.values()))}
        columns: list[tuple[str, list]] = [("point", [trial.number for trial in done])]
        columns += [(key, [trial.params.get(key) for trial in done]) for key in keys]
        for name in dict.fromkeys([*objectives, *constraints]):
            columns.append((name, [trial.user_attrs.get("metrics", {}).get(name) for trial in done]))
        columns.append(("feasible", [feasible(trial) for trial in done]))
        columns.append(("front", [trial.number in best for trial in done]))
        columns.append(("missing", [trial.user_attrs.get("missing") for trial in done]))
        self._table = _native.Table.joined(columns, None)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each point."""
        columns = self._table.to_pydict()
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    @property
    def best(self) -> list[dict[str, Any]]:
        """The points of the Pareto front, by the first objective, best first."""
        first, direction = next(iter(self.objectives.items()))
        rows = [row for row in self.rows() if row["front"]]
        return sorted(rows, key=lambda row: row[first], reverse=direction == "max")

    def to_arrow(self) -> _native.Table:
        """The points as a table."""
        return self._table

    def to_pandas(self):
        """The points as a pandas DataFrame; needs pandas and pyarrow."""
        return self._table.to_pandas()

    def plot(self, x: str | None = None, y: str | None = None):
        """Two objectives against each other as an Altair chart: the front as a line, other points behind it."""
        from .plot import COLOURS, altair, plain

        alt = altair()
        known = list(self.objectives)
        x, y = x or known[0], y or known[min(1, len(known) - 1)]
        for name in (x, y):
            if name not in self._table.columns:
                raise StrataError(f"plot: found no `{name}`, expected one of {', '.join(self._table.columns)}")
        rows = [row for row in self.rows() if row[x] is not None and row[y] is not None]
        kind = lambda row: "front" if row["front"] else "feasible" if row["feasible"] else "breaks a constraint"  # noqa: E731
        values = [{plain(name): value for name, value in {**row, "kind": kind(row)}.items()} for row in rows]
        shown = [name for name in [*self.keys, *known] if name in self._table.columns]
        base = alt.Chart(alt.Data(values=values)).encode(
            x=alt.X(f"{plain(x)}:Q", title=x, scale=alt.Scale(zero=False)),
            y=alt.Y(f"{plain(y)}:Q", title=y, scale=alt.Scale(zero=False)),
        )
        scale = alt.Scale(domain=["front", "feasible", "breaks a constraint"], range=[COLOURS[0], COLOURS[6], COLOURS[5]])
        points = base.mark_circle(size=60).encode(
            color=alt.Color("kind:N", title=None, scale=scale), tooltip=[f"{plain(name)}:N" for name in shown],
        )
        line = base.transform_filter("datum.kind == 'front'").mark_line(color=COLOURS[0], opacity=0.5)
        return (line + points).properties(width=380, height=260)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        front = sum(row["front"] for row in self.rows())
        return f"<strata_gpu.Front of {len(self)} points, {front} of them on the front: {', '.join(self.objectives)}>"

    def _repr_html_(self) -> str:
        best = self.best
        shown = ["point", *self.keys, *self.objectives]
        columns = [(name, [row[name] for row in best]) for name in shown]
        return f"<p>{len(best)} of {len(self)} points are on the front.</p>{_native.Table.joined(columns, None)._repr_html_()}"


def search(
    programs: Program | str | os.PathLike | Iterable[Program | str | os.PathLike],
    space: Mapping[str, Any],
    *,
    objectives: Mapping[str, str],
    constraints: Mapping[str, tuple[float | None, float | None]] | None = None,
    points: int = 64,
    machine: str | os.PathLike = "gtx480",
    systems: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    size: str = "test",
    store: str | os.PathLike = "strata-store",
    storage: str | None = None,
    name: str = "strata",
    seed: int = 0,
    sampler: Any = None,
    jobs: int | None = None,
    memory_gib: float | None = None,
    progress: bool | None = None,
    cancel: threading.Event | None = None,
) -> Front:
    """Searches machines for the Pareto front of some objectives, within constraints.

    space: what each key may be: a list of choices, a `range`, a tuple `(low, high)` of whole numbers or of floats, or a dict with `low`,
        `high` and `log=True` or `step`. The key `system` chooses among systems; `none` is the machine without one.
    objectives: metrics or expressions, each `max` or `min`: `{"ipc": "max", "energy.total_pj": "min"}`. Of several programs, the
        geometric mean counts.
    constraints: least and most of metrics: `{"area.l1d_transistors": (None, 2e6)}`.
    points: how many points the study has in the end, those of earlier calls with the same `storage` and `name` included.
    storage: a database of Optuna's, as `sqlite:///search.db`, in which a later call goes on.
    sampler: an Optuna sampler. By default NSGA-II for several objectives and TPE for one, which know the constraints.

    Points are measured through the result store, as by `strata.compare`; one that cannot be, or that fails, counts and has a reason.
    """
    try:
        import optuna
    except ImportError as error:
        raise StrataError("search needs Optuna, expected `pip install 'strata-gpu[search]'`") from error
    constraints = dict(constraints or {})
    if not objectives:
        raise StrataError("objectives: found none, expected at least one metric")
    for metric, direction in objectives.items():
        if direction not in ("max", "min"):
            raise StrataError(f"objectives: {metric}: found {direction!r}, expected `max` or `min`")
    for key, choice in space.items():
        distribution(optuna, key, choice)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        study_name=name, storage=storage, load_if_exists=True,
        directions=["maximize" if direction == "max" else "minimize" for direction in objectives.values()],
    )
    for left in study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
        # Whoever ran it is gone.
        study.tell(left.number, state=optuna.trial.TrialState.FAIL)
    begun = len(study.trials)
    study.sampler = sampler or default_sampler(optuna, len(objectives), seed + begun)
    distributions = {key: distribution(optuna, key, choice) for key, choice in space.items()}
    metrics = list(dict.fromkeys([*objectives, *constraints]))
    with ExitStack() as stack:
        chosen = list(named(programs, size, stack))
        show = stack.enter_context(_progress.jobs(progress, "search"))
        while (ended := len(study.trials)) < points:
            trials = [study.ask(distributions) for _ in range(min(BATCH, points - ended))]
            wanted = [
                point(program, of_size, machine, systems, set, trial.params) for trial in trials for _, program, of_size in chosen
            ]
            try:
                rows = values(measure(
                    wanted, metrics, store=store, jobs=jobs, memory_gib=memory_gib, run=True, progress=False, cancel=cancel,
                    what="search",
                ))
            except BaseException:
                for trial in trials:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                raise
            for number, trial in enumerate(trials):
                tell(optuna, study, trial, rows[number * len(chosen):][:len(chosen)], objectives, constraints)
            if show:
                show(len(study.trials), points, "")
            if cancel is not None and cancel.is_set():
                raise Cancelled("cancelled; with a `storage`, the same call goes on with the rest")
    return Front(study, list(space), objectives, list(constraints))


def default_sampler(optuna, objectives: int, seed: int):
    """A sampler that knows constraints."""
    if objectives > 1:
        return optuna.samplers.NSGAIISampler(population_size=2 * BATCH, seed=seed)
    return optuna.samplers.TPESampler(seed=seed, constant_liar=True)


def distribution(optuna, key: str, choice: Any):
    """What Optuna makes of a choice."""
    of = optuna.distributions
    if isinstance(choice, range) and len(choice):
        return of.IntDistribution(choice[0], choice[-1], step=choice.step)
    if isinstance(choice, tuple) and len(choice) == 2 and choice[0] <= choice[1]:
        whole = all(isinstance(bound, int) for bound in choice)
        return (of.IntDistribution if whole else of.FloatDistribution)(*choice)
    if isinstance(choice, Mapping) and {"low", "high"} <= choice.keys() <= {"low", "high", "log", "step"}:
        whole = all(isinstance(choice[bound], int) for bound in ("low", "high"))
        return (of.IntDistribution if whole else of.FloatDistribution)(**choice)
    if isinstance(choice, list) and choice:
        return of.CategoricalDistribution(choice)
    raise StrataError(
        f"space: {key}: found {choice!r}, expected a list of choices, a range, (low, high), or a dict with low, high and log or step"
    )


def point(program: str, size: str, machine, systems, set, params: Mapping[str, Any]) -> dict[str, Any]:
    """A program on one machine of the space."""
    system = params.get("system", "none")
    laid = names(systems) + ([] if system in ("none", machine) else [system])
    swept = {key: value for key, value in params.items() if key != "system"}
    return {
        "program": program, "size": size, "machine": os.fspath(machine), "systems": laid, "sets": overrides(set) + overrides(swept),
    }


def values(table: _native.Table) -> list[dict[str, Any]]:
    """A dict for each row."""
    columns = table.to_pydict()
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def tell(optuna, study, trial, rows: list[dict], objectives: Mapping[str, str], constraints: Mapping[str, tuple]) -> None:
    """Tells the study what a point measured, or that it has no numbers."""
    reason = next((row["missing"] for row in rows if row["missing"]), None)
    means = {}
    if reason is None:
        means = {metric: mean([row[metric] for row in rows]) for metric in dict.fromkeys([*objectives, *constraints])}
    if reason is not None:
        trial.set_user_attr("missing", reason)
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return
    trial.set_user_attr("metrics", means)
    for metric, bounds in constraints.items():
        trial.set_constraint(metric, over(means[metric], *bounds))
    study.tell(trial, [means[metric] for metric in objectives])


def mean(numbers: list[float]) -> float:
    """The geometric mean; of numbers that are not all above 0, the arithmetic one."""
    if len(numbers) > 1 and all(number > 0 for number in numbers):
        return exp(sum(map(log, numbers)) / len(numbers))
    return sum(numbers) / len(numbers)


def over(value: float, least: float | None, most: float | None) -> float:
    """How far a value is outside its bounds; at most 0 within them."""
    return max(value - most if most is not None else -inf, least - value if least is not None else -inf)


def feasible(trial) -> bool:
    """Whether a point has numbers and keeps the constraints."""
    return "metrics" in trial.user_attrs and all(violation <= 0 for violation in trial.constraints.values())


def pareto(trials: list, directions: list[str]) -> list:
    """The feasible points that no other feasible one beats. Of equal ones, the first."""
    signs = [1 if direction == "min" else -1 for direction in directions]
    costs = [(trial, [sign * value for sign, value in zip(signs, trial.values)]) for trial in trials if feasible(trial)]
    front = []
    for place, (trial, cost) in enumerate(costs):
        beats = lambda at, other: (  # noqa: E731
            all(a <= b for a, b in zip(other, cost)) and (other != cost or at < place)
        )
        if not any(beats(at, other) for at, (_, other) in enumerate(costs) if at != place):
            front.append(trial)
    return front
