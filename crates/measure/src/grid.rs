//! A table of numbers, some of which may be missing; the basis of every figure.

/// A number, or why it is missing.
pub type Cell = Result<f64, String>;

/// How the numbers of several workloads are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// The sum of the numbers divided by their count.
    Arithmetic,
    /// The n-th root of the product of n numbers, all of which must be above 0.
    Geometric,
}

impl Mean {
    /// Title of a row of such means.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Mean::Arithmetic => "arithmetic mean",
            Mean::Geometric => "geometric mean",
        }
    }

    /// The mean of `numbers`.
    ///
    /// # Errors
    /// If there are no numbers, or a geometric mean is asked of a number that is not above 0.
    pub fn of(self, numbers: &[f64]) -> Cell {
        if numbers.is_empty() {
            return Err("mean of no numbers".into());
        }
        let count = numbers.len() as f64;
        match self {
            Mean::Arithmetic => Ok(numbers.iter().sum::<f64>() / count),
            Mean::Geometric => match numbers.iter().find(|number| **number <= 0.0) {
                Some(number) => Err(format!("a geometric mean takes numbers above 0, found {number}")),
                None => Ok((numbers.iter().map(|number| number.ln()).sum::<f64>() / count).exp()),
            },
        }
    }
}

/// A table of numbers, with rows, columns and means.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What the numbers are, and their unit.
    pub title: String,
    /// Names of the rows, usually workloads.
    pub rows: Vec<String>,
    /// Names of the columns, usually systems.
    pub columns: Vec<String>,
    /// The numbers, as `cells[row][column]`.
    pub cells: Vec<Vec<Cell>>,
    /// Rows of means at the end. An error with an empty reason is an empty cell.
    pub means: Vec<(String, Vec<Cell>)>,
}

impl Grid {
    /// Divides each row by its number in one column. A row without that number loses all its numbers.
    pub fn normalise(&mut self, column: usize) {
        self.normalise_by(|_| column);
    }

    /// Divides each number by the number that its row has in another column, which `base` gives for each column.
    pub fn normalise_by(&mut self, base: impl Fn(usize) -> usize) {
        for row in &mut self.cells {
            let bases = row.clone();
            for (column, cell) in row.iter_mut().enumerate() {
                *cell = divide(cell.clone(), &bases[base(column)]);
            }
        }
    }

    /// Adds a row of means over the rows that are complete (have a number in every column that has any), so
    /// that columns compare.
    pub fn add_mean(&mut self, mean: Mean) {
        let columns: Vec<usize> = (0..self.columns.len())
            .filter(|column| self.cells.iter().any(|row| row[*column].is_ok()))
            .collect();
        let whole: Vec<&Vec<Cell>> =
            self.cells.iter().filter(|row| columns.iter().all(|column| row[*column].is_ok())).collect();
        let cells = (0..self.columns.len())
            .map(|column| {
                if !columns.contains(&column) {
                    return Err("not measured".to_owned());
                }
                let numbers: Vec<f64> = whole.iter().filter_map(|row| row[column].clone().ok()).collect();
                mean.of(&numbers)
            })
            .collect();
        let title = if whole.len() == self.rows.len() {
            mean.title().to_owned()
        } else {
            format!("{} of {} of {}", mean.title(), whole.len(), self.rows.len())
        };
        self.means.push((title, cells));
    }

    /// Names and cells of the rows, followed by the means.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &[Cell])> {
        let rows = self.rows.iter().map(String::as_str).zip(self.cells.iter().map(Vec::as_slice));
        rows.chain(self.means.iter().map(|(name, cells)| (name.as_str(), cells.as_slice())))
    }

    /// Whether any cell has a number.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        self.cells.iter().flatten().any(Result::is_ok)
    }

    /// Why numbers are missing: each distinct reason with the number of cells it affects.
    #[must_use]
    pub fn reasons(&self) -> Vec<(String, usize)> {
        let mut reasons: Vec<(String, usize)> = Vec::new();
        for reason in self.cells.iter().flatten().filter_map(|cell| cell.as_ref().err()) {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason.clone(), 1)),
            }
        }
        reasons
    }
}

/// Divides one number by another.
///
/// # Errors
/// If the base is 0 or either number is missing.
pub fn divide(number: Cell, base: &Cell) -> Cell {
    match base {
        Ok(0.0) => Err("the base of the ratio is 0".into()),
        Ok(base) => Ok(number? / base),
        Err(reason) => Err(format!("the base of the ratio is missing: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(cells: &[[Cell; 2]]) -> Grid {
        Grid {
            title: "t".into(),
            rows: (0..cells.len()).map(|row| format!("w{row}")).collect(),
            columns: vec!["a".into(), "b".into()],
            cells: cells.iter().map(|row| row.to_vec()).collect(),
            means: vec![],
        }
    }

    #[test]
    fn means_are_those_of_the_textbook() {
        assert_eq!(Mean::Arithmetic.of(&[1.0, 4.0]), Ok(2.5));
        assert_eq!(Mean::Geometric.of(&[1.0, 4.0]), Ok(2.0));
        assert!(Mean::Geometric.of(&[1.0, 0.0]).is_err());
        assert!(Mean::Arithmetic.of(&[]).is_err());
    }

    #[test]
    fn a_row_is_normalised_to_one_of_its_own_numbers() {
        let mut grid = grid(&[[Ok(2.0), Ok(3.0)], [Ok(0.0), Ok(1.0)], [Err("x".into()), Ok(1.0)]]);
        grid.normalise(0);
        assert_eq!(grid.cells[0], [Ok(1.0), Ok(1.5)]);
        assert!(grid.cells[1].iter().chain(&grid.cells[2]).all(Result::is_err));
    }

    #[test]
    fn a_column_may_be_normalised_to_any_other() {
        let mut grid = grid(&[[Ok(2.0), Ok(3.0)]]);
        grid.normalise_by(|column| 1 - column);
        assert_eq!(grid.cells[0], [Ok(2.0 / 3.0), Ok(1.5)]);
    }

    #[test]
    fn means_are_over_the_same_rows_in_every_column_and_say_over_how_many() {
        let mut grid = grid(&[[Ok(1.0), Ok(2.0)], [Ok(3.0), Err("x".into())]]);
        grid.add_mean(Mean::Arithmetic);
        assert_eq!(grid.means, [("arithmetic mean of 1 of 2".to_owned(), vec![Ok(1.0), Ok(2.0)])]);
        assert_eq!(grid.reasons(), [("x".to_owned(), 1)]);
    }

    #[test]
    fn a_column_without_numbers_does_not_empty_the_others() {
        let mut grid = grid(&[[Ok(1.0), Err("x".into())], [Ok(3.0), Err("x".into())]]);
        grid.add_mean(Mean::Arithmetic);
        assert_eq!(grid.means[0].0, "arithmetic mean");
        assert_eq!(grid.means[0].1[0], Ok(2.0));
        assert!(grid.means[0].1[1].is_err());
    }
}
