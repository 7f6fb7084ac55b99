//! The private memories of the checked machine: they do what their table says.

use super::super::Message;
use super::super::Place;
use super::super::word::{Action as Does, Event, Flight, State};
use super::machine::Machine;
use super::planted::Bug;
use super::world::{ALL, ASIDE, Copy, Fault, Letter, REGISTRY, Value, WORDS, World};

impl Machine {
    /// A core loads a word.
    pub fn load(&self, world: &mut World, unit: u8, word: usize) {
        if world.units[usize::from(unit)].copy(word).local {
            return;
        }
        self.happens(world, unit, word, Event::Load, self.about(unit, word));
    }

    /// A core stores a word.
    pub fn store(&self, world: &mut World, unit: u8, word: usize) {
        let memory = &mut world.units[usize::from(unit)];
        if memory.local {
            *memory.copy(word) = Copy { state: State::Invalid, value: Value::None, local: true };
            return;
        }
        self.happens(world, unit, word, Event::Store, self.about(unit, word));
    }

    /// A core stores a part of a word.
    pub fn store_part(&self, world: &mut World, unit: u8, word: usize) {
        self.happens(world, unit, word, Event::StorePart, self.about(unit, word));
    }

    /// A core has an operation performed at the registry; nothing of its own memory is under way.
    pub fn perform(&self, world: &mut World, unit: u8, word: usize) {
        if !self.has(Bug::PassedUnwritten) {
            self.happens(world, unit, word, Event::Evict, self.about(unit, word));
        }
        world.units[usize::from(unit)].performing[word] = true;
        self.send(world, (unit, REGISTRY), Message::Perform, unit, self.about(unit, word));
    }

    /// An event that concerns all words of a private memory and may make them leave it. What was written under a
    /// non-coherent mapping is lost, unless the mapping stays.
    pub fn leave(&self, world: &mut World, unit: u8, event: Event) {
        for word in 0..WORDS {
            let copy = world.units[usize::from(unit)].copy(word);
            if copy.local {
                *copy = Copy::default();
            }
            self.happens(world, unit, word, event, self.about(unit, word));
        }
    }

    /// A stash exchanges the addresses of its slots.
    pub fn remap(&self, world: &mut World, unit: u8) {
        if self.has(Bug::RemapDrops) {
            world.units[usize::from(unit)].slots = [Copy::default(); WORDS];
        }
        self.leave(world, unit, Event::Evict);
        let memory = &mut world.units[usize::from(unit)];
        memory.swapped = !memory.swapped;
    }

    /// A non-coherent mapping becomes coherent: what was written is registered.
    pub fn publish(&self, world: &mut World, unit: u8) {
        for word in 0..WORDS {
            let copy = world.units[usize::from(unit)].copy(word);
            if !std::mem::take(&mut copy.local) {
                continue;
            }
            if self.has(Bug::PublishedUnregistered) {
                world.written(word);
                let copy = world.units[usize::from(unit)].copy(word);
                (copy.state, copy.value) = (State::Registered, Value::Fresh);
            } else {
                self.happens(world, unit, word, Event::Store, self.about(unit, word));
            }
        }
        world.units[usize::from(unit)].local = false;
    }

    /// A letter arrives at a private memory.
    pub fn memory_receives(&self, world: &mut World, letter: Letter) {
        let word = usize::from(letter.word);
        if letter.message == Message::Performed {
            world.units[usize::from(letter.to)].performing[word] = false;
            return;
        }
        self.happens(world, letter.to, word, Event::Arrives(letter.message), letter);
        let other = 1 - word;
        if letter.extra != Value::None && !world.units[usize::from(letter.to)].copy(other).local {
            let extra = Letter { word: other as u8, value: letter.extra, ..letter };
            self.happens(world, letter.to, other, Event::Extra, extra);
        }
    }

    /// A letter that says who asks for which word, for the events that no letter causes.
    fn about(&self, unit: u8, word: usize) -> Letter {
        let (message, value, extra) = (Message::Read, Value::None, Value::None);
        Letter { from: unit, to: unit, message, word: word as u8, requester: unit, value, extra }
    }

    /// Looks an event up and does what the table says.
    fn happens(&self, world: &mut World, unit: u8, word: usize, event: Event, letter: Letter) {
        let number = usize::from(unit);
        let memory = &world.units[number];
        self.used.borrow_mut().insert((memory.state(word), memory.flights[word], event));
        let Some((state, flight, action)) = self.look_up(world, unit, word, event) else {
            let memory = &world.units[number];
            world.fail(Fault::PrivateMemory(memory.state(word), memory.flights[word], letter.message));
            return;
        };
        world.units[number].flights[word] = flight;
        self.does(world, unit, word, (event, action), letter);
        let copy = world.units[number].copy(word);
        copy.state = state;
        if state == State::Invalid && !copy.local {
            copy.value = Value::None;
        }
        if action == Does::Complete && !self.has(Bug::AsideLost) {
            self.take_up_aside(world, unit, word);
        } else if action == Does::Complete {
            world.units[number].aside = [None; ASIDE];
        }
    }

