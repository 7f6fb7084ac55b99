//! The machine that is checked: what can happen in it, and what must hold.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::super::Message;
use super::super::registry::Line;
use super::super::word::{Action as Does, Event, Flight, State, transition};
use super::super::{Owner, Place};
use super::explorer::Model;
use super::network::Network;
use super::planted::{Bug, rewritten};
use super::world::{ALL, Bits, Fault, Letter, REGISTRY, UNITS, Value, WORDS, World};

/// What can happen. Private memories and words have numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A load.
    Load(u8, u8),
    /// A store.
    Store(u8, u8),
    /// A store of a part of a word.
    StorePart(u8, u8),
    /// A strong operation.
    Perform(u8, u8),
    /// A cache line or a chunk is replaced.
    Evict(u8),
    /// ChgMap: each slot of a stash gets the address that the other one had.
    Remap(u8),
    /// ChgMap: a coherent mapping becomes non-coherent.
    Hide(u8),
    /// ChgMap: a non-coherent mapping becomes coherent.
    Publish(u8),
    /// A core comes to the end of its phase and self-invalidates.
    Arrive(u8),
    /// All have come, and a phase begins in which these may write.
    Begin([Option<u8>; WORDS]),
    /// The L2 needs the line's place.
    EvictLine,
    /// Memory has sent the line.
    Fetched,
    /// The letter at this place arrives.
    Deliver(u8),
}

/// What is checked.
pub struct Machine {
    /// The private memories.
    pub owners: Vec<Owner>,
    /// Words that the programs use.
    pub words: usize,
    /// Whether there are phases in which everybody writes parts of a word, and works on it at the registry.
    pub together: bool,
    /// The network.
    pub network: Network,
    /// Whether programs are free of races: in a phase, one private memory alone may touch a word that it may write. If
    /// not, everybody touches everything, and values are not checked.
    pub race_free: bool,
    /// Whether the private memories are mappings of one stash that is its own registry: what needs no memory is done at once, the rest
    /// in any order; all is written back at the end of a phase. One thread block has them all, so that each may write what another
    /// has written. Its loads may find copies of before, and are not checked.
    pub own_registry: bool,
    /// What is wrong with it.
    pub bug: Option<Bug>,
    /// The lines of the private memories' table that were used.
    pub used: RefCell<BTreeSet<(State, Flight, Event)>>,
}

impl Machine {
    /// A machine without bugs, for programs without races that use both words.
    pub fn new(owners: &[Owner], network: Network) -> Machine {
        Machine {
            owners: owners.to_vec(),
            words: WORDS,
            together: false,
            network,
            race_free: true,
            own_registry: false,
            bug: None,
            used: RefCell::default(),
        }
    }

    /// The mappings of a stash that is its own registry.
    pub fn of_own_registry(owners: &[Owner]) -> Machine {
        Machine { own_registry: true, ..Machine::new(owners, Network::InOrder) }
    }

    /// Whether all cores have come to the end of the phase.
    fn has_ended(&self, world: &World) -> bool {
        world.units[..self.owners.len()].iter().all(|unit| unit.arrived)
    }

    /// Whether the machine has this bug.
    pub fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Sends a message about the letter's word, with its data if the message carries data; nothing comes along.
    pub fn send(
        &self,
        world: &mut World,
        (from, to): (u8, u8),
        message: Message,
        requester: u8,
        letter: Letter,
    ) {
        let value = if message.carries_data() { letter.value } else { Value::None };
        let letter = Letter { from, to, message, word: letter.word, requester, value, extra: Value::None };
        self.network.send(&mut world.mail, letter);
    }

    /// The line of the table for an event.
    pub fn look_up(
        &self,
        world: &World,
        unit: u8,
        word: usize,
        event: Event,
    ) -> Option<(State, Flight, Does)> {
        let memory = &world.units[usize::from(unit)];
        let (state, flight) = (memory.state(word), memory.flights[word]);
        let planted = self.bug.and_then(|bug| rewritten(bug, state, flight, event));
        planted.or_else(|| transition(state, flight, event))
    }

    /// Whether an event can be performed now, for all words of a private memory.
    fn can(&self, world: &World, unit: u8, event: Event) -> bool {
        (0..WORDS)
            .all(|word| !matches!(self.look_up(world, unit, word, event), None | Some((_, _, Does::Wait))))
    }

