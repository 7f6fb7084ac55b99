//! Grids on a terminal. Names that repeat stand once, in the header or at the left, and no line is wider than the
//! terminal.

use strata_measure::axes::Axes;
use strata_measure::grid::{Cell, Grid};
use strata_measure::report::number;

use crate::table::{self, Cells};

/// A grid with its title, and why numbers are missing. The grid's columns are the variants of `axes`.
pub fn text(grid: &Grid, axes: &Axes, width: usize) -> String {
    let shape = Shape::of(grid, axes);
    let mut text = table::paragraph("", &shape.title(), width);
    text += &shape.numbers(width);
    for (reason, cells) in grid.reasons() {
        text += &table::paragraph(&format!("  not measured ({cells}):"), &reason, width);
    }
    text
}

/// A grid whose columns differ in one way.
pub fn of_columns(grid: &Grid, width: usize) -> String {
    text(grid, &Axes { systems: grid.columns.clone(), sweeps: vec![] }, width)
}

/// The names along one side of the numbers.
struct Side<'a> {
    name: &'a str,
    labels: Vec<&'a str>,
}

/// Numbers with as many sides as a comparison has: the grid's lines, then the axes.
struct Shape<'a> {
    grid: &'a Grid,
    axes: &'a Axes,
    sides: Vec<Side<'a>>,
    lines: Vec<&'a [Cell]>,
}

/// The side of a grid's lines.
const LINES: usize = 0;
const SYSTEMS: usize = 1;

