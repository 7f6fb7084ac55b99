//! Planted bugs: the checker must find each. They stand in the checker's machine; the tables have none of them.

use super::super::Message;
use super::super::word::{Action, Event, Flight, State, Step};

/// What the machine does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A store miss sends no registration request.
    RegistrationLost,
    /// The L2 evicts a line without recalling its registered words.
    EvictedWithoutRecall,
    /// The registry accepts the writeback of a former owner.
    FormerOwnerAccepted,
    /// The registry keeps naming the former owner when another registers.
    FormerOwnerNamed,
    /// The registry grants a registration before the former owner has given the word up, and tells that one without
    /// waiting.
    GrantedEarly,
    /// Self-invalidation drops registered words.
    RegisteredDropped,
    /// Self-invalidation keeps copies.
    CopiesKept,
    /// A phase ends while registrations are under way.
    PhaseEndsEarly,
    /// An owner sends a word to somebody who has not asked.
    WrongRequester,
    /// The writeback buffer is freed when the writeback leaves.
    BufferFreedEarly,
    /// A word that comes along overwrites a registered one.
    ExtraOverwrites,
    /// An owner sends what it has of the line along with the word.
    OwnerSendsAlong,
    /// The registry sends a slot that names an owner along with another word, as data.
    NameSent,
    /// An owner answers a recall and stays registered.
    RecalledKept,
    /// An owner answers a recall and keeps a copy.
    RecalledCopyKept,
    /// A recall that meets a writeback is answered too.
    RecallAnsweredTwice,
    /// Requests that come while a line is fetched or evicted are forgotten.
    DeferredLost,
    /// A stash that gets new addresses forgets what was registered under the old ones.
    RemapDrops,
    /// A mapping that becomes coherent does not register what was written before.
    PublishedUnregistered,
    /// A mapping that becomes non-coherent keeps its registrations.
    RegistrationsKept,
    /// The registry does not record the stash-map index.
    MapIndexLost,
    /// A store of a part of a word takes the copy that is here for the rest.
    PartStoredIntoCopy,
    /// What is set aside until data come is forgotten.
    AsideLost,
    /// A strong operation goes past the copy in its own cache.
    PassedUnwritten,
    /// The registry performs a strong operation on a word that has an owner.
    OwnedPerformed,
    /// A strong operation leaves while a read of its line is under way, which brings an old word along.
    PassedEarly,
    /// A stash that is its own registry keeps what is registered when a phase ends.
    NotWrittenBack,
}

impl Bug {
    /// Whether it takes words that several memories write to see it.
    pub fn needs_together(self) -> bool {
        use Bug::*;
        matches!(self, PartStoredIntoCopy | AsideLost | PassedUnwritten | OwnedPerformed | PassedEarly)
    }
}

/// All of them.
pub const BUGS: [Bug; 26] = [
    Bug::RegistrationLost,
    Bug::EvictedWithoutRecall,
    Bug::FormerOwnerAccepted,
    Bug::FormerOwnerNamed,
    Bug::GrantedEarly,
    Bug::RegisteredDropped,
    Bug::CopiesKept,
    Bug::PhaseEndsEarly,
    Bug::WrongRequester,
    Bug::BufferFreedEarly,
    Bug::ExtraOverwrites,
    Bug::OwnerSendsAlong,
    Bug::NameSent,
    Bug::RecalledKept,
    Bug::RecalledCopyKept,
    Bug::RecallAnsweredTwice,
    Bug::DeferredLost,
    Bug::RemapDrops,
    Bug::PublishedUnregistered,
    Bug::RegistrationsKept,
    Bug::MapIndexLost,
    Bug::PartStoredIntoCopy,
    Bug::AsideLost,
    Bug::PassedUnwritten,
    Bug::OwnedPerformed,
    Bug::PassedEarly,
];

/// The lines of the private memories' table that a bug rewrites.
pub fn rewritten(bug: Bug, state: State, flight: Flight, event: Event) -> Option<Step> {
    let recall = Event::Arrives(Message::Recall);
    Some(match (bug, event, state, flight) {
        (Bug::RegisteredDropped, Event::Synchronise, State::Registered, Flight::None) => {
            (State::Invalid, flight, Action::Nothing)
        }
        (Bug::CopiesKept, Event::Synchronise, State::Valid, Flight::None) => (state, flight, Action::Nothing),
        (Bug::PhaseEndsEarly, Event::Synchronise, State::Registered, Flight::Register) => {
            (state, flight, Action::Nothing)
        }
        (Bug::ExtraOverwrites, Event::Extra, State::Registered, _) => (state, flight, Action::Fill),
        (Bug::RecalledKept, _, State::Registered, Flight::None) if event == recall => {
            (state, flight, Action::Return)
        }
        (Bug::RecalledCopyKept, _, State::Registered, Flight::None) if event == recall => {
            (State::Valid, flight, Action::Return)
        }
        (Bug::RecallAnsweredTwice, _, _, Flight::WriteBack) if event == recall => {
            (state, flight, Action::Return)
        }
        (Bug::RegistrationsKept, Event::Clean, State::Registered, Flight::None) => {
            (State::Valid, flight, Action::Nothing)
        }
        (Bug::PartStoredIntoCopy, Event::StorePart, State::Valid, Flight::None) => {
            (State::Registered, Flight::Register, Action::Claim)
        }
        _ => return None,
    })
}
