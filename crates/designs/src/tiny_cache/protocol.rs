//! The states of a line and its transitions (Fig. 3).

/// State of a line. Two bits encode it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// I: the line holds nothing.
    #[default]
    Invalid,
    /// C: every half-word is valid, none is dirty. The control bits mean nothing.
    Clean,
    /// D_v: every half-word is valid; those with a set control bit are dirty.
    Dirty,
    /// D_pv: only the half-words with a set control bit are valid, and those are dirty.
    PartlyValid,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// rm: a read finds no tag.
    ReadMiss,
    /// wm: a write finds no tag.
    WriteMiss,
    /// rh, rh(v): a read finds its half-words valid.
    ReadHit,
    /// rh(i): a read finds the tag, and a half-word that is not valid.
    ReadInvalid,
    /// wh: a write finds the tag.
    WriteHit,
    /// wh(last): a write makes the last half-word valid.
    WriteLast,
    /// rpl: the line is evicted.
    Replace,
}

/// What the controller does besides changing the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// Fetches the block.
    Fetch,
    /// Fetches the block and merges it into the half-words that are not valid.
    FetchAndMerge,
    /// Clears all control bits, then sets those of the half-words written.
    Begin,
    /// Sets the control bits of the half-words written.
    Set,
    /// wb(v): writes back the half-words whose control bit is set.
    WriteBack,
}

/// The arrows of Fig. 3: what an event makes of a line in a state. `None` where the figure has no arrow, because the
/// event does not happen in the state.
pub const fn transition(state: State, event: Event) -> Option<(State, Action)> {
    use State::{Clean, Dirty, Invalid, PartlyValid};
    Some(match (state, event) {
        (Invalid, Event::ReadMiss) => (Clean, Action::Fetch),
        (Invalid, Event::WriteMiss) => (PartlyValid, Action::Begin),
        (Clean, Event::ReadHit) => (Clean, Action::None),
        (Clean, Event::WriteHit) => (Dirty, Action::Begin),
        (Clean, Event::Replace) => (Invalid, Action::None),
        (Dirty, Event::ReadHit) => (Dirty, Action::None),
        (Dirty, Event::WriteHit) => (Dirty, Action::Set),
        (Dirty | PartlyValid, Event::Replace) => (Invalid, Action::WriteBack),
        (PartlyValid, Event::ReadHit) => (PartlyValid, Action::None),
        (PartlyValid, Event::ReadInvalid) => (Dirty, Action::FetchAndMerge),
        (PartlyValid, Event::WriteHit) => (PartlyValid, Action::Set),
        (PartlyValid, Event::WriteLast) => (Dirty, Action::Set),
        _ => return None,
    })
}
