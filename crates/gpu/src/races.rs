//! The data races of a program, found on the reference executor, with the buffers that they are in.

use std::fmt;

use serde_json::{Value, json};
use strata_ptx::isa::Space;
use strata_ptx::reference::races::{Race, RaceCheck, Racer};

use crate::device::Heap;

/// Races that the text describes before it only counts.
const SHOWN: usize = 20;

/// The races of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// The run's launches, the one included that stopped it.
    pub launches: u64,
    /// Pairs of places that race, in the order of their first race.
    pub races: Vec<PlacedRace>,
    /// Pairs of places that write different bytes of a half-word: no races of the program, but caches that cannot keep the
    /// bytes of a half-word apart may lose one.
    pub half_words: Vec<PlacedRace>,
}

/// A pair of places that race, and what their first race was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedRace {
    /// The race.
    pub race: Race,
    /// The buffer that the first race's address was in, and how far.
    pub buffer: Option<(String, u64)>,
}

/// Looks for races in launches, and names the buffers that they are in.
#[derive(Debug, Default)]
pub(crate) struct RaceWatch {
    /// What watches launches.
    pub check: RaceCheck,
    /// The buffer that each named race is in, and how far into it.
    buffers: Vec<Option<(String, u64)>>,
}

impl RaceWatch {
    /// Names the buffers of a launch's races.
    pub fn launched(&mut self, heap: &Heap) {
        for race in &self.check.races()[self.buffers.len()..] {
            let found = heap.containing(race.address).filter(|_| race.space == Space::Global);
            self.buffers.push(found.map(|buffer| (buffer.name.clone(), race.address - buffer.start)));
        }
    }

    /// All races.
    pub fn finish(self) -> Races {
        let placed = self.check.races().iter().cloned().zip(self.buffers);
        let placed = placed.map(|(race, buffer)| PlacedRace { race, buffer });
        let (half_words, races) = placed.partition(|placed| placed.race.half_word);
        Races { launches: self.check.launches(), races, half_words }
    }
}

impl Races {
    /// The races as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let list = |races: &[PlacedRace]| races.iter().map(PlacedRace::to_json).collect::<Vec<_>>();
        json!({
            "launches": self.launches,
            "races": list(&self.races),
            "half_words": list(&self.half_words),
        })
    }
}

impl PlacedRace {
    fn to_json(&self) -> Value {
        let Race { earlier, later, count, same_value, launch, space, address, .. } = &self.race;
        let place = |racer: &Racer| {
            json!({
                "kernel": racer.kernel,
                "text": racer.text,
                "line": racer.line,
                "access": racer.access,
                "writes": racer.writes,
                "bytes": racer.bytes,
                "cta": racer.cta,
                "thread": racer.thread,
            })
        };
        json!({
            "earlier": place(earlier),
            "later": place(later),
            "count": count,
            "same_value": same_value,
            "launch": launch,
            "space": if *space == Space::Shared { "shared" } else { "global" },
            "address": address,
            "buffer": self.buffer.as_ref().map(|(name, _)| name),
            "offset": self.buffer.as_ref().map(|(_, offset)| offset),
        })
    }

    /// Where the first race was.
    fn place(&self) -> String {
        let Race { space, address, .. } = self.race;
        match &self.buffer {
            _ if space == Space::Shared => format!("byte {address} of shared memory"),
            Some((name, offset)) => format!("byte {offset} of `{name}` (address {address:#x})"),
            None => format!("address {address:#x}"),
        }
    }
}

impl fmt::Display for PlacedRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let race = &self.race;
        let what = match (race.half_word, race.same_value_only()) {
            (true, _) => "shares a half-word".to_owned(),
            (_, true) => "race: both write the same value".to_owned(),
            _ => format!("race: {} and {}", race.earlier.access, race.later.access),
        };
        let times = if race.count == 1 { "once".to_owned() } else { format!("{} times", race.count) };
        writeln!(f, "{what}, {times}; first in launch {} at {}", race.launch, self.place())?;
        for racer in [&race.earlier, &race.later] {
            let Racer { kernel, line, access, bytes, cta: [a, b, c], thread: [x, y, z], .. } = racer;
            let text = racer.text.as_ref().map(|text| format!(" of {text}")).unwrap_or_default();
            let unit = if *bytes == 1 { "byte" } else { "bytes" };
            write!(f, "  {kernel}, line {line}{text}: {access} of {bytes} {unit}, ")?;
            writeln!(f, "CTA ({a}, {b}, {c}), thread ({x}, {y}, {z})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Races {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let launches = if self.launches == 1 { "1 launch" } else { &format!("{} launches", self.launches) };
        let pairs = |count: usize| {
            if count == 1 { "1 pair of places".to_owned() } else { format!("{count} pairs of places") }
        };
        match self.races.len() {
            0 => write!(f, "no races in {launches}")?,
            count => write!(f, "RACES at {} in {launches}", pairs(count))?,
        }
        if !self.half_words.is_empty() {
            write!(f, "; half-words shared at {}", pairs(self.half_words.len()))?;
        }
        writeln!(f)?;
        for list in [&self.races, &self.half_words] {
            list.iter().take(SHOWN).try_for_each(|race| race.fmt(f))?;
            if let Some(more @ 1..) = list.len().checked_sub(SHOWN) {
                writeln!(f, "and {more} more")?;
            }
        }
        Ok(())
    }
}
