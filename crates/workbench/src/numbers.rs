//! A comparison's numbers for other programs: CSV and JSON, a line or an object for each number.

use serde_json::{Map, Value, json};
use strata_measure::compare::Comparison;
use strata_measure::grid::{Cell, Grid};

/// One number, and what it is of.
struct Number<'a> {
    workload: &'a str,
    /// Place among the columns: of the variants, or of the effects.
    column: usize,
    grid: &'a Grid,
    cell: &'a Cell,
}

impl Number<'_> {
    /// The number, or an empty text and why it is missing.
    fn texts(&self) -> (String, &str) {
        match self.cell {
            Ok(value) => (value.to_string(), ""),
            Err(reason) => (String::new(), reason),
        }
    }
}

fn each(grids: &[Grid]) -> impl Iterator<Item = Number<'_>> {
    grids.iter().flat_map(|grid| {
        grid.rows.iter().zip(&grid.cells).flat_map(move |(workload, cells)| {
            cells.iter().enumerate().map(move |(column, cell)| Number { workload, column, grid, cell })
        })
    })
}

/// What each system of a design does to the grids' numbers: nothing without a design.
fn effects(comparison: &Comparison, grids: &[Grid]) -> Vec<Grid> {
    grids.iter().filter_map(|grid| comparison.effects(grid)).collect()
}

/// A header and a line for each number, with a column for each swept parameter. A missing number is empty and the last
/// column says why. Of a design, effects follow, under the systems that they are of.
pub fn csv(comparison: &Comparison, grids: &[Grid]) -> String {
    let axes = &comparison.axes;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = "memory takes every write";
    let paths = axes.sweeps.iter().map(|sweep| sweep.path.as_str());
    let columns = ["workload", "system"].into_iter().chain(paths).chain(["metric", "value", "missing"]);
    writer.write_record(columns).expect(failed);
    for number in each(grids) {
        let (value, missing) = number.texts();
        let mut fields = vec![number.workload, axes.system(number.column)];
        fields.extend(axes.values(number.column).into_iter().map(|(_, value)| value));
        fields.extend([&number.grid.title, &value, missing]);
        writer.write_record(fields).expect(failed);
    }
    for number in each(&effects(comparison, grids)) {
        let (of, (value, missing)) = (&number.grid.columns[number.column], number.texts());
        writer.write_record([number.workload, of, &number.grid.title, &value, missing]).expect(failed);
    }
    String::from_utf8(writer.into_inner().expect(failed)).expect("every record is text")
}

/// The simulator, the command line and every number; a missing one is null and says why. Of a design the effects, too.
pub fn json(comparison: &Comparison, grids: &[Grid]) -> String {
    let axes = &comparison.axes;
    let numbers = each(grids).map(|Number { workload, column, grid, cell }| {
        let swept = axes.values(column).into_iter().map(|(path, text)| (path.to_owned(), value(text)));
        json!({
            "workload": workload,
            "variant": axes.name(column),
            "system": axes.system(column),
            "swept": swept.collect::<Map<_, _>>(),
            "metric": grid.title,
            "value": cell.as_ref().ok(),
            "missing": cell.as_ref().err(),
        })
    });
    let numbers: Vec<Value> = numbers.collect();
    let command: Vec<String> = std::env::args().collect();
    let mut whole = json!({ "simulator": strata_gpu::SIMULATOR, "command": command, "numbers": numbers });
    if comparison.factors.is_some() {
        let effects = effects(comparison, grids);
        let effects = each(&effects).map(|Number { workload, column, grid, cell }| {
            let (of, value, missing) = (&grid.columns[column], cell.as_ref().ok(), cell.as_ref().err());
            json!({ "workload": workload, "of": of, "metric": grid.title, "value": value, "missing": missing })
        });
        whole["effects"] = effects.collect();
    }
    format!("{whole:#}\n")
}

