//! An L1D whose neighbours are played by hand, one call a cycle.

use strata_engine::Cycle;
use strata_memory::doors::{Access, Action, L1d, Policy, Refusal};
use strata_memory::{Body, ByteMask, Line, LineAddress, NodeId, Packet, SliceMap};

use super::super::{FuseConfig, FuseL1d};

pub const WORD: ByteMask = ByteMask::range(4, 4);

pub struct Bench {
    pub l1d: FuseL1d,
    pub now: Cycle,
    /// Packets that left and are not answered.
    pub sent: Vec<Packet>,
    /// Accesses that were completed: cycle, token, byte 4 of the tray.
    pub done: Vec<(u64, u32, u8)>,
    token: u32,
    /// Program counter and warp of the next accesses.
    pub pc: u32,
    pub warp: u8,
}

impl Bench {
    pub fn new(config: &FuseConfig) -> Bench {
        let slices = SliceMap::new(1, 256, NodeId(1)).unwrap();
        let l1d = FuseL1d::new(config, NodeId(0), slices).unwrap();
        // A warp that no sampler watches.
        Bench { l1d, now: Cycle::ZERO, sent: Vec::new(), done: Vec::new(), token: 0, pc: 0, warp: 1 }
    }

    fn offer(&mut self, line: u64, action: Action) -> Result<u32, Refusal> {
        let access = Access {
            line: LineAddress(line),
            bytes: WORD,
            action,
            policy: Policy::Cached,
            token: self.token,
            pc: self.pc,
            warp: self.warp,
            leads: true,
        };
        self.l1d.offer(access, self.now).map_err(|(_, cause)| cause)?;
        self.token += 1;
        Ok(self.token - 1)
    }

    pub fn load(&mut self, line: u64) -> Result<u32, Refusal> {
        self.offer(line, Action::Load(Box::new(Line::ZERO)))
    }

    pub fn store(&mut self, line: u64, value: u8) -> Result<u32, Refusal> {
        self.offer(line, Action::Store(Box::new(Line([value; 128]))))
    }

    /// Ends the cycle: what is ready comes out, and the next cycle's tick is done.
    pub fn step(&mut self) {
        while let Some(packet) = self.l1d.outgoing(self.now) {
            self.sent.push(packet);
        }
        while let Some(completion) = self.l1d.completed(self.now) {
            let byte = match &completion.action {
                Action::Load(tray) | Action::Store(tray) => tray.0[4],
                Action::Atomic(batch) => batch.a[0] as u8,
            };
            self.done.push((self.now.0, completion.token, byte));
        }
        self.now = self.now.next();
        self.l1d.tick(self.now);
    }

    /// Runs until all is answered, reads with lines full of their number.
    pub fn settle(&mut self) {
        for _ in 0..60 {
            self.step();
            for mut packet in std::mem::take(&mut self.sent) {
                if let Body::Read(tray) = &mut packet.body {
                    tray.0.fill(packet.line.0 as u8);
                }
                self.l1d.accept(packet.into_reply(), self.now);
            }
        }
    }

    /// Loads a line, and waits until it is here.
    pub fn bring(&mut self, line: u64) {
        self.load(line).unwrap();
        self.settle();
    }

    /// When the access that was accepted in this cycle completes, less now; what its byte 4 was.
    pub fn latency(&mut self, token: u32) -> (u64, u8) {
        let start = self.now.0;
        for _ in 0..100 {
            if let Some((cycle, _, byte)) = self.done.iter().find(|done| done.1 == token) {
                return (cycle - start, *byte);
            }
            self.step();
        }
        panic!("access {token} was not completed");
    }

    pub fn count(&self, name: &str) -> u64 {
        let groups = self.l1d.statistics();
        groups.iter().rev().find_map(|group| group.get(name)).unwrap_or_else(|| panic!("no {name}"))
    }

    /// The bank of a line, as a letter.
    pub fn bank(&self, line: u64) -> &'static str {
        use super::super::lines::Bank;
        let store = &self.l1d.chassis.cache.store;
        match store.find(LineAddress(line)) {
            None => "-",
            Some(frame) if store.frames.pinned(frame).is_some() => "waits",
            Some(frame) => match store.bank(frame) {
                Bank::Sram => "sram",
                Bank::Stt => "stt",
                Bank::Swap => "swap",
            },
        }
    }
}
