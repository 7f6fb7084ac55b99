//! Tables on a terminal: columns that together are no wider than it.

/// The cells of a row.
pub type Cells = Vec<String>;

/// Width where standard output is no terminal, in characters.
const WIDTH: usize = 80;

/// Least width of a column that is made narrower.
const LEAST: usize = 8;

/// Spaces between columns.
const GAP: usize = 2;

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
    let lines: Vec<&Cells> = std::iter::once(titles).chain(rows).collect();
    let mut widths: Vec<usize> = (0..titles.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    narrow(&mut widths, width.saturating_sub(GAP * titles.len().saturating_sub(1)));
    lines.into_iter().map(|line| row(line, &widths)).collect()
}

/// Whether the columns fit `width` without a line broken.
pub fn fits(titles: &Cells, rows: &[Cells], width: usize) -> bool {
    let whole = text(titles, rows, usize::MAX);
    whole.lines().all(|line| line.chars().count() <= width)
}

/// Makes the widest columns but the first narrower until all together are no wider than `width`.
fn narrow(widths: &mut [usize], width: usize) {
    while widths.iter().sum::<usize>() > width {
        match widths.iter_mut().skip(1).max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            _ => return,
        }
    }
}

fn row(cells: &Cells, widths: &[usize]) -> String {
    let wrapped: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let cells = wrapped.iter().zip(widths).map(|(lines, width)| {
            let part = lines.get(at).map_or("", String::as_str);
            format!("{part:<width$}")
        });
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        format!("{}\n", line.trim_end())
    };
    (0..height).map(line).collect()
}

/// Breaks a text at spaces, and words that are too long anywhere.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        let last = lines.last_mut().expect("there is one");
        let used = last.chars().count();
        if used > 0 && used + 1 + word.len() <= width {
            last.push(' ');
            last.extend(word);
            continue;
        }
        if used > 0 {
            lines.push(String::new());
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.last_mut().expect("there is one").extend(word);
            lines.push(String::new());
            word = rest;
        }
        lines.last_mut().expect("there is one").extend(word);
    }
    lines
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
}
