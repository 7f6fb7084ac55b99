//! The L2 of the checked machine: it does what the registry's table says.

use super::super::Message;
use super::super::registry::{Action as Does, Event, Line, Slot, recall, transition};
use super::super::{Owner, Place};
use super::machine::Machine;
use super::planted::Bug;
use super::world::{Bits, Fault, Letter, REGISTRY, Value, WORDS, World};

impl Machine {
    /// A letter arrives at the registry.
    pub fn registry_receives(&self, world: &mut World, letter: Letter) {
        let word = usize::from(letter.word);
        let event = match letter.message {
            Message::Read => Event::Read,
            Message::Register => Event::Register,
            Message::RegisterRead => Event::RegisterRead,
            Message::Perform => Event::Perform,
            Message::WriteBack => Event::WriteBack,
            Message::Return => Event::Return,
            other => return world.fail(Fault::Registry(world.line, other)),
        };
        let Some(slot) = slot(world, word) else { return world.fail(Fault::NoSuchOwner) };
        let sender = self.owners[usize::from(letter.from)];
        let Some((after, action)) = transition(world.line, slot, event, sender) else {
            return world.fail(Fault::Registry(world.line, letter.message));
        };
        if self.own_registry && letter.message != Message::Read {
            leave_behind(world, word);
        }
        let before = world.slots[word];
        let kept = self.has(Bug::FormerOwnerNamed) && matches!(action, Does::ForwardRegister(_));
        if !kept
            && let Slot::Owned(owner) = after
            && after != slot
        {
            world.slots[word] = Bits::Owner(self.recorded(owner).encode());
        }
        self.registry_does(world, word, action, letter, before);
    }

    fn registry_does(&self, world: &mut World, word: usize, action: Does, letter: Letter, before: Bits) {
        let from = letter.from;
        match action {
            Does::Defer if self.has(Bug::DeferredLost) => {}
            Does::Defer => world.deferred.push(letter),
            Does::FetchAndDefer => {
                world.line = Line::Fetching;
                world.deferred.push(letter);
            }
            Does::Supply => self.registry_supplies(world, word, letter, before),
            Does::Grant => self.send(world, (REGISTRY, from), Message::Granted, from, letter),
            Does::ForwardRead(owner) => self.forward(world, owner, Message::ForwardRead, letter),
            Does::ForwardRegister(owner) => {
                self.forward(world, owner, Message::ForwardRegister, letter);
                if self.has(Bug::GrantedEarly) {
                    self.send(world, (REGISTRY, from), Message::Granted, from, letter);
                }
            }
            Does::ForwardRegisterRead(owner) => {
                self.forward(world, owner, Message::ForwardRegisterRead, letter);
            }
            Does::Perform => self.registry_performs(world, word, letter),
            Does::RecallAndDefer(_) if self.has(Bug::OwnedPerformed) => {
                self.registry_performs(world, word, letter);
            }
            Does::RecallAndDefer(owner) => {
                (world.line, world.recalled) = (Line::Recalling, word as u8);
                world.deferred.push(letter);
                let letter = Letter { from: REGISTRY, requester: 0, ..letter };
                match self.owners.iter().position(|other| *other == owner) {
                    Some(unit) => {
                        self.send(world, (REGISTRY, unit as u8), Message::Recall, unit as u8, letter)
                    }
                    None => world.fail(Fault::NoSuchOwner),
                }
            }
            Does::StoreAndAnswer | Does::DropAndAnswer => {
                let accepts = self.has(Bug::FormerOwnerAccepted) && world.line == Line::Present;
                if action == Does::StoreAndAnswer || accepts {
                    world.slots[word] = Bits::Data(letter.value);
                }
                self.send(world, (REGISTRY, from), Message::WrittenBack, from, letter);
                self.finish_eviction(world);
            }
            Does::Store => {
                world.slots[word] = Bits::Data(letter.value);
                self.finish_eviction(world);
            }
        }
    }

    /// Sends a word, with the line's other word if programs use it and its data are here.
    fn registry_supplies(&self, world: &mut World, word: usize, letter: Letter, before: Bits) {
        let value = match before {
            Bits::Data(value) => value,
            Bits::Owner(_) => Value::Name,
        };
        let extra = match world.slots[1 - word] {
            _ if self.words < WORDS => Value::None,
            Bits::Data(value) => value,
            Bits::Owner(_) if self.has(Bug::NameSent) => Value::Name,
            _ => Value::None,
        };
        let letter =
            Letter { from: REGISTRY, to: letter.from, message: Message::Data, value, extra, ..letter };
        self.network.send(&mut world.mail, letter);
    }

