//! What each of several changes brings where all of them are made together, as parts that add up to the whole exactly.
//!
//! Of every subset of the changes there is a number. The *part* of a subset is what its changes bring together beyond what
//! smaller subsets of them bring: of one change its effect alone, of two their interaction, and so on. All parts together are the whole
//! difference. A change's *Shapley value* is its share of the parts that it is in, each dealt out evenly: what it brings on average
//! over all orders in which the changes could be made (Shapley, *A Value for n-Person Games*, 1953).
//!
//! Of many changes there are too many subsets. Then orders are drawn at random, and a change's value is the mean of what it brought in
//! each. In every order what the changes bring adds up to the whole, so it does on average.

use strata_engine::seed::Stream;

use crate::exact::Exact;
use crate::uncertain::shuffled;

/// Most changes of which every subset is looked at.
pub const MOST: usize = 4;

/// The part of every subset but the empty one, by the subset: bit n is set if it has change n. `numbers` are those of the
/// subsets, the empty one first.
///
/// # Panics
/// If the numbers are not a power of 2 in number.
#[must_use]
pub fn parts(numbers: &[u64]) -> Vec<(u32, i128)> {
    assert!(numbers.len().is_power_of_two(), "there is a number for every subset");
    let mut parts: Vec<i128> = numbers.iter().map(|number| i128::from(*number)).collect();
    for bit in (0..numbers.len().ilog2()).map(|change| 1 << change) {
        for subset in (0..parts.len()).filter(|subset| subset & bit != 0) {
            parts[subset] -= parts[subset ^ bit];
        }
    }
    (0..).zip(parts).skip(1).collect()
}

/// The Shapley values of `changes` changes, from the parts of their subsets.
#[must_use]
pub fn values(parts: &[(u32, i128)], changes: usize) -> Vec<Exact> {
    let share = |(subset, part): &(u32, i128)| Exact::new(*part, subset.count_ones().into());
    let of = |change: usize| parts.iter().filter(move |(subset, _)| subset >> change & 1 == 1);
    (0..changes).map(|change| of(change).map(share).sum()).collect()
}

/// Orders of `changes` changes drawn from a seed, each equally likely.
#[must_use]
pub fn orders(changes: usize, chains: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut stream = Stream::new(seed, "orders of changes");
    (0..chains).map(|_| shuffled(changes, &mut stream)).collect()
}

/// The mean of what each change brought in some orders, and its standard error: that of one order is not known. `number` gives that
/// of a set of changes: of each, whether it is made.
///
/// # Errors
/// The first of `number`'s.
///
/// # Panics
/// If there is no order.
pub fn means<Error>(
    orders: &[Vec<usize>],
    mut number: impl FnMut(&[bool]) -> Result<u64, Error>,
) -> Result<Vec<(Exact, Option<f64>)>, Error> {
    let changes = orders.first().expect("there is an order").len();
    let mut sums = vec![(0, 0.0); changes];
    for order in orders {
        let mut made = vec![false; changes];
        let mut before = number(&made)?;
        for change in order {
            made[*change] = true;
            let after = number(&made)?;
            let brought = i128::from(after) - i128::from(before);
            sums[*change].0 += brought;
            sums[*change].1 += (brought as f64).powi(2);
            before = after;
        }
    }
    let count = orders.len() as f64;
    let of = |(sum, squares): (i128, f64)| {
        let mean = Exact::new(sum, orders.len() as i128);
        let variance = (squares - count * mean.as_f64().powi(2)).max(0.0) / (count - 1.0);
        (mean, (orders.len() > 1).then(|| (variance / count).sqrt()))
    };
    Ok(sums.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_effects_and_interactions() {
        // One saves 10 of 100, the other 20, and both together 25: 5 of what they save is the same.
        let parts = parts(&[100, 90, 80, 75]);
        assert_eq!(parts, [(1, -10), (2, -20), (3, 5)]);
        assert_eq!(values(&parts, 2), [Exact::new(-15, 2), Exact::new(-35, 2)]);
    }

    #[test]
    fn parts_and_values_add_up_to_the_whole() {
        let mut stream = Stream::new(7, "numbers");
        for changes in 1..=MOST {
            let numbers: Vec<u64> = (0..1 << changes).map(|_| stream.below(1 << 40)).collect();
            let whole = i128::from(*numbers.last().unwrap()) - i128::from(numbers[0]);
            let parts = parts(&numbers);
            assert_eq!(parts.iter().map(|(_, part)| part).sum::<i128>(), whole);
            assert_eq!(values(&parts, changes).into_iter().sum::<Exact>(), Exact::from(whole));
        }
    }

    #[test]
    fn all_orders_together_give_the_shapley_values() {
        let numbers = [7, 90, 80, 75, 3, 200, 12, 1];
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(Vec::from);
        let number = |made: &[bool]| {
            let subset: usize =
                made.iter().enumerate().map(|(change, made)| usize::from(*made) << change).sum();
            Ok::<u64, ()>(numbers[subset])
        };
        let means = |orders: &[Vec<usize>]| means(orders, number).unwrap();
        let exact =
            |means: Vec<(Exact, Option<f64>)>| means.into_iter().map(|(mean, _)| mean).collect::<Vec<_>>();
        assert_eq!(exact(means(&orders)), values(&parts(&numbers), 3));
        assert_eq!(exact(means(&orders[..1])).into_iter().sum::<Exact>(), Exact::from(-6));
        assert!(means(&orders[..1]).iter().all(|(_, error)| error.is_none()));
        // The first change brings 83, and after the second it takes 5: 39 on average, 44 off either way.
        let (mean, error) = means(&[orders[0].clone(), orders[2].clone()])[0];
        assert_eq!((mean, error.unwrap().round()), (Exact::from(39), 44.0));
    }

    #[test]
    fn orders_come_from_their_seed_and_have_every_change_once() {
        let drawn = orders(6, 20, 1);
        assert_eq!(drawn, orders(6, 20, 1));
        assert_ne!(drawn, orders(6, 20, 2));
        for mut order in drawn {
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        }
    }
}
