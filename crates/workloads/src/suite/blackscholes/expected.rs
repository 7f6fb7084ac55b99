//! The formula, option by option, with the errors that CUDA's intrinsics may have.
//!
//! Errors are those of the CUDA C++ Programming Guide, "Intrinsic Functions" and "Mathematical Functions".

use super::Options;
use crate::suite::prelude::*;

impl Options {
    /// The calls' prices and the puts'.
    pub(super) fn expected(&self, rate: f32, volatility: f32) -> (Vec<Near>, Vec<Near>) {
        let properties = self.stock.iter().zip(&self.strike).zip(&self.years);
        let prices = |((&stock, &strike), &years): ((&f32, &f32), &f32)| {
            let [stock, strike, years] = [stock, strike, years].map(Bounded::from);
            let (call, put) = price(stock, strike, years, rate.into(), volatility.into());
            (call.near(), put.near())
        };
        properties.map(prices).unzip()
    }
}

fn price(
    stock: Bounded,
    strike: Bounded,
    years: Bounded,
    rate: Bounded,
    volatility: Bounded,
) -> (Bounded, Bounded) {
    let one = Bounded::exact(1.0);
    let root = fast_divide(one, reciprocal_root(years));
    let spread = volatility * root;
    let drift = (rate + (volatility * volatility).scaled(0.5)) * years;
    let d1 = fast_divide(fast_ln(stock / strike) + drift, spread);
    let (below1, below2) = (normal_below(d1), normal_below(d1 - spread));
    let discounted = strike * fast_exp(-rate * years);
    (stock * below1 - discounted * below2, discounted * (one - below2) - stock * (one - below1))
}

/// The polynomial itself, not the distribution that it approximates to 7.5e-8.
fn normal_below(d: Bounded) -> Bounded {
    const SERIES: [f32; 5] = [0.319_381_53, -0.356_563_78, 1.781_477_9, -1.821_256, 1.330_274_5];
    let one = Bounded::exact(1.0);
    let k = fast_divide(one, one + Bounded::from(0.231_641_9_f32) * d.abs());
    let series = SERIES.iter().rev().fold(Bounded::ZERO, |sum, &term| sum * k + Bounded::from(term));
    let bell = Bounded::from(0.398_942_3_f32) * fast_exp(-(d.scaled(0.5) * d));
    let tail = bell * (series * k);
    let upper = one - tail;
    let (likely, other) = if d.value() > 0.0 { (upper, tail) } else { (tail, upper) };
    if d.value().abs() > d.error() {
        return likely;
    }
    // The device may see the other sign: both tails are nearly a half there.
    let apart = (likely.value() - other.value()).abs();
    Bounded::new(likely.value(), apart + likely.error().max(other.error()))
}

/// `__fdividef`: 2 ulp.
fn fast_divide(a: Bounded, b: Bounded) -> Bounded {
    (a / b).rounded(4.0)
}

/// `rsqrtf`: 2 ulp.
fn reciprocal_root(x: Bounded) -> Bounded {
    let low = x.value() - x.error();
    x.map(|x| 1.0 / x.sqrt(), 0.5 / (low * low.sqrt()), 2.0)
}

/// `__logf`: 2^-21.41 from a half to two, 3 ulp elsewhere.
fn fast_ln(x: Bounded) -> Bounded {
    const NEAR_ONE: f64 = 3.59e-7;
    let ln = x.map(f64::ln, 1.0 / (x.value() - x.error()), 3.0);
    Bounded::new(ln.value(), ln.error() + if (0.49..2.01).contains(&x.value()) { NEAR_ONE } else { 0.0 })
}

/// `__expf`: 2 ulp and one more for each whole of |1.173 x|; near the smallest numbers such an ulp is a fixed one.
fn fast_exp(x: Bounded) -> Bounded {
    const SMALLEST: f64 = 1.5e-45;
    let ulps = 2.0 + (1.173 * (x.value().abs() + x.error())).floor();
    let exp = x.map(f64::exp, (x.value() + x.error()).exp(), ulps);
    Bounded::new(exp.value(), exp.error() + ulps * SMALLEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hull, "Options, Futures, and Other Derivatives": a stock at 42, strike 40, half a year, 10 % and 20 %.
    #[test]
    fn a_textbook_option() {
        let options = Options { stock: vec![42.0], strike: vec![40.0], years: vec![0.5] };
        let (call, put) = options.expected(0.1, 0.2);
        assert!((call[0].value - 4.7594).abs() < 1e-4 && call[0].bound < 2e-4, "{call:?}");
        assert!((put[0].value - 0.8086).abs() < 1e-4 && put[0].bound < 2e-4, "{put:?}");
    }

    #[test]
    fn the_distribution_is_known_at_a_few_points() {
        for (d, below) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.96, 0.024_997_895), (-20.0, 0.0)] {
            let found = normal_below(Bounded::new(d, 1e-7));
            assert!((found.value() - below).abs() < 1e-7 && found.error() < 2e-6, "{d}: {found:?}");
        }
    }
}
