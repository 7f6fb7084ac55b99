//! A word in the L2, the registry: states, events, and what each event makes of each state.

use super::Owner;

/// State of a line in the L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// It is not here; memory has all its words.
    #[default]
    Absent,
    /// Memory is asked for it.
    Fetching,
    /// It is here.
    Present,
    /// Its place is needed, and registered words are recalled.
    Evicting,
    /// It is here, and words are recalled for a strong operation.
    Recalling,
}

/// What stands in a word's slot of a line that is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// The word's data.
    Data,
    /// Who has them.
    Owned(Owner),
}

/// What happens to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A read request.
    Read,
    /// A registration request.
    Register,
    /// A registration request of a word of which a part was written.
    RegisterRead,
    /// A strong operation: one that is performed here.
    Perform,
    /// A writeback.
    WriteBack,
    /// A recalled word.
    Return,
}

/// What the registry does besides changing the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Keeps the request until the line is here or gone, then takes it up again, in order of arrival.
    Defer,
    /// Asks memory for the line, and keeps the request.
    FetchAndDefer,
    /// Sends the word: `Data`.
    Supply,
    /// Tells the requester that it is the only owner: `Granted`.
    Grant,
    /// Sends `ForwardRead` to this owner.
    ForwardRead(Owner),
    /// Sends `ForwardRegister` to this owner.
    ForwardRegister(Owner),
    /// Sends `ForwardRegisterRead` to this owner.
    ForwardRegisterRead(Owner),
    /// Performs the operation on the slot's data and answers.
    Perform,
    /// Sends `Recall` to this owner and keeps the request until the word is back; the line is recalling until then.
    RecallAndDefer(Owner),
    /// Puts the data into the slot and answers `WrittenBack`.
    StoreAndAnswer,
    /// Drops the data of a former owner and answers `WrittenBack`.
    DropAndAnswer,
    /// Puts the data into the slot.
    Store,
}

/// What a message from `sender` makes of a word: its slot and the action. `slot` means nothing unless the line is present or
/// evicting. `None` where the event cannot happen.
pub fn transition(line: Line, slot: Slot, event: Event, sender: Owner) -> Option<(Slot, Action)> {
    let is_owner = slot == Slot::Owned(sender);
    let is_request = !matches!(event, Event::WriteBack | Event::Return);
    Some(match (event, line, slot) {
        (_, Line::Absent, _) if is_request => (slot, Action::FetchAndDefer),
        (_, Line::Fetching | Line::Evicting | Line::Recalling, _) if is_request => (slot, Action::Defer),
        (Event::Read, _, Slot::Data) => (slot, Action::Supply),
        (Event::Register, _, Slot::Data) => (Slot::Owned(sender), Action::Grant),
        (Event::RegisterRead, _, Slot::Data) => (Slot::Owned(sender), Action::Supply),
        (Event::Perform, _, Slot::Data) => (slot, Action::Perform),
        (Event::Perform, _, Slot::Owned(owner)) => (slot, Action::RecallAndDefer(owner)),
        (_, _, Slot::Owned(_)) if is_request && is_owner => return None,
        (Event::Read, _, Slot::Owned(owner)) => (slot, Action::ForwardRead(owner)),
        (Event::Register, _, Slot::Owned(owner)) => (Slot::Owned(sender), Action::ForwardRegister(owner)),
        (Event::RegisterRead, _, Slot::Owned(owner)) => {
            (Slot::Owned(sender), Action::ForwardRegisterRead(owner))
        }
        (Event::WriteBack, Line::Present | Line::Evicting | Line::Recalling, _) if is_owner => {
            (Slot::Data, Action::StoreAndAnswer)
        }
        (Event::WriteBack, ..) => (slot, Action::DropAndAnswer),
        (Event::Return, Line::Evicting | Line::Recalling, _) if is_owner => (Slot::Data, Action::Store),
        (Event::Return, ..) => return None,
    })
}

/// Whom an eviction asks for a word before its line can leave.
pub const fn recall(slot: Slot) -> Option<Owner> {
    match slot {
        Slot::Data => None,
        Slot::Owned(owner) => Some(owner),
    }
}
