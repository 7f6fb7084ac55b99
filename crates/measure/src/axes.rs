//! What a comparison varies: systems, and the values of swept parameters.

use strata_engine::config::did_you_mean;

use crate::variant::Variant;

/// A parameter and the values it is swept over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Path of the parameter, `door.key`.
    pub path: String,
    /// The values, at least one.
    pub values: Vec<String>,
}

impl Sweep {
    /// Parses `door.key=v1,v2,v3`. A value may be a range: `2..8` for each whole number from 2 to 8, `2..8+2` for
    /// every second, `2..64*2` for each twice the one before.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn parse(text: &str) -> Result<Sweep, String> {
        let wrong = || format!("--sweep {text}: expected door.key=value,value,...");
        let (path, values) = text.split_once('=').ok_or_else(wrong)?;
        let mut expanded = Vec::new();
        for value in values.split(',').map(str::trim) {
            match range(value) {
                Some(range) => expanded.extend(range.map_err(|error| format!("--sweep {text}: {error}"))?),
                None => expanded.push(value.to_owned()),
            }
        }
        if path.trim().is_empty() || expanded.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Sweep { path: path.trim().to_owned(), values: expanded })
    }
}

/// Most values of a range.
const RANGE: usize = 256;

/// The values of a range; `None` for a text that is not meant as one.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (first, rest) = text.split_once("..")?;
    let (last, step) = match rest.find(['+', '*']) {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, "+1"),
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let (first, last, by) = (number(first)?, number(last)?, number(&step[1..])?);
    let expected = || {
        let what = "first..last, first..last+step or first..last*factor";
        Err(format!("found `{text}`, expected a range of at most {RANGE} values: {what}"))
    };
    let is_product = step.starts_with('*');
    if first > last || by < 1 + u64::from(is_product) || (is_product && first == 0) {
        return Some(expected());
    }
    let next = |value: &u64| if is_product { value.checked_mul(by) } else { value.checked_add(by) };
    let values = std::iter::successors(Some(first), next).take_while(|value| *value <= last);
    let values: Vec<String> = values.take(RANGE + 1).map(|value| value.to_string()).collect();
    Some(if values.len() > RANGE { expected() } else { Ok(values) })
}

/// Most parameters that one command can sweep.
const SWEEPS: usize = 2;

/// Systems, and the values of swept parameters. A comparison has a variant for every combination, numbered in the
/// order of nested loops: systems outermost, the last parameter innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Names of the systems, at least one. The machine's own name stands for the machine without a system.
    pub systems: Vec<String>,
    /// The swept parameters, at most two.
    pub sweeps: Vec<Sweep>,
}

impl Axes {
    /// The axes of a machine's comparison. Without systems, the machine stands alone.
    ///
    /// # Errors
    /// If more parameters are swept than can be shown.
    pub fn new(machine: &str, systems: Vec<String>, sweeps: Vec<Sweep>) -> Result<Axes, String> {
        if sweeps.len() > SWEEPS {
            return Err(format!("--sweep is given {} times, expected at most {SWEEPS}", sweeps.len()));
        }
        let systems = if systems.is_empty() { vec![machine.to_owned()] } else { systems };
        Ok(Axes { systems, sweeps })
    }

    /// Number of entries on each axis: the systems, then each parameter's values.
    #[must_use]
    pub fn lengths(&self) -> Vec<usize> {
        std::iter::once(self.systems.len())
            .chain(self.sweeps.iter().map(|sweep| sweep.values.len()))
            .collect()
    }

    /// Number of swept points of each system.
    #[must_use]
    pub fn points(&self) -> usize {
        self.sweeps.iter().map(|sweep| sweep.values.len()).product()
    }

