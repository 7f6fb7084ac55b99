use super::*;
use crate::numbers::{Numbers, Row, Value};
use crate::profile;
use strata_workloads::Size;

fn rows() -> Vec<Row> {
    let row = |group: &str, counter: &str, value| Row {
        launch: None,
        group: group.into(),
        counter: counter.into(),
        value,
    };
    vec![
        row("run", "cycles", Value::Count(8)),
        row("network.request", "packets_out", Value::Count(6)),
        row("energy", "l1d_pj", Value::Real(0.5)),
        row("l1d", "stalls", Value::Count(0)),
        Row { launch: Some(0), ..row("kernel", "cycles", Value::Count(3)) },
    ]
}

fn evaluate(expression: &Expression) -> Result<f64, String> {
    expression.evaluate(Numbers { rows: &rows(), machine: None })
}

#[test]
fn expressions_are_computed() {
    for (text, expected) in [
        ("run.cycles", 8.0),
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("(1 + 2) * 3", 9.0),
        ("8 / 2 / 2", 2.0),
        ("100 * network.request.packets_out / run.cycles", 75.0),
        ("energy.l1d_pj*2", 1.0),
        ("energy.l1d_pj? + energy.l2_pj? - l9.hits?", 0.5),
    ] {
        assert_eq!(evaluate(&Expression::parse(text).unwrap()), Ok(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_computed_is_an_error() {
    for (text, expected) in [
        ("run.time", "no counter `run.time`: `run` has cycles"),
        ("l2.hits", "no counter `l2.hits`: the run has the groups run, network.request, energy, l1d"),
        (
            "kernel.cycles",
            "no counter `kernel.cycles`: the run has the groups run, network.request, energy, l1d",
        ),
        ("run.cycles / l1d.stalls", "`run.cycles / l1d.stalls` divides by zero"),
    ] {
        assert_eq!(evaluate(&Expression::parse(text).unwrap()), Err(expected.into()), "{text}");
    }
}

#[test]
fn mistakes_are_named() {
    for (text, expected) in [
        ("", "``: found the end, expected a counter, a number or `(`"),
        ("(a.b", "`(a.b`: found the end, expected `)`"),
        ("a.b c.d", "`a.b c.d`: found `c.d`, expected an operator or the end"),
        ("cycles", "found `cycles`, expected group.counter"),
        ("1.2.3", "`1.2.3` is not a number"),
        ("a.b + é", "`a.b + é`: found `é`, expected a counter, a number or `(`"),
    ] {
        assert_eq!(Expression::parse(text).unwrap_err(), expected, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(Expression::parse(&deep).unwrap_err().contains("fewer parentheses"));
}

#[test]
fn metrics_name_others_of_their_file() {
    let of = |text: &str| {
        let texts = config::parse(Path::new("m.toml"), text).map_err(|error| error.to_string());
        texts.and_then(|texts| read("m.toml", texts))
    };
    let metrics = of("
        a = { title = 'A', expression = '2 * b-c - run.cycles' }
        b-c = { title = 'B', expression = 'run.cycles + 1' }");
    let metrics = metrics.unwrap();
    assert_eq!(evaluate(&metrics["a"].expression), Ok(10.0));
    assert_eq!(metrics["a"].expression.counters(), [("run", "cycles"); 2]);
    for (text, expected) in [
        (
            "a = { title = 'A', expression = 'b' }",
            "metrics.a: found `b`, expected group.counter or a metric of this file",
        ),
        (
            "a = { title = 'A', expression = 'b' }
             b = { title = 'B', expression = '1 + a' }",
            "metrics.a: `a` is computed from itself",
        ),
        (
            "a = { title = 'A', expression = 'b' }
             b = { title = 'B', expression = 'memory.stores', kind = 'profile' }",
            "metrics.a: `a` and `b` are not measured together, expected one `kind`",
        ),
    ] {
        assert_eq!(of(text).unwrap_err(), format!("m.toml: {expected}"));
    }
}

#[test]
fn a_metric_is_a_name_or_an_expression() {
    let metrics = common();
    assert_eq!(find(&metrics, "ipc").unwrap().name, "ipc");
    assert_eq!(find(&metrics, "l1d.fills / 2").unwrap().expression.counters(), [("l1d", "fills")]);
    assert!(find(&metrics, "speed").unwrap_err().starts_with("no metric `speed`, expected one of "));
}

#[test]
fn a_profile_has_the_counters_of_its_metrics() {
    let program = strata_workloads::find("saxpy").unwrap().program(Size::Test).unwrap();
    let rows = profile::rows(program.as_ref()).unwrap();
    let profile = Numbers { rows: &rows, machine: None };
    let metrics = common();
    let value = |name: &str| metrics[name].expression.evaluate(profile).unwrap();
    for metric in metrics.values().filter(|metric| metric.kind == Kind::Profile) {
        Known::default().check(metric).unwrap();
        assert!((0.0..=100.0).contains(&value(&metric.name)), "{}", metric.name);
    }
    // PTX names more registers than the allocator, so five of them hold less.
    assert!(value("top5-ptx-register-writes") < value("top5-register-writes"));
    assert_eq!(profile.get("ptx_registers", "reusing_kernels"), Some(Value::Count(0)));
    assert_eq!(profile.get("registers", "reusing_kernels"), Some(Value::Count(1)));
}
