//! The transpose, column by column.

use super::Transpose;

impl Transpose {
    pub(super) fn expected(&self, input: &[u32]) -> Vec<u32> {
        (0..self.columns).flat_map(|column| input[column..].iter().step_by(self.columns).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let transpose = Transpose { rows: 2, columns: 3 };
        assert_eq!(transpose.expected(&[1, 2, 3, 4, 5, 6]), [1, 4, 2, 5, 3, 6]);
    }
}
