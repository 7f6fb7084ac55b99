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

/// Formats a table at most `width` wide: cells too wide for their columns go on in the next line.
pub fn text(titles: &[&str], rows: &[Cells], width: usize) -> String {
    let titles: Cells = titles.iter().map(|title| title.to_uppercase()).collect();
    let lines: Vec<&Cells> = std::iter::once(&titles).chain(rows).collect();
    let mut widths: Vec<usize> = (0..titles.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    narrow(&mut widths, width.saturating_sub(GAP * titles.len().saturating_sub(1)));
    lines.into_iter().map(|line| row(line, &widths)).collect()
}

/// Whether the columns fit `width` without a line broken.
pub fn fits(titles: &[&str], rows: &[Cells], width: usize) -> bool {
    let whole = text(titles, rows, usize::MAX);
    whole.lines().all(|line| line.chars().count() <= width)
}

/// Makes the widest columns narrower until all together are no wider than `width`.
fn narrow(widths: &mut [usize], width: usize) {
    while widths.iter().sum::<usize>() > width {
        match widths.iter_mut().max() {
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
        let rows = [vec!["name".to_owned(), long.to_owned()], vec!["x".repeat(50), "short".to_owned()]];
        let table = text(&["name", "description"], &rows, 40);
        assert!(table.lines().all(|line| line.chars().count() <= 40), "{table}");
        assert!(long.split(' ').all(|word| table.contains(word)), "{table}");
        assert_eq!(table.matches('x').count(), 50);
        assert!(fits(&["name", "description"], &rows, 100) && !fits(&["name", "description"], &rows, 99));
    }

    #[test]
    fn columns_are_as_wide_as_they_need_where_there_is_room() {
        let rows = [vec!["a".to_owned(), "b".to_owned()]];
        assert_eq!(text(&["name", "of"], &rows, 80), "NAME  OF\na     b\n");
    }
}