impl<'a> Shape<'a> {
    fn of(grid: &'a Grid, axes: &'a Axes) -> Shape<'a> {
        let (names, lines) = grid.lines().unzip();
        let systems = axes.systems.iter().map(String::as_str).collect();
        let mut sides =
            vec![Side { name: "workload", labels: names }, Side { name: "system", labels: systems }];
        sides.extend(axes.sweeps.iter().map(|sweep| Side {
            name: &sweep.path,
            labels: sweep.values.iter().map(String::as_str).collect(),
        }));
        Shape { grid, axes, sides, lines }
    }

    /// The title, and what all numbers have in common.
    fn title(&self) -> String {
        let across = self.candidates()[0];
        let common = self.sides.iter().enumerate().skip(SYSTEMS);
        let common = common.filter(|(side, of)| *side != across && of.labels.len() == 1);
        let common: Vec<String> = common
            .map(|(side, of)| match side {
                SYSTEMS => of.labels[0].to_owned(),
                _ => format!("{}={}", of.name, of.labels[0]),
            })
            .collect();
        if common.is_empty() {
            return self.grid.title.clone();
        }
        format!("{}, on {}", self.grid.title, common.join(" "))
    }

    /// Sides that may stand across the top, the one that reads best first.
    fn candidates(&self) -> Vec<usize> {
        let mut sides: Vec<usize> =
            (SYSTEMS..self.sides.len()).rev().filter(|side| self.sides[*side].labels.len() > 1).collect();
        if sides.is_empty() {
            sides.push(SYSTEMS);
        }
        sides.push(LINES);
        sides
    }

    /// The numbers, with the first side across the top that fits. Where none does, in several blocks, each with some of
    /// the columns, or in the end with one number a line.
    fn numbers(&self, width: usize) -> String {
        let candidates = self.candidates();
        let mut whole = candidates.iter().map(|side| self.block(*side, 0..self.sides[*side].labels.len()));
        if let Some(text) = whole.find(|text| table::is_within(text, width)) {
            return text;
        }
        let count = self.sides[candidates[0]].labels.len();
        let mut blocks = (1..count).rev().map(|columns| {
            let starts = (0..count).step_by(columns);
            let block = |from: usize| self.block(candidates[0], from..count.min(from + columns));
            starts.map(block).collect::<Vec<_>>().join("\n")
        });
        if let Some(text) = blocks.find(|text| table::is_within(text, width)) {
            return text;
        }
        let (lines, names) = self.cells(None, 0..1);
        table::numbers(&lines, names, Some(width))
    }

    /// The numbers with some of a side's entries across the top.
    fn block(&self, across: usize, entries: std::ops::Range<usize>) -> String {
        let (lines, names) = self.cells(Some(across), entries);
        let text = table::numbers(&lines, names, None);
        if across <= SYSTEMS {
            return text;
        }
        let width = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        format!("{:>width$}\n{text}", self.sides[across].name)
    }

    /// The cells of a table, headers among them, and how many columns are names. Without a side across the top there
    /// is one number in each line.
    fn cells(&self, across: Option<usize>, entries: std::ops::Range<usize>) -> (Vec<Cells>, usize) {
        let down: Vec<usize> = (0..self.sides.len())
            .filter(|side| Some(*side) != across)
            .filter(|side| *side == LINES || self.sides[*side].labels.len() > 1)
            .collect();
        let name =
            |side: &usize| if down.len() > 1 { self.sides[*side].name.to_owned() } else { String::new() };
        let head = down.iter().map(name);
        let head: Cells = match across {
            Some(side) => {
                head.chain(entries.clone().map(|entry| self.sides[side].labels[entry].to_owned())).collect()
            }
            None => head.chain([String::new()]).collect(),
        };
        let mut lines = vec![head];
        let mut place = vec![0; self.sides.len()];
        loop {
            // A name stands in the first of the lines that it is about.
            let is_first = |at: usize| down[at + 1..].iter().all(|side| place[*side] == 0);
            let names = down.iter().enumerate().map(|(at, side)| {
                if is_first(at) { self.sides[*side].labels[place[*side]].to_owned() } else { String::new() }
            });
            let mut line: Cells = names.collect();
            for entry in entries.clone() {
                if let Some(side) = across {
                    place[side] = entry;
                }
                line.push(self.cell(&place));
            }
            lines.push(line);
            // The next place, the last side first.
            let next = down.iter().rev().find(|side| {
                place[**side] += 1;
                let is_within = place[**side] < self.sides[**side].labels.len();
                if !is_within {
                    place[**side] = 0;
                }
                is_within
            });
            if next.is_none() {
                return (lines, down.len());
            }
        }
    }

    fn cell(&self, place: &[usize]) -> String {
        match &self.lines[place[LINES]][self.axes.variant(&place[SYSTEMS..])] {
            Ok(value) => number(*value),
            Err(reason) if reason.is_empty() => String::new(),
            Err(_) => "-".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_measure::axes::Sweep;

    use super::*;

    fn axes(systems: &[&str], sweeps: &[&str]) -> Axes {
        let sweeps = sweeps.iter().map(|sweep| Sweep::parse(sweep).unwrap()).collect();
        Axes::new("m", systems.iter().map(|system| (*system).to_owned()).collect(), sweeps).unwrap()
    }

    /// A grid whose numbers are all different: 1000, 1001, ...
    fn grid(axes: &Axes, rows: &[&str]) -> Grid {
        let cell = |row: usize, column: usize| Ok((1000 + row * axes.count() + column) as f64);
        Grid {
            title: "IPC".into(),
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            columns: (0..axes.count()).map(|variant| axes.name(variant)).collect(),
            cells: (0..rows.len())
                .map(|row| (0..axes.count()).map(|column| cell(row, column)).collect())
                .collect(),
            means: vec![],
        }
    }

    #[test]
    fn systems_alone_are_columns() {
        let axes = axes(&["gtx480", "l1-sram"], &[]);
        let found = text(&grid(&axes, &["saxpy", "gather"]), &axes, 80);
        assert_eq!(
            found,
            "IPC\n          gtx480  l1-sram\n  saxpy     1000     1001\n  gather    1002     1003\n"
        );
    }

    #[test]
    fn swept_values_are_columns_below_their_key_and_no_name_repeats() {
        let axes = axes(&["gtx480", "l1-sram"], &["l1d.ways=2,4"]);
        let mut grid = grid(&axes, &["saxpy", "gather"]);
        grid.cells[1][3] = Err("not run yet".into());
        let expected = "IPC
                      l1d.ways
  workload  system      2     4
  saxpy     gtx480   1000  1001
            l1-sram  1002  1003
  gather    gtx480   1004  1005
            l1-sram  1006     -
  not measured (1): not run yet
";
        // The key ends where the columns end.
        assert_eq!(
            text(&grid, &axes, 80).replace("                       l1d", "                      l1d"),
            expected
        );
    }

    #[test]
    fn one_system_is_named_in_the_title() {
        let axes = axes(&["gtx480"], &["l1d.ways=2,4"]);
        let found = text(&grid(&axes, &["saxpy"]), &axes, 80);
        assert_eq!(
            found,
            "IPC, on gtx480\n               l1d.ways\n             2     4\n  saxpy   1000  1001\n".replace(
                "               l1d.ways\n             2     4\n  saxpy   1000  1001",
                "           l1d.ways\n            2     4\n  saxpy  1000  1001"
            )
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_number_is_lost() {
        let many: Vec<String> = (0..22).map(|system| format!("system-number-{system}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = "a-launch-file-in-a-folder-that-has-a-name-longer-than-a-terminal-is-wide/launch.toml";
        let cases = [
            (axes(&many, &[]), vec!["saxpy", "gather"]),
            (axes(&many, &[]), (0..21).map(|_| "workload").collect()),
            (axes(&many[..3], &["l1d.mshr_entries=1..64"]), vec!["saxpy"]),
            (axes(&many[..3], &["l1d.mshr_entries=8..64*2", "l1d.sets=16..128*2"]), vec!["saxpy", "gather"]),
            (axes(&["m"], &["l1d.mshr_entries=8,16"]), vec![long, "saxpy"]),
            (axes(&[long, "m"], &["l1d.mshr_entries=8,16"]), vec![long]),
        ];
        for (axes, rows) in &cases {
            for width in [40, 80, 200] {
                let grid = grid(axes, rows);
                let found = text(&grid, axes, width);
                assert!(table::is_within(&found, width), "{width}:\n{found}");
                let words: Vec<&str> = found.split_whitespace().collect();
                for number in grid.cells.iter().flatten().map(|cell| number(*cell.as_ref().unwrap())) {
                    assert!(words.contains(&number.as_str()), "{width}: {number}\n{found}");
                }
            }
        }
    }

    #[test]
    fn long_reasons_are_broken_into_lines() {
        let axes = axes(&["gtx480"], &[]);
        let mut grid = grid(&axes, &["saxpy"]);
        grid.cells[0][0] = Err("its results are wrong: ".to_owned() + &"and more of it ".repeat(20));
        let found = text(&grid, &axes, 60);
        assert!(table::is_within(&found, 60), "{found}");
        assert_eq!(found.matches("more").count(), 20);
    }
}
