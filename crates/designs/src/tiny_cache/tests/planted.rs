//! Rules of coherence dropped around the caches: the contract must notice each of them.
//!
//! The caches themselves drop no rule. [`Planted`] stands at their door, and changes what goes in and comes out to what it
//! would be without the rule.

use std::collections::BTreeMap;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{
    LaneAccess, LaneAction, LaneDone, LaneEvent, LaneItem, LanePath, LanePathSite, LaneRequest, LaneSpace,
};
use strata_memory::{ByteMask, Line, LineAddress, Tray};
use strata_warp::{WARP_LANES, lanes_of};

use super::paper;
use crate::contract::lane_path::{Contract, check};
use crate::tiny_cache::TinyCache;

/// A rule of coherence; the numbers are those of the module's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// 1: only half-words that the lane has written are written back.
    DirtyHalfWordsOnly,
    /// 3: a barrier evicts.
    Barrier,
    /// 4: stores of single bytes go past.
    ByteStores,
    /// 6: what goes past evicts its lane's line.
    PassEvicts,
    /// 6: a collective load evicts in every lane.
    CollectiveEvicts,
    /// 7: a fence evicts.
    Fence,
    /// 8: the end of a CTA evicts all lines.
    CtaEnd,
    /// 9: a fetch is not joined once its line is written.
    WritesCloseFetches,
}

const RULES: [Rule; 8] = [
    Rule::DirtyHalfWordsOnly,
    Rule::Barrier,
    Rule::ByteStores,
    Rule::PassEvicts,
    Rule::CollectiveEvicts,
    Rule::Fence,
    Rule::CtaEnd,
    Rule::WritesCloseFetches,
];

struct Planted {
    inner: TinyCache,
    dropped: Option<Rule>,
    /// By token: the line that an access below fetches, and its bytes.
    fetches: BTreeMap<u32, (LaneSpace, LineAddress, ByteMask)>,
    /// By space and line: the bytes that its fetches have brought last.
    fetched: BTreeMap<(usize, LineAddress), Line>,
    /// Requests that were changed on their way in, by token, as they were offered.
    offered: BTreeMap<u32, Box<LaneRequest>>,
}

impl Planted {
    fn new(dropped: Option<Rule>, site: LanePathSite) -> Planted {
        Planted {
            inner: TinyCache::new(&paper(), site),
            dropped,
            fetches: BTreeMap::new(),
            fetched: BTreeMap::new(),
            offered: BTreeMap::new(),
        }
    }

    /// A request as the caches see it without the rule; `None` if the rule does not change it.
    fn changed(&self, request: &LaneRequest) -> Option<Box<LaneRequest>> {
        match (self.dropped?, request.action) {
            (Rule::ByteStores, LaneAction::Store) if request.width == 1 => Some(self.widened(request)),
            (Rule::CollectiveEvicts, LaneAction::Collective) => {
                Some(Box::new(LaneRequest { action: LaneAction::Pass, ..request.clone() }))
            }
            _ => None,
        }
    }

    /// A store of bytes as one of the half-words around them, with their other bytes as the lane's line has them.
    fn widened(&self, request: &LaneRequest) -> Box<LaneRequest> {
        let lines = &self.inner.lines;
        let mut wide = Box::new(LaneRequest { width: 2, ..request.clone() });
        for lane in lanes_of(request.lanes) {
            let address = request.addresses[lane];
            let frame = lines.find(lane, lines.block(request.space, address));
            let mut half = frame.map_or([0; 2], |frame| {
                let held = lines.read(frame, lines.offset(address & !1), 2);
                [held[0], held[1]]
            });
            half[(address & 1) as usize] = request.words[0].0[lane] as u8;
            wide.addresses[lane] = address & !1;
            wide.words[0].0[lane] = u32::from(u16::from_le_bytes(half));
        }
        wide
    }

    /// Does a step of the caches, after which the fetches that could be joined before it still can be.
    fn step<T>(&mut self, step: impl FnOnce(&mut TinyCache) -> T) -> T {
        let mut open = match self.dropped {
            Some(Rule::WritesCloseFetches) => self.inner.fills.open.clone(),
            _ => Vec::new(),
        };
        let done = step(&mut self.inner);
        for fill in std::mem::take(&mut self.inner.fills.open) {
            if !open.contains(&fill) {
                open.push(fill);
            }
        }
        self.inner.fills.open = open;
        done
    }

    /// Drops the lines of a CTA's shared memory, which its end makes meaningless.
    fn drop_dead(&mut self, cta: u8) {
        let lines = &mut self.inner.lines;
        for frame in (0..WARP_LANES).flat_map(|lane| lines.present_in(lane)).collect::<Vec<_>>() {
            if lines.held(frame).space() == LaneSpace::Shared && lines.cta_of(frame) == cta {
                lines.drop_line(frame);
            }
        }
    }

