//! Writes a profile as JSON.

use serde_json::{Value, json};

use super::{KernelProfile, LineClass, Profile, SpaceProfile};

impl Profile {
    /// The profile's counts and the ratios derived from them.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let classes = LineClass::ALL.map(|class| {
            json!({
                "class": class.name(),
                "lines": self.lines.lines[class as usize],
                "accesses": self.lines.accesses[class as usize],
                "share": self.lines.share(class),
            })
        });
        json!({
            "inputs_hash": format!("{:016x}", self.inputs_hash),
            "footprint_bytes": self.footprint_bytes,
            "launches": self.launches,
            "warp_instructions": self.warp_instructions,
            "thread_instructions": self.thread_instructions,
            "active_lanes": self.active_lanes(),
            "apki": self.apki(),
            "global": space(&self.global),
            "local": space(&self.local),
            "shared": space(&self.shared),
            "constant": space(&self.constant),
            "line_classes": classes,
            "kernels": self.kernels.iter().map(|(name, of)| kernel(name, of)).collect::<Vec<_>>(),
        })
    }
}

fn space(of: &SpaceProfile) -> Value {
    json!({
        "loads": of.loads,
        "stores": of.stores,
        "atomics": of.atomics,
        "lanes": of.lanes,
        "accesses": of.accesses,
        "accesses_per_instruction": of.accesses_per_instruction(),
    })
}

fn kernel(name: &str, of: &KernelProfile) -> Value {
    json!({
        "name": name,
        "launches": of.launches,
        "registers": of.registers,
        "shared_bytes": of.shared_bytes,
        "local_bytes": of.local_bytes,
        "cta_threads": of.cta_threads,
        "warp_instructions": of.warp_instructions,
        "thread_instructions": of.thread_instructions,
    })
}