/// A swept value as a number or a Boolean where it is one, else as a string.
fn value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use strata_measure::axes::{Axes, Base, Sweep};
    use strata_measure::factorial::Factors;

    use super::*;

    fn comparison(systems: &[&str], sweeps: &[&str]) -> Comparison {
        let sweeps = sweeps.iter().map(|sweep| Sweep::parse(sweep).unwrap()).collect();
        let systems = systems.iter().map(|system| (*system).to_owned()).collect();
        let axes = Axes::new("a", systems, sweeps).unwrap();
        Comparison {
            workloads: vec!["saxpy".into()],
            variants: axes.variants("a", &[], &[]),
            base: Base::first(&axes),
            axes,
            factors: None,
            metrics: vec![],
            size: strata_workloads::Size::Test,
        }
    }

    fn grid(cells: Vec<Cell>) -> Grid {
        let columns = vec![String::new(); cells.len()];
        Grid { title: "IPC".into(), rows: vec!["saxpy".into()], columns, cells: vec![cells], means: vec![] }
    }

    #[test]
    fn every_number_has_its_line_and_a_missing_one_its_reason() {
        let comparison = comparison(&["a", "b, c"], &[]);
        let grids = [grid(vec![Ok(1.5), Err("not run yet".into())])];
        let expected =
            "workload,system,metric,value,missing\nsaxpy,a,IPC,1.5,\nsaxpy,\"b, c\",IPC,,not run yet\n";
        assert_eq!(csv(&comparison, &grids), expected);
        let whole: Value = serde_json::from_str(&json(&comparison, &grids)).unwrap();
        assert_eq!(whole["numbers"][0]["value"], 1.5);
        assert_eq!(whole["numbers"][1]["missing"], "not run yet");
    }

    #[test]
    fn effects_follow_the_numbers() {
        let factors = Factors::new(vec!["a".into(), "b".into()]).unwrap();
        let axes = Axes::new("m", factors.systems("m"), vec![]).unwrap();
        let variants = axes.variants("m", &[], &[]);
        let comparison = Comparison { axes, variants, factors: Some(factors), ..comparison(&["m"], &[]) };
        let grids = [grid(vec![Ok(1.0), Ok(2.0), Err("cannot be".into()), Err("cannot be".into())])];
        let text = csv(&comparison, &grids);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "workload,system,metric,value,missing");
        assert_eq!(lines[3], "saxpy,b,IPC,,cannot be");
        assert_eq!(lines[5], "saxpy,a,IPC: effects and interactions,2,");
        assert_eq!(lines.len(), 1 + 4 + 3);
        let whole: Value = serde_json::from_str(&json(&comparison, &grids)).unwrap();
        assert_eq!((&whole["effects"][0]["of"], &whole["effects"][0]["value"]), (&json!("a"), &json!(2.0)));
        assert_eq!(whole["effects"][2]["of"], "a x b");
        assert!(whole["effects"][2]["missing"].is_string());
    }

    #[test]
    fn each_swept_parameter_has_a_column_of_its_own() {
        let comparison = comparison(&["a", "b"], &["l1d.ways=2,4", "l1d.policy=lru"]);
        let grids = [grid(vec![Ok(1.0), Ok(2.0), Ok(3.0), Ok(4.0)])];
        let text = csv(&comparison, &grids);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "workload,system,l1d.ways,l1d.policy,metric,value,missing");
        assert_eq!((lines[2], lines.len()), ("saxpy,a,4,lru,IPC,2,", 5));
        let whole: Value = serde_json::from_str(&json(&comparison, &grids)).unwrap();
        let last = &whole["numbers"][3];
        assert_eq!(last["variant"], "b l1d.ways=4 l1d.policy=lru");
        assert_eq!(
            (&last["system"], &last["swept"]),
            (&json!("b"), &json!({"l1d.ways": 4, "l1d.policy": "lru"}))
        );
    }
}