    /// The whole blocks around some bytes of a line of memory.
    fn blocks(&self, bytes: ByteMask) -> ByteMask {
        let length = self.inner.lines.block_bytes();
        let blocks = (0..size_of::<Line>() / length).map(|block| ByteMask::range(block * length, length));
        let touched = blocks.filter(|block| block.0 & bytes.0 != 0);
        touched.fold(ByteMask::NONE, |all, block| all | block)
    }

    /// The access as it leaves without the rule.
    fn leaves(&mut self, space: LaneSpace, access: &mut LaneAccess) {
        if !access.writes {
            self.fetches.insert(access.token, (space, access.line, access.bytes));
        } else if self.dropped == Some(Rule::DirtyHalfWordsOnly) {
            let clean = ByteMask(self.blocks(access.bytes).0 & !access.bytes.0);
            let held = self.fetched.get(&(space as usize, access.line)).unwrap_or(&Line::ZERO);
            access.tray.merge(clean, held);
            access.bytes |= clean;
        }
    }
}

impl LanePath for Planted {
    fn offer(&mut self, request: Box<LaneRequest>, now: Cycle) -> Result<(), Box<LaneRequest>> {
        let caches = self.inner.caches;
        let goes_past =
            request.action != LaneAction::Load && (request.action != LaneAction::Store || request.width == 1);
        if self.dropped == Some(Rule::PassEvicts) && goes_past {
            // As requests do of a space that is not cached.
            self.inner.caches = [false; 2];
        }
        let taken = match self.changed(&request) {
            Some(changed) => match self.step(|inner| inner.offer(changed, now)) {
                Ok(()) => {
                    self.offered.insert(request.token, request);
                    Ok(())
                }
                Err(_) => Err(request),
            },
            None => self.step(|inner| inner.offer(request, now)),
        };
        self.inner.caches = caches;
        taken
    }

    fn order(&mut self, event: LaneEvent, token: u32, now: Cycle) -> bool {
        let evicts_nothing = matches!(
            (self.dropped, event),
            (Some(Rule::Barrier), LaneEvent::Barrier { .. })
                | (Some(Rule::Fence), LaneEvent::Fence { .. })
                | (Some(Rule::CtaEnd), LaneEvent::CtaEnd { .. })
        );
        let seen = if evicts_nothing { LaneEvent::Fence { lanes: 0 } } else { event };
        let taken = self.step(|inner| inner.order(seen, token, now));
        if let LaneEvent::CtaEnd { cta } = event
            && evicts_nothing
            && taken
        {
            self.drop_dead(cta);
        }
        taken
    }

    fn tick(&mut self, now: Cycle) {
        self.step(|inner| inner.tick(now));
    }

    fn outgoing(&mut self, space: LaneSpace, now: Cycle) -> Option<LaneItem> {
        let mut item = self.inner.outgoing(space, now)?;
        match &mut item {
            LaneItem::Access(access) => self.leaves(space, access),
            LaneItem::Pass(request) => {
                if let Some(offered) = self.offered.remove(&request.token) {
                    *request = offered;
                }
            }
        }
        Some(item)
    }

    fn accept(&mut self, token: u32, tray: Tray, now: Cycle) {
        if let Some((space, line, bytes)) = self.fetches.remove(&token) {
            self.fetched.entry((space as usize, line)).or_insert(Line::ZERO).merge(bytes, &tray);
        }
        self.inner.accept(token, tray, now);
    }

    fn completed(&mut self, now: Cycle) -> Option<LaneDone> {
        Some(match self.inner.completed(now)? {
            LaneDone::Request(request) => {
                LaneDone::Request(self.offered.remove(&request.token).unwrap_or(request))
            }
            event => event,
        })
    }

    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.inner.next_event(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

/// What the contract says of programs that run without a rule; `None` if it finds nothing.
fn noticed(dropped: Option<Rule>) -> Option<String> {
    let runs = |seed| [Contract::dense(seed), Contract::wide(seed)];
    (0..20).flat_map(runs).find_map(|contract| {
        check(&contract, &mut |site| Box::new(Planted::new(dropped, site)) as Box<dyn LanePath>).err()
    })
}

#[test]
fn every_dropped_rule_is_noticed() {
    assert_eq!(noticed(None), None, "the caches keep every rule");
    for rule in RULES {
        let fault = noticed(Some(rule));
        let fault = fault.unwrap_or_else(|| panic!("no program notices that {rule:?} does not hold"));
        println!("{rule:?}: {fault}");
        assert!(fault.contains(" memory"), "{rule:?} shows in wrong bytes, not in: {fault}");
    }
}
