//! A word in a private memory: states, events, and what each event makes of each state.

use super::Message;

/// State of a word (4.3). Two bits encode it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The word is not here.
    #[default]
    Invalid,
    /// A copy that is right until the next synchronisation; the paper's Shared.
    Valid,
    /// The only up-to-date copy; the registry names this memory, or is about to.
    Registered,
}

/// What a private memory has under way for a word: kept in an MSHR or a buffer, not in the word's state, and never seen by
/// others (reading 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flight {
    /// Nothing.
    #[default]
    None,
    /// A read request, until the data come.
    Read,
    /// A registration request, until it is granted.
    Register,
    /// A registration request of a word of which a part was written, until its data come.
    RegisterRead,
    /// A writeback, until the registry has it. The data stand in a buffer.
    WriteBack,
}

/// What happens to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// The core reads it.
    Load,
    /// The core writes all of it. In the stash also: a word written under a non-coherent mapping becomes coherent.
    Store,
    /// The core writes a part of it.
    StorePart,
    /// Its space is needed: a cache line is replaced, a chunk gets a new mapping. Or the core works on the word where the
    /// registry has it.
    Evict,
    /// Others shall see it and this memory keeps a copy: a coherent mapping becomes non-coherent.
    Clean,
    /// Self-invalidation: the core synchronises.
    Synchronise,
    /// The word came along with another one of its line.
    Extra,
    /// A message arrives.
    Arrives(Message),
}

/// What the memory does besides changing state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Performs the access at once.
    Hit,
    /// Leaves the event for later: ask again when the flight is over.
    Wait,
    /// Sends [`Message::Read`].
    Ask,
    /// Writes the word and sends [`Message::Register`].
    Claim,
    /// Keeps what is written and sends [`Message::RegisterRead`].
    ClaimAndAsk,
    /// Copies the word into the buffer and sends [`Message::WriteBack`].
    WriteBack,
    /// Takes the word from the message and completes the loads that wait for it.
    Fill,
    /// Takes from the message the rest of the word.
    Complete,
    /// Keeps the message until the data come, then takes it up again, in order of arrival.
    SetAside,
    /// Frees the buffer.
    Release,
    /// Sends the word to the requester: [`Message::Data`].
    Supply,
    /// Sends the buffer's word to the requester: [`Message::Data`].
    SupplyBuffered,
    /// Tells the requester that it is the only owner: [`Message::Granted`].
    Yield,
    /// Sends the word to the registry: [`Message::Return`].
    Return,
}

/// What an event makes of a word.
pub type Step = (State, Flight, Action);

/// The table. `None` where the event cannot happen.
pub const fn transition(state: State, flight: Flight, event: Event) -> Option<Step> {
    match event {
        Event::Load => load(state, flight),
        Event::Store => store(state, flight),
        Event::StorePart => store_part(state, flight),
        Event::Evict => leave(state, flight, State::Invalid),
        Event::Clean => leave(state, flight, State::Valid),
        Event::Synchronise => synchronise(state, flight),
        Event::Extra => extra(state, flight),
        Event::Arrives(message) => arrive(state, flight, message),
    }
}

const fn load(state: State, flight: Flight) -> Option<Step> {
    Some(match (state, flight) {
        (State::Valid | State::Registered, _) => (state, flight, Action::Hit),
        (State::Invalid, Flight::None) => (state, Flight::Read, Action::Ask),
        (State::Invalid, _) => (state, flight, Action::Wait),
    })
}

const fn store(state: State, flight: Flight) -> Option<Step> {
    Some(match (state, flight) {
        (State::Registered, _) => (state, flight, Action::Hit),
        (_, Flight::None) => (State::Registered, Flight::Register, Action::Claim),
        _ => (state, flight, Action::Wait),
    })
}

/// Others may have written other parts since a copy came: it is worth nothing.
const fn store_part(state: State, flight: Flight) -> Option<Step> {
    Some(match (state, flight) {
        (State::Registered, _) => (state, flight, Action::Hit),
        (_, Flight::None) => (State::Invalid, Flight::RegisterRead, Action::ClaimAndAsk),
        _ => (state, flight, Action::Wait),
    })
}

/// The word stays as a copy (`kept` is Valid) or not at all (Invalid); if it is registered, it is written back.
const fn leave(state: State, flight: Flight, kept: State) -> Option<Step> {
    Some(match (state, flight) {
        (_, Flight::Read | Flight::Register | Flight::RegisterRead) => (state, flight, Action::Wait),
        (State::Registered, Flight::None) => (kept, Flight::WriteBack, Action::WriteBack),
        (State::Registered, Flight::WriteBack) => return None,
        (State::Valid, _) => (kept, flight, Action::Nothing),
        (State::Invalid, _) => (state, flight, Action::Nothing),
    })
}

const fn synchronise(state: State, flight: Flight) -> Option<Step> {
    Some(match (state, flight) {
        (_, Flight::Read | Flight::Register | Flight::RegisterRead) => (state, flight, Action::Wait),
        (State::Valid, _) => (State::Invalid, flight, Action::Nothing),
        (State::Invalid | State::Registered, _) => (state, flight, Action::Nothing),
    })
}

/// Only a word that is not here and has nothing under way is filled.
const fn extra(state: State, flight: Flight) -> Option<Step> {
    Some(match (state, flight) {
        (State::Invalid, Flight::None) => (State::Valid, flight, Action::Fill),
        _ => (state, flight, Action::Nothing),
    })
}

const fn arrive(state: State, flight: Flight, message: Message) -> Option<Step> {
    use {Flight as F, Message as M, State as S};
    Some(match (message, state, flight) {
        (M::Data, S::Invalid, F::Read) => (S::Valid, F::None, Action::Fill),
        (M::Data, S::Invalid, F::RegisterRead) => (S::Registered, F::None, Action::Complete),
        // Recalled, or (in a race) taken by another, before the grant came: the store was performed all the same.
        (M::Granted, S::Registered | S::Invalid, F::Register) => (state, F::None, Action::Nothing),
        (M::WrittenBack, S::Invalid | S::Valid, F::WriteBack) => (state, F::None, Action::Release),
        (M::ForwardRead, S::Registered, F::None | F::Register) => (state, flight, Action::Supply),
        (M::ForwardRead, S::Invalid | S::Valid, F::WriteBack) => (state, flight, Action::SupplyBuffered),
        (M::ForwardRegister, S::Registered, F::None | F::Register) => (S::Invalid, flight, Action::Yield),
        (M::ForwardRegister, S::Invalid | S::Valid, F::WriteBack) => (S::Invalid, flight, Action::Yield),
        (M::ForwardRegisterRead, S::Registered, F::None | F::Register) => {
            (S::Invalid, flight, Action::Supply)
        }
        (M::ForwardRegisterRead, S::Invalid | S::Valid, F::WriteBack) => {
            (S::Invalid, flight, Action::SupplyBuffered)
        }
        // The registry names this memory already, and the data are on their way from the former owner.
        (
            M::ForwardRead | M::ForwardRegister | M::ForwardRegisterRead | M::Recall,
            S::Invalid,
            F::RegisterRead,
        ) => (state, flight, Action::SetAside),
        (M::Recall, S::Registered, F::None | F::Register) => (S::Invalid, flight, Action::Return),
        // The writeback is the answer.
        (M::Recall, S::Invalid | S::Valid, F::WriteBack) => (state, flight, Action::Nothing),
        _ => return None,
    })
}