    /// The rest of a word has come, of which a part was written before: none of the other parts may be lost.
    fn complete(&self, world: &mut World, unit: u8, word: usize, letter: Letter) {
        self.check(world, letter.value);
        self.write(world, unit, word);
    }

    /// Messages about a word that were set aside are taken up in order of arrival.
    fn take_up_aside(&self, world: &mut World, unit: u8, word: usize) {
        let aside = std::mem::take(&mut world.units[usize::from(unit)].aside);
        let (now, later): (Vec<Letter>, Vec<Letter>) =
            aside.into_iter().flatten().partition(|letter| usize::from(letter.word) == word);
        for (place, letter) in world.units[usize::from(unit)].aside.iter_mut().zip(later) {
            *place = Some(letter);
        }
        now.into_iter().for_each(|letter| self.memory_receives(world, letter));
    }

    fn does(&self, world: &mut World, unit: u8, word: usize, (event, action): (Event, Does), letter: Letter) {
        let number = usize::from(unit);
        let value = world.units[number].copy(word).value;
        let to_registry = |value| Letter { value, ..letter };
        match action {
            Does::Nothing | Does::Wait => {}
            Does::Hit if event == Event::Store => self.write(world, unit, word),
            // Another part of the word may have been written since.
            Does::Hit if world.writers[word] == Some(ALL) && event == Event::Load => {}
            Does::Hit if event == Event::StorePart => {
                self.check(world, value);
                self.write(world, unit, word);
            }
            Does::Hit => self.check(world, value),
            Does::Ask => self.send(world, (unit, REGISTRY), Message::Read, unit, letter),
            Does::Claim => {
                self.write(world, unit, word);
                if self.has(Bug::RegistrationLost) {
                    world.units[number].flights[word] = Flight::None;
                } else {
                    self.send(world, (unit, REGISTRY), Message::Register, unit, letter);
                }
            }
            Does::WriteBack => {
                let kept = if self.has(Bug::BufferFreedEarly) { Value::Stale } else { value };
                world.units[number].buffers[word] = kept;
                self.send(world, (unit, REGISTRY), Message::WriteBack, unit, to_registry(value));
            }
            Does::Fill => {
                world.units[number].copy(word).value = letter.value;
                if event != Event::Extra && world.writers[word] != Some(ALL) {
                    self.check(world, letter.value);
                }
            }
            Does::ClaimAndAsk => self.send(world, (unit, REGISTRY), Message::RegisterRead, unit, letter),
            Does::Complete => self.complete(world, unit, word, letter),
            Does::SetAside => {
                let aside = &mut world.units[number].aside;
                match aside.iter_mut().find(|place| place.is_none()) {
                    Some(place) => *place = Some(letter),
                    None => world.fail(Fault::TooManyAside),
                }
            }
            Does::Release => world.units[number].buffers[word] = Value::None,
            Does::Supply => self.supply(world, unit, value, letter),
            Does::SupplyBuffered => {
                let buffered = world.units[number].buffers[word];
                self.supply(world, unit, buffered, letter);
            }
            Does::Yield if self.has(Bug::GrantedEarly) => {}
            Does::Yield => {
                self.send(world, (unit, letter.requester), Message::Granted, letter.requester, letter)
            }
            Does::Return => self.send(world, (unit, REGISTRY), Message::Return, unit, to_registry(value)),
        }
    }

    fn write(&self, world: &mut World, unit: u8, word: usize) {
        world.written(word);
        world.units[usize::from(unit)].copy(word).value = Value::Fresh;
    }

    fn check(&self, world: &mut World, value: Value) {
        if self.race_free && !self.own_registry && value != Value::Fresh {
            world.fail(Fault::WrongValue);
        }
    }

    /// Sends a word to a requester. Only the registry sends words along.
    fn supply(&self, world: &mut World, unit: u8, value: Value, letter: Letter) {
        let other = 1 - usize::from(letter.word);
        let memory = &mut world.units[usize::from(unit)];
        let registered = memory.state(other) == State::Registered;
        let comes_along = self.has(Bug::OwnerSendsAlong) && registered;
        let extra = if comes_along { memory.copy(other).value } else { Value::None };
        let mut to = letter.requester;
        if self.has(Bug::WrongRequester) {
            to = (to + 1) % self.owners.len() as u8;
        }
        let letter = Letter { from: unit, to, message: Message::Data, value, extra, ..letter };
        self.network.send(&mut world.mail, letter);
    }

    /// Whether a private memory is a cache.
    pub fn is_cache(&self, unit: u8) -> bool {
        self.owners[usize::from(unit)].place == Place::Cache
    }
}
