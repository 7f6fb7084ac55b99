//! Every arrow of Fig. 3, and no other.

use crate::tiny_cache::protocol::{Action, Event, State, transition};

/// The arrows as section 3 tells them.
const ARROWS: [(State, Event, State, Action); 12] = [
    // "A read miss (rm) will make the controller fetch a clean memory block, setting the line in the clean (C) state."
    (State::Invalid, Event::ReadMiss, State::Clean, Action::Fetch),
    // "A write miss (wm) will allocate a cache line [...] and the line will switch to the D_pv state."
    (State::Invalid, Event::WriteMiss, State::PartlyValid, Action::Begin),
    (State::Clean, Event::ReadHit, State::Clean, Action::None),
    // "A write hit on this clean line will switch the state to D_v, and the control bit(s) of the written half-word(s)
    // will be set. The other control bits will be cleared."
    (State::Clean, Event::WriteHit, State::Dirty, Action::Begin),
    (State::Clean, Event::Replace, State::Invalid, Action::None),
    (State::Dirty, Event::ReadHit, State::Dirty, Action::None),
    // "Further write hits (wh) on a line in the D_v state will set the corresponding control bit."
    (State::Dirty, Event::WriteHit, State::Dirty, Action::Set),
    // "The rpl event on a line in the D_v or D_pv states triggers a write-back of the valid (dirty) half-words."
    (State::Dirty, Event::Replace, State::Invalid, Action::WriteBack),
    // "Further read or write hits on valid (dirty) half-words in the line (rh(v)) imply no action."
    (State::PartlyValid, Event::ReadHit, State::PartlyValid, Action::None),
    // "Write hits on an invalid half-word set the corresponding control bit."
    (State::PartlyValid, Event::WriteHit, State::PartlyValid, Action::Set),
    // "A write hit on the last invalid half-word in the line (wh(last)) will make the state change to the D_v state."
    (State::PartlyValid, Event::WriteLast, State::Dirty, Action::Set),
    (State::PartlyValid, Event::Replace, State::Invalid, Action::WriteBack),
];

/// "A read hit [...] (rh(i)) will also switch the state to D_v, but the controller will fetch the block from memory and
/// will merge it."
const MERGE: (State, Event, State, Action) =
    (State::PartlyValid, Event::ReadInvalid, State::Dirty, Action::FetchAndMerge);

#[test]
fn the_arrows_are_those_of_the_figure() {
    let states = [State::Invalid, State::Clean, State::Dirty, State::PartlyValid];
    let events = [
        Event::ReadMiss,
        Event::WriteMiss,
        Event::ReadHit,
        Event::ReadInvalid,
        Event::WriteHit,
        Event::WriteLast,
        Event::Replace,
    ];
    let arrows: Vec<_> = ARROWS.iter().chain([&MERGE]).collect();
    for state in states {
        for event in events {
            let arrow = arrows.iter().find(|(from, on, ..)| (*from, *on) == (state, event));
            let expected = arrow.map(|(_, _, to, action)| (*to, *action));
            assert_eq!(transition(state, event), expected, "{state:?} on {event:?}");
        }
    }
}
