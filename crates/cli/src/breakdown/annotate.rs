//! Kernels with what is charged to each of their lines, as text.

use strata_gpu::results::{Breakdown, Counted};
use strata_lab::annotated::{Column, Kernel, kernels, slots};

/// Each kernel that ran: its text, and beside each line its share of the issue slots and what is charged to it.
pub fn text(breakdown: &Breakdown, ptx: &str) -> String {
    kernels(breakdown).iter().map(|kernel| of(kernel, ptx)).collect()
}

fn of(kernel: &Kernel<'_>, ptx: &str) -> String {
    let (all, columns, texts) = (kernel.slots(), kernel.columns(), kernel.texts(ptx));
    let heads: String = columns.iter().map(|column| format!(" {:>9}", column.name)).collect();
    let mut text = format!("\n{}: {all} issue slots\n{:>7}{heads}  line\n", kernel.name, "slots");
    let mut shown = 0;
    for number in kernel.numbers() {
        if shown > 0 && number > shown + 1 {
            text += "    ...\n";
        }
        shown = number;
        let cells = match kernel.lines.get(&number) {
            Some(line) => {
                let share = 100.0 * slots(line) as f64 / all.max(1) as f64;
                format!("{share:>5.1} %{}", cells(line, &columns))
            }
            None => " ".repeat(7 + 10 * columns.len()),
        };
        let source = texts.get(number - 1).copied().unwrap_or_default();
        text += format!("{cells}  {number:>4} {source}").trim_end();
        text += "\n";
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
