//! That the tests which `tests/forms.txt` names as oracles execute the operations of the forms that name them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::front::{lower, parse_module};
use crate::isa::Op;

#[path = "../../../tests/support/forms.rs"]
#[allow(dead_code, reason = "the page of forms uses the rest")]
mod forms;
use forms::{families, kernel};

thread_local! {
    static EXECUTED: RefCell<HashSet<Op>> = RefCell::default();
}

/// Notes an operation whose result a test looks at.
pub fn record(op: Op) {
    EXECUTED.with_borrow_mut(|executed| executed.insert(op));
}

/// Tests that run together.
type Tests = &'static [fn()];

/// The tests of each oracle.
const ORACLES: &[(&str, &[Tests])] = &[
    ("bounds", &[super::float::TESTS, super::half::BOUNDS]),
    ("formats", &[super::conversion::TESTS]),
    ("video", &[super::video::TESTS]),
    ("products", &[super::matrix::TESTS, super::sparse::TESTS]),
];

/// What of an operation a test must have executed: all of a matrix product; of others the operation and the types, which of
/// rounding, clamping and selected parts are drawn being left to the test.
fn key(op: Op) -> String {
    let all = format!("{op:?}");
    let end = match op {
        Op::Mma(_) => None,
        Op::Video(_) | Op::VideoMad(_) | Op::VideoSimd(_) => all.find(','),
        _ => all.find("FloatMode"),
    };
    all[..end.unwrap_or(all.len())].to_owned()
}

/// The operations of an instruction that compute something.
fn operations(instruction: &str) -> Vec<Op> {
    let lowered = parse_module("form.ptx", &kernel(instruction)).and_then(|module| lower(&module, None));
    let lowered = lowered.unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let code = lowered.functions.iter().flat_map(|function| &function.code).map(|instruction| instruction.op);
    code.filter(|op| !matches!(op, Op::Mov(_) | Op::Exit | Op::Pack { .. } | Op::Unpack { .. })).collect()
}

#[test]
fn oracles_execute_the_operations_of_their_forms() {
    let mut executed = BTreeMap::new();
    for (name, tests) in ORACLES {
        EXECUTED.take();
        tests.iter().copied().flatten().for_each(|test| test());
        let keys: BTreeSet<String> = EXECUTED.take().into_iter().map(key).collect();
        executed.insert(*name, keys);
    }
    let mut missing = BTreeSet::new();
    for (_, forms) in families(include_str!("../../../tests/forms.txt")) {
        for form in &forms {
            let named = form.oracles.iter().filter_map(|name| Some((name, executed.get(name)?)));
            for (name, keys) in named {
                for words in form.expansions() {
                    let operations = operations(&format!("{words} {}", form.operands));
                    // Of a form whose instructions are in part exact, another oracle has those.
                    let mine = operations.into_iter().map(key);
                    let mine = mine.filter(|key| *name != "bounds" || key.contains("Approx"));
                    let missed = mine.filter(|key| !keys.contains(key));
                    missing.extend(
                        missed.map(|key| format!("`{name}` does not execute {key}, of {}", form.words)),
                    );
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.into_iter().collect::<Vec<_>>().join("\n"));
}
