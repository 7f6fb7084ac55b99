//! Policies: small parts of a machine, each chosen by name with one key of the machine file.

use strata_engine::config::{Entry, KeyFacts};

use super::keys;

/// The keys that choose a policy. What each decides, and the policies there are, the types of the keys say.
const KEYS: &[&str] = &[
    "sm.scheduling",
    "gpu.dispatch",
    "l1d.sram.replacement",
    "l1d.sram.insertion",
    "l1d.sram.prefetch",
    "llc.conventional.replacement",
    "llc.conventional.insertion",
    "llc.conventional.prefetch",
    "gpu.interleave_hash",
    "dram.scheduler",
    "dram.page",
    "dram.refresh.policy",
];

/// A key that chooses a policy.
#[derive(Clone, Debug)]
pub struct PolicyKey {
    /// Its path in a machine file.
    pub key: &'static str,
    /// What the policy decides.
    pub meaning: String,
    /// The policies, in order of registration.
    pub policies: Vec<Policy>,
}

/// A policy that a key can choose.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// The value that a machine file gives the key: the name, or a table of it with the policy's numbers.
    pub value: String,
    /// What it does.
    pub meaning: String,
}

/// All keys that choose a policy, and the policies of this process.
pub fn policies() -> Vec<PolicyKey> {
    KEYS.iter().map(|key| of_key(key)).collect()
}

fn of_key(key: &'static str) -> PolicyKey {
    let Some(Entry::Key(KeyFacts { meaning, choices, .. })) = keys::find(keys::root(), key) else {
        unreachable!("{key} is a key of machine files")
    };
    let of_choice = |(value, meaning): &(String, String)| {
        let name = value.trim_start_matches("{ ").split(' ').next().unwrap_or_default().to_owned();
        Policy { name, value: value.clone(), meaning: meaning.clone() }
    };
    PolicyKey { key, meaning: meaning.clone(), policies: choices.iter().map(of_choice).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::Machine;
    use super::*;

    #[test]
    fn every_policy_has_a_name_that_a_machine_takes_and_a_meaning() {
        let all = policies();
        let names: Vec<&str> =
            all.iter().flat_map(|key| &key.policies).map(|policy| policy.name.as_str()).collect();
        let replacements = ["lru", "fifo", "random", "tree-plru", "srrip", "brrip", "drrip", "ship"];
        let insertions = ["all", "none", "by-pc", "dead-block"];
        let caches = [&replacements[..], &insertions, &["none", "next-line", "stride", "stream"]].concat();
        let others = [
            "none",
            "xor",
            "ipoly",
            "fcfs",
            "fr-fcfs",
            "fr-fcfs-cap",
            "unlimited",
            "open",
            "closed",
            "timeout",
            "none",
            "all-bank",
            "per-bank",
        ];
        let of_sms = [
            "loose-round-robin",
            "greedy-then-oldest",
            "switch-on-memory",
            "two-level",
            "ccws",
            "round-robin",
            "depth-first",
            "limited",
            "blocks",
        ];
        assert_eq!(names, [&of_sms[..], &caches, &caches, &others].concat());
        // What some of them need: a refresh, and 16 slices.
        let base = ["dram.refresh.refi=7800", "dram.refresh.rfc=160", "gpu.channels=8"].map(str::to_owned);
        for PolicyKey { key, policies, .. } in all {
            for policy in policies {
                assert!(policy.meaning.ends_with('.'), "{key} = {}: {}", policy.name, policy.meaning);
                let bits = policy.value.replace("bits = ...", "bits = [[12], [13], [14], [15]]");
                let passing = bits.replace("pass = ...", "pass = [50]");
                let set = format!("{key}={}", passing.replace("...", "20"));
                let sets = [&base[..], std::slice::from_ref(&set)].concat();
                let machine = Machine::load("gtx480", &sets).unwrap_or_else(|error| panic!("{set}: {error}"));
                let value = machine.keys().into_iter().find(|known| known.path == key);
                assert!(value.unwrap().value.unwrap().to_string().contains(&policy.name), "{set}");
            }
        }
        let unknown = Machine::load("gtx480", &["dram.page=opne".to_owned()]).unwrap_err().to_string();
        assert_eq!(
            unknown,
            "--set dram.page=opne: unknown variant `opne` (did you mean `open`?), expected one of `open`, `closed`, `timeout`"
        );
    }
}
