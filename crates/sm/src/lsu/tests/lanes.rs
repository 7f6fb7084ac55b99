//! A lane path that serves every load from plain bytes, before the L1D.

use std::collections::VecDeque;

use strata_memory::Tray;
use strata_memory::doors::{LaneAction, LaneDone, LaneEvent, LaneItem, LanePath, LaneRequest, LaneSpace};

use super::*;

/// Serves loads of global memory in the cycle after they are offered, in order.
struct Serves {
    memory: Memory,
    served: VecDeque<(Cycle, Box<LaneRequest>)>,
}

impl LanePath for Serves {
    fn offer(&mut self, mut request: Box<LaneRequest>, now: Cycle) -> Result<(), Box<LaneRequest>> {
        assert_eq!((request.space, request.action), (LaneSpace::Global, LaneAction::Load));
        let width = usize::from(request.width);
        for lane in (0..32).filter(|lane| request.lanes >> lane & 1 == 1) {
            let at = (request.addresses[lane] - BASE) as usize;
            for (n, bytes) in self.memory.0[at..at + width].chunks(4).enumerate() {
                let mut word = [0; 4];
                word[..bytes.len()].copy_from_slice(bytes);
                request.words[n].0[lane] = u32::from_le_bytes(word);
            }
        }
        self.served.push_back((now.next(), request));
        Ok(())
    }
    fn order(&mut self, _: LaneEvent, _: u32, _: Cycle) -> bool {
        unreachable!("no test here has an event")
    }
    fn tick(&mut self, _: Cycle) {}
    fn outgoing(&mut self, _: LaneSpace, _: Cycle) -> Option<LaneItem> {
        None
    }
    fn accept(&mut self, _: u32, _: Tray, _: Cycle) {
        unreachable!("it sends nothing")
    }
    fn completed(&mut self, now: Cycle) -> Option<LaneDone> {
        let due = self.served.front().is_some_and(|(at, _)| *at <= now);
        due.then(|| LaneDone::Request(self.served.pop_front().expect("one is due").1))
    }
    fn is_idle(&self) -> bool {
        self.served.is_empty()
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        self.served.front().map_or(Cycle::NEVER, |(at, _)| now.max(*at))
    }
    fn waits(&self, _: &mut Vec<String>) {}
    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// The unit behind such a path.
pub fn behind_a_path(mut bench: Bench) -> Bench {
    let path = Serves { memory: Memory::numbered(), served: VecDeque::new() };
    bench.lsu = bench.lsu.with_lane_path(Some(Box::new(path)));
    bench
}

#[test]
fn parameters_and_constants_take_the_lane_path_as_global_loads_do() {
    let config = LsuConfig { read_only: Some(Cited::new(ReadOnlyWay::AsGlobal, "test")), ..config() };
    let mut bench = behind_a_path(Bench::new(&config));
    bench.issue(0, Op::Load(mode(Space::Param, Ty::U32, 1)), &Sources::at(|_| 8));
    bench.cycle();
    bench.issue(1, Op::Load(mode(Space::Const, Ty::U64, 1)), &Sources::at(|lane| BASE + 8 * lane));
    bench.drain();
    // Address generation 3, the path 1, write-back 2.
    assert_eq!(bench.finished, ["6: warp 0 pc 40", "7: warp 1 pc 41"]);
    assert!(bench.l1d.log.is_empty() && bench.constants.asked.is_empty());
    let memory = Memory::numbered();
    let word = |at: usize| u32::from_le_bytes(memory.0[at..at + 4].try_into().unwrap());
    assert_eq!((bench.rows[0].0[31], bench.rows[1].0[31]), (word(8 * 31), word(8 * 31 + 4)));
    assert_eq!(bench.lsu.statistics().global_instructions, 2);
}
