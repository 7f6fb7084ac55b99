//! Kernels with what is charged to each of their lines, as text.

use strata_gpu::results::{Breakdown, Counted};
use strata_lab::annotated::{Column, Kernel, kernels, slots};

/// Widest text of a line that has its instruction beside it.
const WIDEST: usize = 56;

/// Each kernel that ran: its text, beside each line its share of the issue slots and what is charged to it, and the instruction that it has
/// become; if these are several, below it, each with what is charged to it.
pub fn text(lines: &Breakdown, instructions: &Breakdown, ptx: &str) -> String {
    kernels(lines, Some(instructions)).iter().map(|kernel| of(kernel, ptx)).collect()
}

fn of(kernel: &Kernel<'_>, ptx: &str) -> String {
    let (all, columns) = (kernel.slots(), kernel.columns());
    let texts: Vec<String> =
        kernel.texts(ptx).iter().map(|line| line.trim_end().replace('\t', "  ")).collect();
    let widths = texts.iter().map(|text| text.chars().count()).filter(|width| *width <= WIDEST);
    let width = widths.max().unwrap_or_default();
    let heads: String = columns.iter().map(|column| format!(" {:>9}", column.name)).collect();
    let mut text = format!("\n{}: {all} issue slots\n{:>7}{heads}  line\n", kernel.name, "slots");
    let row = |charged: Option<&Counted>| match charged {
        Some(line) => {
            let share = 100.0 * slots(line) as f64 / all.max(1) as f64;
            format!("{share:>5.1} %{}", cells(line, &columns))
        }
        None => " ".repeat(7 + 10 * columns.len()),
    };
    let mut shown = 0;
    for number in kernel.numbers() {
        if shown > 0 && number > shown + 1 {
            text += "    ...\n";
        }
        shown = number;
        let first = row(kernel.lines.get(&number).copied());
        let source = texts.get(number - 1).map_or("", String::as_str);
        let instructions = kernel.instructions(number);
        let beside = if let [(one, _)] = instructions { one } else { "" };
        text += format!("{first}  {number:>4} {source:<width$}  {beside}").trim_end();
        text += "\n";
        for (one, charged) in instructions.iter().filter(|_| instructions.len() > 1) {
            text += &format!("{}       {:<width$}  {one}\n", row(Some(charged)), "");
        }
    }
    text
}

/// A line's values, those that are not 0.
fn cells(line: &Counted, columns: &[Column]) -> String {
    let cell = |column: &Column| {
        let value = column.of(line);
        if value == 0 { " ".repeat(10) } else { format!(" {value:>9}") }
    };
    columns.iter().map(cell).collect()
}
