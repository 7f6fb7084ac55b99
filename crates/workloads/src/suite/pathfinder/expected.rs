//! Row by row, over the whole width.

/// What the cheapest way from the first row to each cell of the last costs. A step leads down, or down and one
/// column aside.
pub(super) fn expected(columns: usize, costs: &[i32]) -> Vec<i32> {
    let mut rows = costs.chunks_exact(columns);
    let mut cheapest = rows.next().map(<[i32]>::to_vec).unwrap_or_default();
    for row in rows {
        let above = |column: usize| {
            let around = column.saturating_sub(1)..(column + 2).min(columns);
            cheapest[around].iter().copied().min().expect("a cell is its own neighbour")
        };
        cheapest = row.iter().enumerate().map(|(column, cost)| cost + above(column)).collect();
    }
    cheapest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rows_by_hand() {
        let costs = [9, 1, 9, 9, /**/ 5, 5, 5, 0, /**/ 1, 2, 3, 4];
        // Second row: 6, 6, 6, 9.
        assert_eq!(expected(4, &costs), [7, 8, 9, 10]);
    }
}