    /// Number of variants.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lengths().iter().product()
    }

    /// The entry of each axis that a variant has.
    #[must_use]
    pub fn place(&self, variant: usize) -> Vec<usize> {
        let mut rest = variant;
        let mut place: Vec<usize> = self
            .lengths()
            .into_iter()
            .rev()
            .map(|length| {
                let entry = rest % length;
                rest /= length;
                entry
            })
            .collect();
        place.reverse();
        place
    }

    /// The variant that has these entries.
    #[must_use]
    pub fn variant(&self, place: &[usize]) -> usize {
        self.lengths().into_iter().zip(place).fold(0, |variant, (length, entry)| variant * length + entry)
    }

    /// A variant's system.
    #[must_use]
    pub fn system(&self, variant: usize) -> &str {
        &self.systems[self.place(variant)[0]]
    }

    /// A variant's value of each swept parameter, after the parameter's path.
    #[must_use]
    pub fn values(&self, variant: usize) -> Vec<(&str, &str)> {
        let entries = self.place(variant).into_iter().skip(1);
        let pairs = self.sweeps.iter().zip(entries);
        pairs.map(|(sweep, entry)| (sweep.path.as_str(), sweep.values[entry].as_str())).collect()
    }

    /// A variant's name: the system, then the swept values as `door.key=value`.
    #[must_use]
    pub fn name(&self, variant: usize) -> String {
        let values = self.values(variant).into_iter().map(|(path, value)| format!(" {path}={value}"));
        std::iter::once(self.system(variant).to_owned()).chain(values).collect()
    }

    /// All variants of a machine; `sets` are overrides that each of them has or, as `system:door.key=value`, each with that system.
    /// `versions` are those of workloads in the same way, as `version` or `system:version`: the last one counts.
    #[must_use]
    pub fn variants(&self, machine: &str, sets: &[String], versions: &[String]) -> Vec<Variant> {
        let variant = |place: usize| {
            let system = self.system(place);
            let point = self.values(place).into_iter().map(|(path, value)| format!("{path}={value}"));
            let sets = sets.iter().filter_map(|set| of_system(set, system));
            Variant {
                name: self.name(place),
                base: machine.to_owned(),
                system: (system != machine).then(|| system.to_owned()),
                sets: sets.map(str::to_owned).chain(point).collect(),
                version: versions
                    .iter()
                    .filter_map(|version| of_system(version, system))
                    .next_back()
                    .map(str::to_owned),
            }
        };
        (0..self.count()).map(variant).collect()
    }
}

/// The system that an override or a version names, and what is left, as in `hi-end:l1d.ways=8` and `stash:stash-g`.
#[must_use]
pub fn split_set(set: &str) -> (Option<&str>, &str) {
    match set.split_once(':') {
        Some((system, set)) if !system.contains('=') => (Some(system), set),
        _ => (None, set),
    }
}

/// An override or a version, if it is one of a system that may be several as `a+b`.
fn of_system<'a>(set: &'a str, system: &str) -> Option<&'a str> {
    let (wanted, set) = split_set(set);
    let has = |wanted| system == wanted || system.split('+').any(|name| name == wanted);
    wanted.is_none_or(has).then_some(set)
}

/// What ratios are over. An axis that the base leaves open keeps the variant's own entry, so `--base l1-sram` compares
/// each variant with L1-SRAM at the same swept values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The entry of each axis.
    entries: Vec<Option<usize>>,
    /// What the base is called.
    pub name: String,
}

impl Base {
    /// The first variant.
    #[must_use]
    pub fn first(axes: &Axes) -> Base {
        Base::variant(axes, 0)
    }

    /// One variant.
    #[must_use]
    pub fn variant(axes: &Axes, variant: usize) -> Base {
        Base { entries: axes.place(variant).into_iter().map(Some).collect(), name: axes.name(variant) }
    }