    /// Whether a private memory may read a word in this phase, and whether it may write it.
    fn may(&self, world: &World, unit: u8, word: usize) -> (bool, bool) {
        if self.own_registry {
            return (true, true);
        }
        let writes = world.writers[word] == Some(unit);
        let is_cache = self.is_cache(unit);
        (
            writes
                || world.writers[word] == Some(ALL) && is_cache
                || world.writers[word].is_none()
                || !self.race_free,
            writes || !self.race_free,
        )
    }

    fn core_actions(&self, world: &World, unit: u8, actions: &mut Vec<Action>) {
        let memory = &world.units[usize::from(unit)];
        for word in (0..self.words).filter(|word| !memory.performing[*word]) {
            let (reads, writes) = self.may(world, unit, word);
            let copy = memory.slots[memory.slot(word)];
            let goes = |event| !matches!(self.look_up(world, unit, word, event), Some((_, _, Does::Wait)));
            if reads && (copy.local || goes(Event::Load)) {
                actions.push(Action::Load(unit, word as u8));
            }
            // A non-coherent store changes nothing that others see.
            let stores = if memory.local { reads && memory.flights[word] != Flight::Read } else { writes };
            if stores && (memory.local || goes(Event::Store)) {
                actions.push(Action::Store(unit, word as u8));
            }
            let together = self.together && self.is_cache(unit);
            let together = together && (writes || world.writers[word] == Some(ALL));
            if together && goes(Event::StorePart) {
                actions.push(Action::StorePart(unit, word as u8));
            }
            // It goes past only when nothing of the line is under way but writebacks (reading 12).
            let under_way = |flight: &Flight| !matches!(flight, Flight::None | Flight::WriteBack);
            let passes = !memory.flights.iter().any(under_way);
            if together && (passes || self.has(Bug::PassedEarly) && goes(Event::Evict)) {
                actions.push(Action::Perform(unit, word as u8));
            }
        }
        if matches!(self.owners[usize::from(unit)].place, Place::Stash { .. }) {
            self.mapping_changes(world, unit, actions);
        }
        let ends = self.can(world, unit, Event::Synchronise);
        let ends = ends && (!self.own_registry || self.can(world, unit, Event::Evict));
        if ends && memory.performing == [false; WORDS] {
            actions.push(Action::Arrive(unit));
        }
    }

    fn mapping_changes(&self, world: &World, unit: u8, actions: &mut Vec<Action>) {
        let memory = &world.units[usize::from(unit)];
        if self.can(world, unit, Event::Evict) {
            actions.push(Action::Remap(unit));
        }
        if !memory.local && self.can(world, unit, Event::Clean) {
            actions.push(Action::Hide(unit));
        }
        let publishes = |word| {
            let copy = memory.slots[memory.slot(word)];
            !copy.local || self.may(world, unit, word).1 && memory.flights[word] == Flight::None
        };
        if memory.local && (0..WORDS).all(publishes) {
            actions.push(Action::Publish(unit));
        }
    }

    /// What is wrong when nothing moves: a word that a final read would not find, or a memory and the registry that
    /// disagree.
    fn quiet_fault(&self, world: &World) -> Option<String> {
        let is_owned = |slot: &Bits| matches!(slot, Bits::Owner(_));
        if self.own_registry && self.has_ended(world) && world.slots.iter().any(is_owned) {
            return Some("a phase has ended, and memory lacks what a mapping wrote".to_owned());
        }
        for word in 0..WORDS {
            let value = match (world.line, world.slots[word]) {
                (Line::Absent, _) => world.memory[word],
                (_, Bits::Data(value)) => value,
                (_, Bits::Owner(bits)) => {
                    let Some(owner) = Owner::decode(bits) else {
                        return Some("a slot names nobody".to_owned());
                    };
                    let Some(unit) = self.owners.iter().position(|other| *other == owner) else {
                        return Some(format!("the registry names {owner}, who is not there"));
                    };
                    let memory = &world.units[unit];
                    if memory.state(word) != State::Registered {
                        return Some(format!("the registry names {owner}, who does not hold word {word}"));
                    }
                    memory.slots[memory.slot(word)].value
                }
            };
            if self.race_free && value != Value::Fresh {
                return Some(format!("a final read of word {word} finds a {value:?} value"));
            }
            for (unit, owner) in self.owners.iter().enumerate() {
                let registered = world.units[unit].state(word) == State::Registered;
                if registered && world.owner(word) != Some(*owner) {
                    return Some(format!("{owner} holds word {word} and the registry does not know"));
                }
            }
        }
        None
    }
}

