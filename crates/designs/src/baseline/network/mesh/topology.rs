//! The mesh as a graph: which port leads where.

/// Ports of a router that lead to its neighbours come first, in this order; then those of its nodes.
pub(super) const LINKS: usize = 4;
/// Names of these ports.
pub(super) const LINK_NAMES: [&str; LINKS] = ["east", "west", "south", "north"];

/// A grid of routers, numbered row by row from the north-west.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub columns: usize,
    pub rows: usize,
}

impl Grid {
    /// Column and row of a router.
    #[inline]
    pub fn place(self, router: usize) -> (usize, usize) {
        (router % self.columns, router / self.columns)
    }

    /// The router behind a link; none at the edge.
    pub fn neighbour(self, router: usize, link: usize) -> Option<usize> {
        let (column, row) = self.place(router);
        match link {
            0 => (column + 1 < self.columns).then(|| router + 1),
            1 => (column > 0).then(|| router - 1),
            2 => (row + 1 < self.rows).then(|| router + self.columns),
            _ => (row > 0).then(|| router - self.columns),
        }
    }

    /// Links on the way from one router to another.
    pub fn distance(self, from: usize, to: usize) -> usize {
        let ((column, row), (to_column, to_row)) = (self.place(from), self.place(to));
        column.abs_diff(to_column) + row.abs_diff(to_row)
    }

    /// The link on the way from one router to another, along the row first; none if they are the same.
    pub fn link(self, from: usize, to: usize) -> Option<usize> {
        let ((column, row), (to_column, to_row)) = (self.place(from), self.place(to));
        match (to_column.cmp(&column), to_row.cmp(&row)) {
            (std::cmp::Ordering::Greater, _) => Some(0),
            (std::cmp::Ordering::Less, _) => Some(1),
            (_, std::cmp::Ordering::Greater) => Some(2),
            (_, std::cmp::Ordering::Less) => Some(3),
            _ => None,
        }
    }
}

/// The port at the other end of a link.
#[inline]
pub(super) const fn opposite(link: usize) -> usize {
    link ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_neighbours_and_back() {
        let grid = Grid { columns: 4, rows: 3 };
        for router in 0..12 {
            for link in 0..LINKS {
                let Some(next) = grid.neighbour(router, link) else { continue };
                assert_eq!(grid.neighbour(next, opposite(link)), Some(router));
                assert_eq!(grid.link(router, next), Some(link));
            }
        }
        assert_eq!(grid.neighbour(3, 0), None);
        assert_eq!(grid.neighbour(0, 3), None);
    }

    #[test]
    fn rows_come_before_columns() {
        let grid = Grid { columns: 4, rows: 3 };
        // From (0, 2) to (3, 0): three times east, then twice north.
        let mut at = 8;
        let mut path = Vec::new();
        while let Some(link) = grid.link(at, 3) {
            path.push(LINK_NAMES[link]);
            at = grid.neighbour(at, link).unwrap();
        }
        assert_eq!(grid.distance(8, 3), path.len());
        assert_eq!((at, path), (3, vec!["east", "east", "east", "north", "north"]));
    }
}
