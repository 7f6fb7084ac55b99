"""What there is to choose from. Each function gives a list of dicts."""

import json

from . import _native


def _all(kind: str) -> list[dict]:
    return json.loads(_native.catalogue(kind))


def workloads() -> list[dict]:
    """The built-in workloads: name, suite, sizes, description, and what each size takes."""
    return _all("workloads")


def machines() -> list[dict]:
    """The built-in machines."""
    return _all("machines")


def systems() -> list[dict]:
    """The built-in systems, which are laid over a machine: the designs of five papers, and what these compare them with."""
    return _all("systems")


def doors() -> list[dict]:
    """The places where a design plugs in, and the designs that fit each."""
    return _all("doors")


def policies() -> list[dict]:
    """Small parts of a machine that one key chooses by name: key, name, value, description."""
    return _all("policies")


def metrics() -> list[dict]:
    """The built-in metrics: name, title, unit, expression."""
    return _all("metrics")


def papers() -> list[dict]:
    """The papers whose figures can be repeated."""
    return _all("papers")
