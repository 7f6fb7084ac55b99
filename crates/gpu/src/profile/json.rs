//! Writes a profile as JSON.

use serde_json::{Value, json};

use super::{Compression, KernelProfile, LineClass, Profile, RegisterProfile, SpaceProfile, ratio};

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
            "registers": registers(&self.registers),
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

fn registers(of: &RegisterProfile) -> Value {
    let (reads, writes) = (of.read_count(), of.write_count());
    let by_id = (0..)
        .zip(&of.by_id)
        .map(|(id, counts): (u32, _)| json!({ "id": id, "reads": counts.reads, "writes": counts.writes }));
    let compression = Compression::WIDTHS.map(|(width, name)| {
        json!({
            "width": name,
            "writes": of.writes.count(width),
            "full_writes": of.full_writes.count(width),
            "share": ratio(of.writes.count(width), writes),
        })
    });
    json!({
        "reads": reads,
        "writes": writes,
        "partial_writes": of.partial_writes,
        "top5_reads": of.top5_reads(),
        "top5_read_share": ratio(of.top5_reads(), reads),
        "top5_writes": of.top5_writes(),
        "top5_write_share": ratio(of.top5_writes(), writes),
        "compressed_share": ratio(of.writes.compressed(), writes),
        "compression": compression,
        "by_id": by_id.collect::<Vec<_>>(),
    })
}

fn kernel(name: &str, of: &KernelProfile) -> Value {
    let memory = of.memory.iter().map(|(pc, asked)| {
        json!({ "pc": pc, "line": asked.line, "instructions": asked.instructions, "accesses": asked.accesses })
    });
    json!({
        "name": name,
        "launches": of.launches,
        "registers": of.registers,
        "reuses_registers": of.reuses_registers,
        "shared_bytes": of.shared_bytes,
        "local_bytes": of.local_bytes,
        "cta_threads": of.cta_threads,
        "warp_instructions": of.warp_instructions,
        "thread_instructions": of.thread_instructions,
        "memory": memory.collect::<Vec<_>>(),
    })
}