    /// Reads a base: a variant's name, or one or more of a system's name and swept values.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn parse(text: &str, axes: &Axes) -> Result<Base, String> {
        let mut entries = vec![None; axes.lengths().len()];
        if let Some(variant) = (0..axes.count()).find(|variant| axes.name(*variant) == text) {
            entries = axes.place(variant).into_iter().map(Some).collect();
        } else if let Some(system) = axes.systems.iter().position(|system| system == text) {
            entries[0] = Some(system);
        } else {
            for word in text.split_whitespace() {
                let (axis, entry) = find(word, axes).map_err(|error| format!("--base {text}: {error}"))?;
                if entries[axis].replace(entry).is_some() {
                    let of = if axis == 0 { "system" } else { &axes.sweeps[axis - 1].path };
                    return Err(format!("--base {text}: found a second {of}, expected one"));
                }
            }
        }
        let base = Base { entries, name: text.to_owned() };
        if (0..axes.count()).all(|variant| base.of(axes, variant) == variant) && axes.count() > 1 {
            return Err(format!(
                "--base {text}: every variant would be over itself, expected {}",
                expected(axes, |length| length > 1)
            ));
        }
        Ok(base)
    }

    /// The variant that a variant is compared with.
    #[must_use]
    pub fn of(&self, axes: &Axes, variant: usize) -> usize {
        let own = axes.place(variant);
        let place: Vec<usize> =
            self.entries.iter().zip(own).map(|(entry, own)| entry.unwrap_or(own)).collect();
        axes.variant(&place)
    }

    /// What ratios are over, in words: `l1-sram at the same l1d.ways`.
    #[must_use]
    pub fn title(&self, axes: &Axes) -> String {
        let names = std::iter::once("system").chain(axes.sweeps.iter().map(|sweep| sweep.path.as_str()));
        let open = names.zip(&self.entries).zip(axes.lengths());
        let open: Vec<&str> = open
            .filter(|((_, entry), length)| entry.is_none() && *length > 1)
            .map(|((name, _), _)| name)
            .collect();
        match &open[..] {
            [] => self.name.clone(),
            ["system"] => format!("{} on the same system", self.name),
            ["system", others @ ..] => {
                format!("{} on the same system and {}", self.name, others.join(" and "))
            }
            _ => format!("{} at the same {}", self.name, open.join(" and ")),
        }
    }
}

/// The axis and the entry that a word names.
fn find(word: &str, axes: &Axes) -> Result<(usize, usize), String> {
    if let Some(system) = axes.systems.iter().position(|system| system == word) {
        return Ok((0, system));
    }
    let pairs = axes.sweeps.iter().enumerate().flat_map(|(axis, sweep)| {
        sweep
            .values
            .iter()
            .enumerate()
            .map(move |(entry, value)| (axis + 1, entry, format!("{}={value}", sweep.path)))
    });
    let pairs: Vec<(usize, usize, String)> = pairs.collect();
    if let Some((axis, entry, _)) = pairs.iter().find(|(.., pair)| pair == word) {
        return Ok((*axis, *entry));
    }
    let names = axes.systems.iter().chain(pairs.iter().map(|(.., pair)| pair)).map(String::as_str);
    let alike = did_you_mean(word, names);
    Err(format!("found `{word}`, expected {}{alike}", expected(axes, |_| true)))
}

