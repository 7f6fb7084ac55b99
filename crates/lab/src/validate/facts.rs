//! Figures of hardware, and which of them is a figure's counterpart.

use std::collections::BTreeMap;

use strata_workloads::micro::Figure;

/// The parameter that curves run over.
const FOOTPRINT: &str = "footprint";
/// The parameter of a fact that holds for a level of the hierarchy, whatever the footprint.
const LEVEL: &str = "level";
/// The parameter that says who read a walk's memory before it; nobody, when it comes from memory.
const READ_BEFORE_BY: &str = "read_before_by";

/// A GPU of which figures are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its name on command lines.
    pub name: &'static str,
    /// Its name, and how its figures came to be known.
    pub about: &'static str,
    /// Figures as `probe/micro.py` writes them, if it measured them.
    measured: Option<&'static str>,
}

/// Figures that others have published, of all cards.
const PUBLISHED: &str = include_str!("../../data/hardware/published.csv");

const CARDS: &[Card] = &[
    Card {
        name: "h200",
        about: "NVIDIA H200, measured with these microbenchmarks",
        measured: Some(include_str!("../../data/hardware/h200.csv")),
    },
    Card {
        name: "h100",
        about: "NVIDIA H100 SXM (80 GB HBM3), measured with these microbenchmarks",
        measured: Some(include_str!("../../data/hardware/h100.csv")),
    },
    Card {
        name: "a100",
        about: "NVIDIA A100 (SXM4 80 GB; instructions and constants of other models), published",
        measured: None,
    },
    Card { name: "v100", about: "NVIDIA Tesla V100 and TITAN V, published", measured: None },
    Card { name: "rtx3080", about: "NVIDIA GeForce RTX 3080 (GA102), published", measured: None },
    Card { name: "gtx480", about: "NVIDIA GeForce GTX 480 (GF100), published", measured: None },
];

/// Machines and the card that each models.
const OWN: &[(&str, &str)] = &[
    ("gtx480", "gtx480"),
    ("volta-fuse", "v100"),
    ("v100", "v100"),
    ("a100", "a100"),
    ("h200", "h200"),
    ("rtx3080", "rtx3080"),
];

/// Every card.
#[must_use]
pub fn cards() -> &'static [Card] {
    CARDS
}

/// The card that a machine models, if there are figures of it.
#[must_use]
pub fn own_card(machine: &str) -> Option<&'static Card> {
    let (_, card) = OWN.iter().find(|(name, _)| *name == machine)?;
    CARDS.iter().find(|known| known.name == *card)
}

/// A figure of hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// As the microbenchmarks call it.
    pub family: String,
    /// Which case it is of; empty where only the parameters say.
    pub case: String,
    /// The case's parameters.
    pub parameters: BTreeMap<String, String>,
    /// What the number is.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// The number, or the least one given.
    pub low: f64,
    /// The number, or the greatest one given.
    pub high: f64,
    /// Who says so.
    pub source: String,
}

impl Fact {
    fn footprint(&self) -> Option<f64> {
        self.parameters.get(FOOTPRINT)?.parse().ok()
    }
}

/// Where a machine's levels are, in bytes of footprint.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    /// Bytes of the L2.
    pub l2_bytes: u64,
}

impl Levels {
    /// What every L1D holds.
    const L1: u64 = 8 << 10;

    /// The level that a walk through global memory, or a stream of reads or writes, finds everything in, where that is
    /// certain.
    fn of(self, figure: &Figure) -> Option<&'static str> {
        let footprint: u64 = parameter(figure, FOOTPRINT)?.parse().ok()?;
        let is_part_of_l2 = (self.l2_bytes / 8..=self.l2_bytes / 2).contains(&footprint);
        if parameter(figure, "operation").is_some() {
            return if footprint >= 4 * self.l2_bytes {
                Some("memory")
            } else {
                is_part_of_l2.then_some("l2")
            };
        }
        let past = match parameter(figure, "space")? {
            "global" => false,
            "global-cg" => true,
            _ => return None,
        };
        match footprint {
            _ if parameter(figure, READ_BEFORE_BY) == Some("none") => Some("memory"),
            _ if past && is_part_of_l2 => Some("l2"),
            at if !past && at <= Self::L1 => Some("l1"),
            _ => None,
        }
    }

    /// As others measure it, a walk that finds nothing in any cache: it comes round through several times what the L2 holds.
    fn coming_round(self, figure: &Figure) -> Option<Figure> {
        let footprint: u64 = parameter(figure, FOOTPRINT)?.parse().ok()?;
        if parameter(figure, READ_BEFORE_BY) != Some("none") || footprint < 4 * self.l2_bytes {
            return None;
        }
        let mut round = figure.clone();
        round.parameters.retain(|(name, _)| *name != READ_BEFORE_BY);
        Some(round)
    }

    /// Whether a walk finds some of its pointers in the L2 and some not. It is timed over some of them only, which others had read
    /// before, and so is no counterpart of one that comes round.
    fn divide(self, figure: &Figure) -> bool {
        let footprint = parameter(figure, FOOTPRINT).and_then(|bytes| bytes.parse().ok());
        let is_walk = parameter(figure, "space").is_some_and(|space| space.starts_with("global"));
        is_walk
            && footprint.is_some_and(|bytes: u64| (self.l2_bytes + 1..16 * self.l2_bytes).contains(&bytes))
    }
}

fn parameter<'a>(figure: &'a Figure, name: &str) -> Option<&'a str> {
    figure.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

/// The figures of a card.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// Whose they are.
    pub card: &'static Card,
    /// The figures.
    pub facts: Vec<Fact>,
}