impl Model for Machine {
    type State = World;
    type Action = Action;

    fn initial(&self) -> World {
        let world = World::new();
        if !self.own_registry {
            return world;
        }
        World { line: Line::Present, slots: world.memory.map(Bits::Data), ..world }
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let needs_memory = |message| matches!(message, Message::Data | Message::WrittenBack);
        let at_once = |letter: &Letter| letter.from != REGISTRY || !needs_memory(letter.message);
        if self.own_registry
            && let Some(place) = world.mail.iter().position(at_once)
        {
            return actions.push(Action::Deliver(place as u8));
        }
        let units = self.owners.len() as u8;
        for unit in 0..units {
            let memory = &world.units[usize::from(unit)];
            if !memory.arrived {
                self.core_actions(world, unit, actions);
            }
            let holds = memory.slots.iter().any(|copy| copy.state != State::Invalid || copy.local);
            if holds && self.can(world, unit, Event::Evict) {
                actions.push(Action::Evict(unit));
            }
        }
        let is_written = !self.own_registry || world.is_quiet();
        if self.has_ended(world) && is_written {
            let writers = || (0..units).map(Some).chain([None]).chain(self.together.then_some(Some(ALL)));
            for first in writers() {
                let second = writers().filter(|writer| self.words > 1 || writer.is_none());
                actions.extend(second.map(|second| Action::Begin([first, second])));
            }
        }
        match world.line {
            Line::Present if self.own_registry => {}
            Line::Present => actions.push(Action::EvictLine),
            Line::Fetching => actions.push(Action::Fetched),
            Line::Absent | Line::Evicting | Line::Recalling => {}
        }
        let may_arrive = |place: &usize| self.own_registry || self.network.may_arrive(&world.mail, *place);
        let arriving = (0..world.mail.len()).filter(may_arrive);
        actions.extend(arriving.map(|place| Action::Deliver(place as u8)));
    }

    fn next(&self, before: &World, action: Action) -> World {
        let mut world = before.clone();
        match action {
            Action::Load(unit, word) => self.load(&mut world, unit, word.into()),
            Action::Store(unit, word) => self.store(&mut world, unit, word.into()),
            Action::StorePart(unit, word) => self.store_part(&mut world, unit, word.into()),
            Action::Perform(unit, word) => self.perform(&mut world, unit, word.into()),
            Action::Evict(unit) => self.leave(&mut world, unit, Event::Evict),
            Action::Remap(unit) => self.remap(&mut world, unit),
            Action::Hide(unit) => {
                self.leave(&mut world, unit, Event::Clean);
                world.units[usize::from(unit)].local = true;
            }
            Action::Publish(unit) => self.publish(&mut world, unit),
            Action::Arrive(unit) => {
                let writes_back = self.own_registry && !self.has(Bug::NotWrittenBack);
                let event = if writes_back { Event::Evict } else { Event::Synchronise };
                self.leave(&mut world, unit, event);
                world.units[usize::from(unit)].arrived = true;
                if self.has_ended(&world) {
                    world.writers = [None; WORDS];
                }
            }
            Action::Begin(writers) => {
                world.writers = writers;
                world.units.iter_mut().for_each(|unit| unit.arrived = false);
            }
            Action::EvictLine => self.evict_line(&mut world),
            Action::Fetched => self.fetched(&mut world),
            Action::Deliver(place) => {
                let letter = world.mail.remove(place.into());
                if letter.to == REGISTRY {
                    self.registry_receives(&mut world, letter);
                } else {
                    self.memory_receives(&mut world, letter);
                }
            }
        }
        world
    }

    fn fault(&self, world: &World) -> Option<String> {
        if let Some(fault) = world.fault {
            return Some(format!("{fault:?}"));
        }
        let owns = |unit: usize, word: usize| {
            let memory = &world.units[unit];
            memory.state(word) == State::Registered && memory.flights[word] != Flight::Register
        };
        for word in 0..WORDS {
            if self.race_free && (0..UNITS).filter(|unit| owns(*unit, word)).count() > 1 {
                return Some(format!("word {word} has two owners"));
            }
        }
        if world.is_quiet() {
            return self.quiet_fault(world);
        }
        let stuck = world.mail.is_empty() && world.line != Line::Fetching;
        stuck.then(|| "deadlock: somebody waits and nothing is on its way".to_owned())
    }
}

impl World {
    /// Notes the first fault.
    pub fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }
}
