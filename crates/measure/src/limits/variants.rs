//! The machines to run: as it is, with each part ideal alone, and with them ideal together.

use strata_gpu::machine::Machine;

use super::parts::Part;

/// A machine to run, and which of its parts are ideal.
#[derive(Debug)]
pub struct Variant {
    /// The parts that are ideal, in the order of [`Part::ALL`].
    pub parts: Vec<Part>,
    /// The machine, or why it cannot be.
    pub machine: Result<Machine, String>,
}

/// The machine as it is, with each of some parts ideal alone, and with those that can be one after the other, from the second on.
#[must_use]
pub fn variants(machine: &Machine, parts: &[Part]) -> Vec<Variant> {
    let as_it_is = Variant { parts: Vec::new(), machine: Ok(machine.clone()) };
    let alone = |part: &Part| Variant { parts: vec![*part], machine: part.over(machine) };
    let mut variants = vec![as_it_is];
    variants.extend(parts.iter().map(alone));
    let (mut together, mut ideal) = (machine.clone(), Vec::new());
    // What cannot be ideal alone is left out.
    let possible: Vec<Part> = parts
        .iter()
        .copied()
        .zip(&variants[1..])
        .filter(|(_, alone)| alone.machine.is_ok())
        .map(|(part, _)| part)
        .collect();
    for part in possible {
        let all = part.over(&together);
        ideal.push(part);
        if ideal.len() > 1 {
            variants.push(Variant { parts: ideal.clone(), machine: all.clone() });
        }
        match all {
            Ok(all) => together = all,
            Err(_) => _ = ideal.pop(),
        }
    }
    variants
}
