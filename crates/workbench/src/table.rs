//! Tables on a terminal: columns that together are no wider than it.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, TableStyle, Width};

/// The cells of a row.
pub type Cells = Vec<String>;

/// Width where standard output is not a terminal, in characters.
const WIDTH: usize = 80;

/// Least width of a column that is made narrower.
const LEAST: u16 = 8;

/// Spaces between columns.
const GAP: u16 = 2;

/// The terminal's width in characters.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0))
}

/// Titles of columns, as lists have them.
pub fn titles(columns: &[&str]) -> Cells {
    columns.iter().map(|column| column.to_uppercase()).collect()
}

/// Formats a table at most `width` wide: cells too wide for their columns go on in the next line. The first column
/// keeps its width, so that names stay whole.
pub fn text(titles: &Cells, rows: &[Cells], width: usize) -> String {
    let mut table = plain(std::iter::once(titles).chain(rows));
    fit(&mut table, width);
    if let Some(first) = table.column_mut(0) {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
    format!("{}\n", table.trim_fmt())
}

/// Whether the columns fit `width` without a line broken.
pub fn fits(titles: &Cells, rows: &[Cells], width: usize) -> bool {
    is_within(&plain(std::iter::once(titles).chain(rows)).trim_fmt(), width)
}

/// Whether no line of a text is wider than `width`.
pub fn is_within(text: &str, width: usize) -> bool {
    text.lines().all(|line| line.chars().count() <= width)
}

/// Formats names and numbers, indented by two: the first `names` columns to the left, the others to the right. Without
/// a width, no line is broken.
pub fn numbers(lines: &[Cells], names: usize, width: Option<usize>) -> String {
    let mut table = plain(lines);
    if let Some(first) = table.column_mut(0) {
        first.set_padding((GAP, 0));
    }
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(width) = width {
        fit(&mut table, width);
    }
    format!("{}\n", table.trim_fmt())
}

/// Breaks a text into lines no wider than `width`, which stand to the right of `head`.
pub fn paragraph(head: &str, text: &str, width: usize) -> String {
    let cells = if head.is_empty() { vec![text.to_owned()] } else { vec![head.to_owned(), text.to_owned()] };
    let mut table = plain([&cells]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    fit(&mut table, width);
    format!("{}\n", table.trim_fmt())
}

/// A table of nothing but cells.
fn plain<'a>(lines: impl IntoIterator<Item = &'a Cells>) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    let lines: Vec<&Cells> = lines.into_iter().collect();
    let columns = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    for line in lines {
        let missing = std::iter::repeat_n("", columns - line.len());
        table.add_row(Row::from(line.iter().map(String::as_str).chain(missing)));
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if place == 0 { 0 } else { GAP }, 0));
    }
    table
}

/// Makes a table no wider than `width`, and no column much narrower than a word.
fn fit(table: &mut Table, width: usize) {
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    let widths = table.column_max_content_widths();
    for (column, content) in table.column_iter_mut().zip(widths) {
        if content > LEAST {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(LEAST)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal_and_nothing_is_lost() {
        let long = "a description of several words that does not fit";
        let rows =
            [["name".to_owned(), long.to_owned()].to_vec(), ["other".to_owned(), "x".repeat(50)].to_vec()];
        let titles = titles(&["name", "description"]);
        let table = text(&titles, &rows, 40);
        assert!(table.lines().all(|line| line.chars().count() <= 40), "{table}");
        assert!(long.split(' ').all(|word| table.contains(word)), "{table}");
        assert_eq!(table.matches('x').count(), 50);
        assert!(fits(&titles, &rows, 57) && !fits(&titles, &rows, 56));
    }

    #[test]
    fn names_stay_whole() {
        let rows = [vec!["n".repeat(30), "a b".to_owned()]];
        assert!(text(&titles(&["name", "of"]), &rows, 20).contains(&"n".repeat(30)));
    }

    #[test]
    fn columns_are_as_wide_as_they_need_where_there_is_room() {
        let rows = [vec!["a".to_owned(), "b".to_owned()]];
        assert_eq!(text(&titles(&["name", "of"]), &rows, 80), "NAME  OF\na     b\n");
    }

    #[test]
    fn numbers_stand_to_the_right_and_a_paragraph_beside_its_head() {
        let lines = [vec!["", "a", "bb"], vec!["name", "10", "2"]];
        let lines = lines.map(|line| line.into_iter().map(str::to_owned).collect::<Cells>());
        assert_eq!(numbers(&lines, 1, None), "         a  bb\n  name  10   2\n");
        assert_eq!(paragraph("head:", "one two three", 14), "head: one two\n      three\n");
    }
}