/// The systems and swept values that a base may name, of the axes whose length is as wanted.
fn expected(axes: &Axes, wanted: impl Fn(usize) -> bool) -> String {
    let mut parts = Vec::new();
    if wanted(axes.systems.len()) {
        parts.push(format!("a system ({})", axes.systems.join(", ")));
    }
    let swept = axes.sweeps.iter().filter(|sweep| wanted(sweep.values.len()));
    parts.extend(swept.map(|sweep| format!("{}={}", sweep.path, sweep.values.join(", "))));
    parts.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(systems: &[&str], sweeps: &[&str]) -> Axes {
        let sweeps = sweeps.iter().map(|sweep| Sweep::parse(sweep).unwrap()).collect();
        Axes::new("m", systems.iter().map(|system| (*system).to_owned()).collect(), sweeps).unwrap()
    }

    #[test]
    fn every_system_meets_every_combination_of_swept_values() {
        let axes = axes(&["m", "s"], &["l1d.ways=2,4", "l1d.sets=16,32"]);
        let variants = axes.variants("m", &["a.b=1".into()], &[]);
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[1], "m l1d.ways=2 l1d.sets=32");
        assert_eq!(variants[7].system.as_deref(), Some("s"));
        assert_eq!(variants[7].sets, ["a.b=1", "l1d.ways=4", "l1d.sets=32"]);
        assert_eq!(variants[0].system, None);
        for variant in 0..axes.count() {
            assert_eq!(axes.variant(&axes.place(variant)), variant);
        }
        assert_eq!((axes.system(6), axes.values(6)), ("s", vec![("l1d.ways", "4"), ("l1d.sets", "16")]));
    }

    #[test]
    fn an_override_may_be_of_one_system() {
        let axes = axes(&["m", "a", "a+b"], &[]);
        let sets = ["x.y=1", "b:l1d.ways=2", "m:x.z=3", "x.text=p:q"].map(str::to_owned);
        let sets: Vec<String> = axes.variants("m", &sets, &[]).iter().map(|of| of.sets.join(" ")).collect();
        assert_eq!(sets, ["x.y=1 x.z=3 x.text=p:q", "x.y=1 x.text=p:q", "x.y=1 l1d.ways=2 x.text=p:q"]);
    }

    #[test]
    fn a_version_may_be_of_one_system() {
        let axes = axes(&["m", "a", "a+b"], &[]);
        let versions = ["scratch", "b:stash", "m:cache"].map(str::to_owned);
        let variants = axes.variants("m", &[], &versions);
        let programs: Vec<_> = variants.iter().map(|variant| variant.program("lud")).collect();
        assert_eq!(programs, ["lud@cache", "lud@scratch", "lud@stash"]);
        assert_eq!(axes.variants("m", &[], &[])[2].program("lud"), "lud");
    }

    /// The variants that each variant is over.
    fn over(axes: &Axes, base: &str) -> (Vec<usize>, String) {
        let base = Base::parse(base, axes).unwrap();
        ((0..axes.count()).map(|variant| base.of(axes, variant)).collect(), base.title(axes))
    }

    #[test]
    fn a_base_is_a_variant_or_leaves_what_it_does_not_name() {
        let swept = axes(&["m", "s"], &["k.a=1,2"]);
        assert_eq!(over(&swept, "s k.a=2"), (vec![3; 4], "s k.a=2".into()));
        assert_eq!(over(&swept, "s"), (vec![2, 3, 2, 3], "s at the same k.a".into()));
        assert_eq!(over(&swept, "k.a=2"), (vec![1, 1, 3, 3], "k.a=2 on the same system".into()));
        assert_eq!(over(&axes(&["m", "s"], &[]), "s"), (vec![1; 2], "s".into()));
        assert_eq!(over(&axes(&[], &["k.a=1,2"]), "k.a=2"), (vec![1; 2], "k.a=2".into()));
        let first = Base::first(&swept);
        assert_eq!((first.of(&swept, 3), first.title(&swept)), (0, "m k.a=1".into()));
    }

    #[test]
    fn a_base_that_is_not_compared_is_refused_with_what_is() {
        let swept = axes(&["m", "l1-sram"], &["k.a=1,2"]);
        let refused = |base: &str, axes: &Axes| Base::parse(base, axes).unwrap_err();
        assert_eq!(
            refused("l1-sran", &swept),
            "--base l1-sran: found `l1-sran`, expected a system (m, l1-sram) or k.a=1, 2 (did you mean `l1-sram`?)"
        );
        assert!(refused("m k.a=3", &swept).contains("found `k.a=3`, expected "));
        assert_eq!(refused("m l1-sram", &swept), "--base m l1-sram: found a second system, expected one");
        assert_eq!(
            refused("m", &axes(&[], &["k.a=1,2"])),
            "--base m: every variant would be over itself, expected k.a=1, 2"
        );
    }

    #[test]
    fn ranges_are_spelt_out() {
        let values = |text: &str| Sweep::parse(&format!("x={text}")).map(|sweep| sweep.values.join(" "));
        assert_eq!(values("2..5").unwrap(), "2 3 4 5");
        assert_eq!(values("1, 2..8+3 ,16..128*2").unwrap(), "1 2 5 8 16 32 64 128");
        assert_eq!(values("0.5,a..b").unwrap(), "0.5 a..b", "not every dot makes a range");
        for wrong in ["5..2", "1..4+0", "1..4*1", "0..4*2", "0..256", "1..18446744073709551615"] {
            let error = values(wrong).unwrap_err();
            assert!(
                error.contains(&format!("found `{wrong}`, expected a range of at most 256 values")),
                "{error}"
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(Sweep::parse("x").unwrap_err(), "--sweep x: expected door.key=value,value,...");
        assert_eq!(Sweep::parse("x=1,").unwrap_err(), "--sweep x=1,: expected door.key=value,value,...");
        let sweep = Sweep { path: "x".into(), values: vec!["1".into()] };
        let three = [sweep.clone(), sweep.clone(), sweep];
        assert_eq!(
            Axes::new("m", vec![], three.to_vec()).unwrap_err(),
            "--sweep is given 3 times, expected at most 2"
        );
    }
}
