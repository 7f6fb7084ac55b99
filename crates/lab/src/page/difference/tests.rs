//! The page of a difference that is known by hand.

use std::collections::BTreeMap;

use super::*;
use crate::diff::{Counters, Energy, LaunchSide};

fn counters(groups: &[(&str, &[(&str, u64)])]) -> Counters {
    let of = |counters: &[(&str, u64)]| {
        counters.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    groups.iter().map(|(group, counters)| ((*group).to_owned(), of(counters))).collect::<BTreeMap<_, _>>()
}

fn side(name: &str, cycles: u64, memory: u64, misses: u64, pj: f64) -> Side {
    let issued = 100;
    let slots = &[("issue_slots", cycles), ("issued", issued), ("stall_memory", memory)];
    Side {
        name: name.into(),
        workload: "mine".into(),
        machine: "gtx480".into(),
        simulator: "1".into(),
        slots_a_cycle: Some(1),
        cycles,
        counters: counters(&[("sm", slots), ("l1d", &[("load_misses", misses), ("loads", 500)])]),
        energy: vec![Energy { structure: "l1d".into(), pj, leakage_pj: 1e6 }],
        ..Side::default()
    }
}

#[test]
fn a_page_says_what_changed_and_where_it_went() {
    let sides = [side("a <run>", 1100, 1000, 400, 3e6), side("b", 600, 500, 100, 2e6)];
    let difference = Difference::between(&sides[0], &sides[1], &[]);
    let compared = Compared { sides: &sides, difference: &difference, first: None, shares: None };
    let page = super::difference(&compared, &Origin { date: "today".into(), command: "strata diff".into() });
    // The frame of both bars stands for the 1,100 cycles of the longer run: memory has 1,000 of them, then 500.
    for expected in [
        "<dt>change</dt><dd>-45.45 %</dd>",
        "a &lt;run&gt; (mine on gtx480)",
        "width=\"909.09\"",
        "width=\"454.55\"",
        "data-value=\"-500\"",
        "<code>load_misses</code>",
        "-75.00 %",
        "-1.000 µJ",
        "<dt>Made</dt><dd>today</dd>",
    ] {
        assert!(page.contains(expected), "no {expected} in {page}");
    }
    assert!(!page.contains("<code>loads</code>"), "what is the same is not shown");
}

#[test]
fn runs_that_measured_the_same_say_so() {
    let sides = [side("a", 600, 500, 100, 2e6), side("b", 600, 500, 100, 2e6)];
    let difference = Difference::between(&sides[0], &sides[1], &[]);
    let parts = parts(&Compared { sides: &sides, difference: &difference, first: None, shares: None });
    assert!(parts.body.into_string().contains("The runs measured the same"));
}

#[test]
fn of_many_launches_those_that_changed_most_are_shown() {
    let with_launches = |slower: u64| {
        let launch =
            |number| LaunchSide { kernel: "k".into(), cycles: 1000 + slower * number, counters: None };
        Side { launches: (0..130).map(launch).collect(), ..side("a", 600, 500, 100, 2e6) }
    };
    // Launch 0 is the same, and launch 129 is 129 cycles slower.
    let sides = [with_launches(0), with_launches(1)];
    let difference = Difference::between(&sides[0], &sides[1], &[]);
    let parts = parts(&Compared { sides: &sides, difference: &difference, first: None, shares: None });
    let page = parts.body.into_string();
    assert!(page.contains("129 of 130 launches differ. These are the 100 that changed most."), "{page}");
    assert!(page.contains("<td>129</td>") && page.contains("<td>30</td>"), "{page}");
    assert!(!page.contains("<td>29</td>"), "{page}");
}

#[test]
fn numbers_have_signs() {
    assert_eq!([signed(-1234.0), signed(5.0), signed(0.0)], ["-1\u{202f}234", "+5", "0"]);
    let percents = [(1.0, 4.0), (-1.0, 4.0), (1.0, 0.0)].map(|(part, whole)| signed_percent(part, whole));
    assert_eq!(percents, ["+25.00 %", "-25.00 %", "–"]);
}
