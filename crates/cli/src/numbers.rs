//! A comparison's numbers for other programs: CSV and JSON.

use serde_json::{Value, json};
use strata_lab::grid::Grid;

/// One number, and what it is of.
fn each(grids: &[Grid]) -> impl Iterator<Item = (&str, &str, &str, &Result<f64, String>)> {
    grids.iter().flat_map(|grid| {
        grid.rows.iter().zip(&grid.cells).flat_map(move |(row, cells)| {
            let cells = grid.columns.iter().zip(cells);
            cells.map(move |(column, cell)| (grid.title.as_str(), row.as_str(), column.as_str(), cell))
        })
    })
}

/// A header and a line for each number; a missing one is empty.
pub fn csv(grids: &[Grid]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = "memory takes every write";
    writer.write_record(["workload", "variant", "metric", "value"]).expect(failed);
    for (metric, workload, variant, cell) in each(grids) {
        let value = cell.as_ref().map_or(String::new(), f64::to_string);
        writer.write_record([workload, variant, metric, &value]).expect(failed);
    }
    String::from_utf8(writer.into_inner().expect(failed)).expect("every record is text")
}

/// The simulator, the command line and every number; a missing one is null and says why.
pub fn json(grids: &[Grid]) -> String {
    let numbers: Vec<Value> = each(grids)
        .map(|(metric, workload, variant, cell)| {
            json!({
                "workload": workload,
                "variant": variant,
                "metric": metric,
                "value": cell.as_ref().ok(),
                "missing": cell.as_ref().err(),
            })
        })
        .collect();
    let command: Vec<String> = std::env::args().collect();
    let whole = json!({ "simulator": strata_lab::SIMULATOR, "command": command, "numbers": numbers });
    format!("{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_line_and_a_missing_one_its_reason() {
        let grid = Grid {
            title: "IPC".into(),
            rows: vec!["saxpy".into()],
            columns: vec!["a".into(), "b, c".into()],
            cells: vec![vec![Ok(1.5), Err("not run yet".into())]],
            means: vec![],
        };
        let grids = [grid];
        assert_eq!(csv(&grids), "workload,variant,metric,value\nsaxpy,a,IPC,1.5\nsaxpy,\"b, c\",IPC,\n");
        let whole: Value = serde_json::from_str(&json(&grids)).unwrap();
        assert_eq!(whole["numbers"][0]["value"], 1.5);
        assert_eq!(whole["numbers"][1]["missing"], "not run yet");
    }
}