    /// A read-modify-write, or a write of a part.
    fn registry_performs(&self, world: &mut World, word: usize, letter: Letter) {
        if self.race_free && world.slots[word] != Bits::Data(Value::Fresh) {
            world.fail(Fault::WrongValue);
        }
        world.written(word);
        world.slots[word] = Bits::Data(Value::Fresh);
        self.send(world, (REGISTRY, letter.from), Message::Performed, letter.from, letter);
    }

    fn forward(&self, world: &mut World, owner: Owner, message: Message, letter: Letter) {
        match self.owners.iter().position(|other| *other == owner) {
            Some(unit) => self.send(world, (REGISTRY, unit as u8), message, letter.from, letter),
            None => world.fail(Fault::NoSuchOwner),
        }
    }

    /// The owner that the registry writes down.
    fn recorded(&self, owner: Owner) -> Owner {
        match owner.place {
            Place::Stash { .. } if self.has(Bug::MapIndexLost) => {
                Owner { place: Place::Stash { map: 0 }, ..owner }
            }
            _ => owner,
        }
    }

    /// The line's place is needed: registered words are recalled first.
    pub fn evict_line(&self, world: &mut World) {
        world.line = Line::Evicting;
        for word in 0..WORDS {
            let Some(slot) = slot(world, word) else { return world.fail(Fault::NoSuchOwner) };
            let Some(owner) = recall(slot) else { continue };
            if self.has(Bug::EvictedWithoutRecall) {
                world.slots[word] = Bits::Data(world.memory[word]);
                continue;
            }
            let (message, value, extra) = (Message::Recall, Value::None, Value::None);
            let letter =
                Letter { from: REGISTRY, to: 0, message, word: word as u8, requester: 0, value, extra };
            match self.owners.iter().position(|other| *other == owner) {
                Some(unit) => {
                    self.send(world, (REGISTRY, unit as u8), Message::Recall, unit as u8, letter);
                }
                None => world.fail(Fault::NoSuchOwner),
            }
        }
        self.finish_eviction(world);
    }

    /// Once the recalled word is here, the line stays. Once all words are here, an evicted line leaves, and requests that came meanwhile are taken up.
    fn finish_eviction(&self, world: &mut World) {
        if world.line == Line::Recalling && matches!(world.slots[usize::from(world.recalled)], Bits::Data(_))
        {
            (world.line, world.recalled) = (Line::Present, 0);
            return self.take_up(world);
        }
        let all_here = world.slots.iter().all(|slot| matches!(slot, Bits::Data(_)));
        if world.line != Line::Evicting || !all_here {
            return;
        }
        for (memory, slot) in world.memory.iter_mut().zip(&mut world.slots) {
            if let Bits::Data(value) = std::mem::replace(slot, Bits::Data(Value::None)) {
                *memory = value;
            }
        }
        world.line = Line::Absent;
        self.take_up(world);
    }

    /// Memory sends the line.
    pub fn fetched(&self, world: &mut World) {
        world.line = Line::Present;
        world.slots = world.memory.map(Bits::Data);
        // Memory's copy is written before it is read again: it does not matter, and states are fewer.
        world.memory = [Value::Stale; WORDS];
        self.take_up(world);
    }

    fn take_up(&self, world: &mut World) {
        for letter in std::mem::take(&mut world.deferred) {
            self.registry_receives(world, letter);
        }
    }
}

/// What stands in a word's slot; `None` if it names nobody.
fn slot(world: &World, word: usize) -> Option<Slot> {
    Some(match world.slots[word] {
        Bits::Data(_) => Slot::Data,
        Bits::Owner(bits) => Slot::Owned(Owner::decode(bits)?),
    })
}

/// A word is written: what is on its way from memory brings it along no more.
fn leave_behind(world: &mut World, word: usize) {
    let brings = |letter: &&mut Letter| letter.from == REGISTRY && usize::from(letter.word) != word;
    world.mail.iter_mut().filter(brings).for_each(|letter| letter.extra = Value::None);
}