impl Hardware {
    /// Reads a card's figures.
    ///
    /// # Errors
    /// A line of the data that is not a figure.
    pub fn of(card: &'static Card) -> Result<Hardware, String> {
        let mut facts = match card.measured {
            Some(text) => read(text, None, card.about)?,
            None => vec![],
        };
        facts.extend(read(PUBLISHED, Some(card.name), "published")?);
        Ok(Hardware { card, facts })
    }

    /// A card by its name.
    ///
    /// # Errors
    /// There is no such card, or its data cannot be read.
    pub fn named(name: &str) -> Result<Hardware, String> {
        let card = CARDS.iter().find(|card| card.name == name).ok_or_else(|| {
            let known: Vec<&str> = CARDS.iter().map(|card| card.name).collect();
            format!("found `{name}`, expected one of {}", known.join(", "))
        })?;
        Hardware::of(card)
    }

    /// What corresponds to a figure: the same case; else, over footprints, what lies between the two next to it; else what is
    /// said of the level that it is in.
    #[must_use]
    pub fn counterpart(&self, family: &str, figure: &Figure, levels: Levels) -> Option<Fact> {
        let alike = |fact: &&Fact| {
            fact.family == family && fact.quantity == figure.quantity && fact.unit == figure.unit
        };
        let alike: Vec<&Fact> = self.facts.iter().filter(alike).collect();
        if let Some(same) = alike.iter().find(|fact| fact.case == figure.case) {
            return Some((*same).clone());
        }
        let others_only = self.card.measured.is_none() && levels.divide(figure);
        let curve = if others_only { None } else { between(&alike, figure) };
        let round = || between(&alike, &levels.coming_round(figure)?);
        let curve = if self.card.measured.is_none() { curve.or_else(round) } else { curve };
        curve.or_else(|| {
            let level = levels.of(figure)?;
            let said = |fact: &&&Fact| {
                fact.parameters.get(LEVEL).is_some_and(|known| known == level) && same(fact, figure, LEVEL)
            };
            alike.iter().find(said).map(|fact| (*fact).clone())
        })
    }

    /// The points of the curve that a figure lies on, by footprint.
    #[must_use]
    pub fn curve(&self, family: &str, figure: &Figure) -> Vec<(f64, f64)> {
        let on = |fact: &&Fact| {
            fact.family == family && fact.quantity == figure.quantity && same(fact, figure, FOOTPRINT)
        };
        let points = self.facts.iter().filter(on);
        let mut points: Vec<(f64, f64)> =
            points.filter_map(|fact| Some((fact.footprint()?, f64::midpoint(fact.low, fact.high)))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    }
}

/// Whether a fact's parameters are a figure's, but for one and for the footprint.
fn same(fact: &Fact, figure: &Figure, but: &str) -> bool {
    let others = |name: &&str| **name != *but && **name != *FOOTPRINT;
    let of_fact = fact.parameters.keys().map(String::as_str).filter(others).count();
    let of_figure = figure.parameters.iter().map(|(name, _)| *name).filter(others);
    let mut count = 0;
    for name in of_figure {
        count += 1;
        if fact.parameters.get(name).map(String::as_str) != parameter(figure, name) {
            return false;
        }
    }
    count == of_fact
}

/// The straight line between the two facts whose footprints, by factors, enclose the figure's.
fn between(facts: &[&Fact], figure: &Figure) -> Option<Fact> {
    let footprint: f64 = parameter(figure, FOOTPRINT)?.parse().ok()?;
    let mut points: Vec<(f64, &Fact)> = facts
        .iter()
        .filter(|fact| same(fact, figure, FOOTPRINT))
        .filter_map(|fact| Some((fact.footprint()?, *fact)))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let above = points.iter().position(|(at, _)| *at >= footprint)?;
    let (to, upper) = points[above];
    if to == footprint {
        return Some(upper.clone());
    }
    let (from, lower) = *points.get(above.checked_sub(1)?)?;
    let share = (footprint / from).ln() / (to / from).ln();
    let at = |of: fn(&Fact) -> f64| of(lower) + share * (of(upper) - of(lower));
    Some(Fact { low: at(|fact| fact.low), high: at(|fact| fact.high), ..upper.clone() })
}

/// Reads figures, those of one card where they say whose they are.
fn read(text: &str, card: Option<&str>, source: &str) -> Result<Vec<Fact>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = |name: &str| headings.iter().position(|heading| heading == name);
    let mut facts = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |name: &str| place(name).and_then(|place| record.get(place)).unwrap_or("");
        if card.is_some_and(|card| field("card") != card) {
            continue;
        }
        let number = |names: [&str; 2]| {
            let text = names.into_iter().map(field).find(|text| !text.is_empty()).unwrap_or("");
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("line {line}: {}: found `{text}`, expected a number", names[0]))
        };
        let parameters = field("parameters").split(';').filter(|pair| !pair.is_empty());
        let parameters = parameters
            .map(|pair| {
                let (name, value) = pair.split_once('=').ok_or_else(|| {
                    format!("line {line}: parameters: found `{pair}`, expected a name, `=` and a value")
                })?;
                Ok((name.to_owned(), value.to_owned()))
            })
            .collect::<Result<_, String>>()?;
        facts.push(Fact {
            family: field("family").into(),
            case: field("case").into(),
            parameters,
            quantity: field("quantity").into(),
            unit: field("unit").into(),
            low: number(["median", "low"])?,
            high: number(["median", "high"])?,
            source: if field("source").is_empty() { source.into() } else { field("source").into() },
        });
    }
    Ok(facts)
}
