//! The private memories' table for the words of a line at once: sets of words of the same state instead of a state for each.

use super::word::{Action, Event, Flight, State, transition};

/// States of a line's words, bit n for word n; words in neither set are Invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Valid words.
    pub valid: u32,
    /// Registered words.
    pub registered: u32,
}

impl Words {
    /// Words that are here.
    #[inline]
    pub fn here(self) -> u32 {
        self.valid | self.registered
    }
}

/// What is under way for a line's words; the sets share none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flights {
    /// Reads.
    pub read: u32,
    /// Registrations.
    pub register: u32,
    /// Registrations of words of which a part was written.
    pub register_read: u32,
    /// Writebacks.
    pub write_back: u32,
}

impl Flights {
    /// Words with anything under way but a writeback: they keep the line's place.
    #[inline]
    pub fn pinning(self) -> u32 {
        self.read | self.register | self.register_read
    }
}

/// Number of actions.
const ACTIONS: usize = Action::Return as usize + 1;

/// What an event makes of a line.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// States afterwards.
    pub words: Words,
    /// What is under way afterwards.
    pub flights: Flights,
    actions: [u32; ACTIONS],
}

impl Outcome {
    /// The words with which to do this.
    #[inline]
    pub fn with(&self, action: Action) -> u32 {
        self.actions[action as usize]
    }
}

/// A word that the table has no line for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLine {
    /// The words.
    pub words: u32,
    /// Their state.
    pub state: State,
    /// What is under way.
    pub flight: Flight,
}

/// Looks up what an event makes of some words of a line.
///
/// # Errors
/// The first words to which it cannot happen.
pub fn apply(words: Words, flights: Flights, event: Event, which: u32) -> Result<Outcome, NoLine> {
    let mut outcome = Outcome { words, flights, actions: [0; ACTIONS] };
    let busy = flights.pinning() | flights.write_back;
    let by_flight = [
        (Flight::None, which & !busy),
        (Flight::Read, which & flights.read),
        (Flight::Register, which & flights.register),
        (Flight::RegisterRead, which & flights.register_read),
        (Flight::WriteBack, which & flights.write_back),
    ];
    for (flight, set) in by_flight {
        if set == 0 {
            continue;
        }
        let by_state = [
            (State::Invalid, set & !words.here()),
            (State::Valid, set & words.valid),
            (State::Registered, set & words.registered),
        ];
        for (state, set) in by_state.into_iter().filter(|(_, set)| *set != 0) {
            let Some((state, flight, action)) = transition(state, flight, event) else {
                return Err(NoLine { words: set, state, flight });
            };
            outcome.put(state, flight, set);
            outcome.actions[action as usize] |= set;
        }
    }
    Ok(outcome)
}

impl Outcome {
    fn put(&mut self, state: State, flight: Flight, set: u32) {
        let Words { valid, registered } = &mut self.words;
        (*valid, *registered) = (*valid & !set, *registered & !set);
        match state {
            State::Invalid => {}
            State::Valid => *valid |= set,
            State::Registered => *registered |= set,
        }
        let Flights { read, register, register_read, write_back } = &mut self.flights;
        for flights in [&mut *read, &mut *register, &mut *register_read, &mut *write_back] {
            *flights &= !set;
        }
        match flight {
            Flight::None => {}
            Flight::Read => *read |= set,
            Flight::Register => *register |= set,
            Flight::RegisterRead => *register_read |= set,
            Flight::WriteBack => *write_back |= set,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Message;
    use super::*;

    #[test]
    fn a_line_does_what_each_of_its_words_does() {
        // Word 0 is invalid, 1 valid, 2 registered; 3 is registered and not granted, 4 is read, 5 written back.
        let words = Words { valid: 0b00_0010, registered: 0b00_1100 };
        let flights =
            Flights { register: 0b00_1000, read: 0b01_0000, write_back: 0b10_0000, ..Flights::default() };
        let load = apply(words, flights, Event::Load, 0b11_1111).unwrap();
        assert_eq!(load.with(Action::Hit), 0b00_1110);
        assert_eq!((load.with(Action::Ask), load.with(Action::Wait)), (0b00_0001, 0b11_0000));
        assert_eq!((load.words, load.flights.read), (words, 0b01_0001));
        let store = apply(words, flights, Event::Store, 0b00_1111).unwrap();
        assert_eq!((store.with(Action::Hit), store.with(Action::Claim)), (0b00_1100, 0b00_0011));
        assert_eq!(store.words, Words { valid: 0, registered: 0b00_1111 });
        let leave = apply(words, flights, Event::Evict, 0b00_0111).unwrap();
        assert_eq!((leave.with(Action::WriteBack), leave.flights.write_back), (0b00_0100, 0b10_0100));
        assert_eq!(leave.words, Words { valid: 0, registered: 0b00_1000 });
        let error = apply(words, flights, Event::Arrives(Message::Data), 0b00_0111).unwrap_err();
        assert_eq!(error, NoLine { words: 1, state: State::Invalid, flight: Flight::None });
    }
}
