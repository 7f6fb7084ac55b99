//! The contract of lane paths, and its harness.
//!
//! Random programs without races run on a few CTAs: every byte belongs to one thread, to readers or to atomics, until a
//! barrier of its CTA or warp passes it on (`owners.rs`). Neighbouring bytes belong to different threads, so lines,
//! blocks and half-words are shared falsely all the time. The oracle is a flat memory in which each store takes effect
//! when it is issued.
//!
//! The harness checks that every load returns the oracle's bytes; that what goes past the path finds the memory below
//! up to date; that after a barrier the memory below has all bytes of its CTA; that each request and event comes back
//! once; that CTAs end and others take their shared memory; that requests make progress; that `next_event` is never too
//! late (`skip`); that the path is idle and memory is right at the end; and that the laws of the statistics hold.

mod below;
mod owners;

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_memory::doors::{LaneAction, LaneDone, LaneEvent, LanePath, LanePathSite, LaneRequest, LaneSpace};
use strata_warp::{LaneMask, WARP_LANES, lanes_of};

use super::{Outcome, PATIENCE, lawful, with_skips};
use below::Below;
use owners::{Owner, Owners};

/// Makes a lane path for a site.
pub type Make<'a> = dyn FnMut(LanePathSite) -> Box<dyn LanePath> + 'a;

/// The workload of a check.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of CTA slots.
    pub ctas: u8,
    /// Number of warps of each CTA.
    pub warps_per_cta: u8,
    /// Bytes of global memory: a multiple of a line.
    pub global_bytes: u64,
    /// Bytes of each CTA's shared memory.
    pub shared_bytes: u64,
    /// Number of requests.
    pub requests: u32,
    /// Longest random time in each direction of the memory below, in cycles.
    pub delay: u64,
    /// Percent of cycles in which a request is issued.
    pub willing: u64,
    /// Percent of requests that go past the path.
    pub special: u64,
    /// Percent of steps at which a CTA meets at a barrier; as many again are barriers of a warp, and a fifth as many are
    /// ends of CTAs.
    pub barriers: u64,
    /// Whether only the cycles that `next_event` names are ticked.
    pub skip: bool,
}

impl Contract {
    /// Few bytes that change hands often.
    pub fn dense(seed: u64) -> Contract {
        Contract {
            seed,
            ctas: 2,
            warps_per_cta: 2,
            global_bytes: 1024,
            shared_bytes: 256,
            requests: 400,
            delay: 20,
            willing: 80,
            special: 10,
            barriers: 4,
            skip: false,
        }
    }

    /// More bytes than the lanes of a small path hold, with pauses.
    pub fn wide(seed: u64) -> Contract {
        let dense = Contract::dense(seed);
        Contract { ctas: 3, global_bytes: 8192, shared_bytes: 1024, willing: 20, barriers: 1, ..dense }
    }
}

/// Runs the harness once.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    Bench::new(*contract, make).run()
}

/// Runs the harness twice, once ticking every cycle and once skipping idle cycles, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, make))
}

/// What the path is offered next.
enum Input {
    Request(Box<LaneRequest>),
    Event(LaneEvent, u32),
}

/// A request in flight: what its lanes must find.
struct Expected {
    token: u32,
    cta: u8,
    /// By lane: the bytes of a load.
    bytes: Option<Box<[[u8; 16]; WARP_LANES]>>,
    /// What a request that goes past the path does to the memory below.
    passed: Option<Passed>,
}

/// A request that goes past the path.
#[derive(Clone, Copy)]
enum Passed {
    Load,
    Store,
    /// Adds 1 to each lane's word.
    Add,
}

/// What a CTA is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// Waits at a barrier, or for the end of its requests and then for its own end.
    AtBarrier(u32),
    Draining,
    Ending(u32),
    /// No CTA takes its place.
    Over,
}

struct Bench {
    contract: Contract,
    path: Box<dyn LanePath>,
    stream: Stream,
    /// Random times of the memory below, drawn apart so that skipping changes none.
    times: Stream,
    owners: Owners,
    below: Below,
    truth: [Vec<u8>; 2],
    inputs: VecDeque<Input>,
    expected: Vec<Expected>,
    /// Events of warps that have not come back.
    fences: Vec<u32>,
    stages: Vec<Stage>,
    left: u32,
    tokens: u32,
    now: Cycle,
    moved: Cycle,
    hash: Fnv,
}

impl Bench {
    fn new(contract: Contract, make: &mut Make<'_>) -> Bench {
        let mut stream = Stream::new(contract.seed, "lane path contract");
        let sizes = [contract.global_bytes, u64::from(contract.ctas) * contract.shared_bytes];
        let truth = sizes.map(|size| (0..size).map(|_| stream.below(256) as u8).collect::<Vec<u8>>());
        Bench {
            contract,
            path: make(LanePathSite { accesses: 64, seed: contract.seed }),
            owners: Owners::new(&contract, &mut stream),
            stream,
            times: Stream::new(contract.seed, "lane path contract, times"),
            below: Below::new(truth.clone(), contract.delay),
            truth,
            inputs: VecDeque::new(),
            expected: Vec::new(),
            fences: Vec::new(),
            stages: vec![Stage::Running; usize::from(contract.ctas)],
            left: contract.requests,
            tokens: 0,
            now: Cycle::ZERO,
            moved: Cycle::ZERO,
            hash: Fnv::default(),
        }
    }

    fn run(mut self) -> Result<Outcome, String> {
        while self.left > 0 || !self.is_over() {
            self.cycle().map_err(|fault| format!("cycle {}: {fault}", self.now))?;
            self.now = self.now.next();
        }
        if !self.path.is_idle() {
            return Err(format!("every CTA has ended, but the path is not idle: {}", self.waits()));
        }
        if self.path.next_event(self.now) != Cycle::NEVER {
            return Err("an idle path names a next event".to_owned());
        }
        self.compare(LaneSpace::Global, 0, self.contract.global_bytes, "at the end")?;
        let groups = self.path.statistics();
        lawful(&groups)?;
        Ok(Outcome { cycles: self.now.0, hash: self.hash.finish(), statistics: vec![groups] })
    }

    /// Whether every CTA has ended for good.
    fn is_over(&self) -> bool {
        self.stages.is_empty() && self.expected.is_empty() && self.fences.is_empty() && self.below.is_idle()
    }

    fn waits(&self) -> String {
        let mut report = Vec::new();
        self.path.waits(&mut report);
        report.join("; ")
    }

    fn compare(&self, space: LaneSpace, from: u64, to: u64, when: &str) -> Result<(), String> {
        let (found, truth) = (&self.below.bytes[space as usize], &self.truth[space as usize]);
        match (from..to).find(|at| found[*at as usize] != truth[*at as usize]) {
            None => Ok(()),
            Some(at) => Err(format!(
                "{when}, byte {at:#x} of {space:?} memory is {:#04x}, expected {:#04x}",
                found[at as usize], truth[at as usize]
            )),
        }
    }

    fn cycle(&mut self) -> Result<(), String> {
        let issues = self.stream.below(100) < self.contract.willing;
        let due = self.path.next_event(self.now) <= self.now;
        let mut moved = self.return_trays();
        if due || !self.contract.skip {
            self.path.tick(self.now);
        }
        moved |= self.finish()?;
        moved |= self.send();
        self.perform()?;
        moved |= self.offer();
        if issues && self.inputs.len() < 8 {
            self.issue();
        }
        if moved {
            self.moved = self.now;
        } else if self.now.since(self.moved) > PATIENCE {
            return Err(format!("nothing moves any more; {}", self.waits()));
        }
        Ok(())
    }

    fn return_trays(&mut self) -> bool {
        let mut any = false;
        while let Some((token, tray)) = self.below.returned(self.now) {
            self.path.accept(token, tray, self.now);
            any = true;
        }
        any
    }

    /// Takes what the path has finished.
    fn finish(&mut self) -> Result<bool, String> {
        let mut any = false;
        while let Some(done) = self.path.completed(self.now) {
            any = true;
            self.hash.write(&self.now.0.to_le_bytes());
            match done {
                LaneDone::Request(request) => self.finish_request(&request)?,
                LaneDone::Event(token) => self.finish_event(token)?,
            }
        }
        Ok(any)
    }

    fn finish_request(&mut self, request: &LaneRequest) -> Result<(), String> {
        self.hash.write(&request.token.to_le_bytes());
        let Some(at) = self.expected.iter().position(|expected| expected.token == request.token) else {
            return Err(format!("request {} came back, but is not in flight", request.token));
        };
        let expected = self.expected.remove(at);
        if expected.passed.is_some() {
            return Err(format!("request {} was to go past the path", request.token));
        }
        compare_words(request, expected.bytes.as_deref())
    }

    fn finish_event(&mut self, token: u32) -> Result<(), String> {
        self.hash.write(&token.to_le_bytes());
        if let Some(at) = self.fences.iter().position(|fence| *fence == token) {
            self.fences.remove(at);
            return Ok(());
        }
        let waiting = |stage: &Stage| [Stage::AtBarrier(token), Stage::Ending(token)].contains(stage);
        let Some(cta) = self.stages.iter().position(waiting) else {
            return Err(format!("event {token} came back, but is not in flight"));
        };
        let granules: Vec<_> = self.owners.of_cta(cta as u8).copied().collect();
        if self.stages[cta] == Stage::AtBarrier(token) {
            // What went past the path may still be on its way, ahead of all that follows.
            let writes = |expected: &Expected| usize::from(expected.cta) == cta && expected.bytes.is_none();
            let past = self.expected.iter().any(writes);
            for granule in granules.into_iter().filter(|_| !past) {
                let to = granule.address + granule.bytes;
                self.compare(granule.space, granule.address, to, "after a barrier")?;
            }
            self.stages[cta] = Stage::Running;
            return Ok(());
        }
        for granule in granules {
            let range = granule.address as usize..(granule.address + granule.bytes) as usize;
            if granule.space == LaneSpace::Shared {
                // The next CTA finds its shared memory cleared.
                self.below.bytes[LaneSpace::Shared as usize][range.clone()].fill(0);
                self.truth[LaneSpace::Shared as usize][range].fill(0);
            } else {
                let to = granule.address + granule.bytes;
                self.compare(granule.space, granule.address, to, "after the end of its CTA")?;
            }
        }
        self.stages[cta] = if self.left == 0 { Stage::Over } else { Stage::Running };
        if self.stages.iter().all(|stage| *stage == Stage::Over) {
            self.stages.clear();
        }
        Ok(())
    }

    /// Hands the path's items to the memories below.
    fn send(&mut self) -> bool {
        let mut any = false;
        for space in LaneSpace::ALL {
            while self.below.can_take(space)
                && let Some(item) = self.path.outgoing(space, self.now)
            {
                self.hash.write(&self.now.0.to_le_bytes());
                self.below.take(space, item, self.now, &mut self.times);
                any = true;
            }
        }
        any
    }

    fn perform(&mut self) -> Result<(), String> {
        let expected = &mut self.expected;
        self.below.perform(self.now, &mut self.times, |mut request, memory| {
            let Some(at) = expected.iter().position(|expected| expected.token == request.token) else {
                return Err(format!("request {} went past the path, but is not in flight", request.token));
            };
            let Expected { bytes, passed, .. } = expected.remove(at);
            let width = usize::from(request.width);
            for lane in lanes_of(request.lanes) {
                let at = request.addresses[lane] as usize;
                let here = &mut memory[at..at + width];
                match passed {
                    // What the path may leave to the memory below: a load or a store like any other.
                    None if bytes.is_some() => put(&mut request, lane, here),
                    Some(Passed::Load) => put(&mut request, lane, here),
                    None | Some(Passed::Store) => here.copy_from_slice(&bytes_of(&request, lane)[..width]),
                    Some(Passed::Add) => add(here),
                }
            }
            compare_words(&request, bytes.as_deref())
        })
    }

    fn offer(&mut self) -> bool {
        let Some(input) = self.inputs.pop_front() else { return false };
        match input {
            Input::Request(request) => {
                if let Err(request) = self.path.offer(request, self.now) {
                    self.inputs.push_front(Input::Request(request));
                    return false;
                }
            }
            Input::Event(event, token) => {
                if !self.path.order(event, token, self.now) {
                    self.inputs.push_front(Input::Event(event, token));
                    return false;
                }
            }
        }
        self.hash.write(&self.now.0.to_le_bytes());
        true
    }

    /// Lets a CTA do something: usually a request of one of its warps.
    fn issue(&mut self) {
        if self.stages.is_empty() {
            return;
        }
        let cta = self.stream.below(self.stages.len() as u64) as u8;
        let at = usize::from(cta);
        match self.stages[at] {
            Stage::Draining => {
                if self.expected.iter().all(|expected| expected.cta != cta) {
                    let token = self.event(LaneEvent::CtaEnd { cta });
                    self.stages[at] = Stage::Ending(token);
                    let warps = self.contract.warps_per_cta;
                    self.owners.pass_among_cta(cta, warps, &mut self.stream);
                }
                return;
            }
            Stage::AtBarrier(_) | Stage::Ending(_) | Stage::Over => return,
            Stage::Running => {}
        }
        let what = self.stream.below(500);
        let barriers = 5 * self.contract.barriers;
        if self.left == 0 || what < self.contract.barriers {
            self.stages[at] = Stage::Draining;
        } else if what < barriers {
            let token = self.event(LaneEvent::Barrier { cta });
            self.stages[at] = Stage::AtBarrier(token);
            self.owners.pass_among_cta(cta, self.contract.warps_per_cta, &mut self.stream);
        } else if what < 2 * barriers {
            let token = self.event(LaneEvent::Fence { lanes: LaneMask::MAX });
            self.fences.push(token);
            let warp = self.stream.below(u64::from(self.contract.warps_per_cta)) as u8;
            self.owners.pass_among_warp(cta, warp, &mut self.stream);
        } else {
            self.left -= 1;
            self.request(cta);
        }
    }

    fn event(&mut self, event: LaneEvent) -> u32 {
        self.tokens += 1;
        self.inputs.push_back(Input::Event(event, self.tokens));
        self.tokens
    }

    /// Issues a random request of one of the CTA's warps.
    fn request(&mut self, cta: u8) {
        let (stream, owners) = (&mut self.stream, &self.owners);
        let warp = stream.below(u64::from(self.contract.warps_per_cta)) as u8;
        let space = LaneSpace::ALL[stream.below(2) as usize];
        let is_special = stream.below(100) < self.contract.special;
        let (action, passed) = match (is_special, stream.below(4)) {
            (false, 0 | 1) => (LaneAction::Load, None),
            (false, _) => (LaneAction::Store, None),
            (true, 0) => (LaneAction::Pass, Some(Passed::Load)),
            (true, 1) => (LaneAction::Pass, Some(Passed::Store)),
            (true, 2) => (LaneAction::Pass, Some(Passed::Add)),
            (true, _) => (LaneAction::Collective, Some(Passed::Load)),
        };
        let adds = matches!(passed, Some(Passed::Add));
        let width = if adds { 4 } else { 1 << stream.below(5) };
        let loads = action == LaneAction::Load || matches!(passed, Some(Passed::Load));
        let mut request =
            Box::new(LaneRequest { cta, space, action, width: width as u8, ..LaneRequest::EMPTY });
        let mut bytes = Box::new([[0; 16]; WARP_LANES]);
        let active = stream.next() as LaneMask | stream.next() as LaneMask;
        for lane in lanes_of(active) {
            // In a collective load a lane names the address of bytes that another lane may have written.
            let of = if action == LaneAction::Collective { (lane + 5) % WARP_LANES } else { lane };
            let granule = owners.pick(stream, (space, cta, width), |owner| match owner {
                Owner::Thread(w, l) => !adds && (w, usize::from(l)) == (warp, of),
                Owner::Readers => loads,
                Owner::Atomics => adds,
            });
            let Some(granule) = granule else { continue };
            let address = granule.address + width * stream.below(granule.bytes / width);
            request.lanes |= 1 << lane;
            request.addresses[lane] = address;
            let truth = &mut self.truth[space as usize][address as usize..(address + width) as usize];
            if adds {
                add(truth);
            } else if loads {
                bytes[lane][..width as usize].copy_from_slice(truth);
            } else {
                truth.fill_with(|| stream.below(256) as u8);
                let new = truth.to_vec();
                put(&mut request, lane, &new);
            }
        }
        if request.lanes == 0 {
            return;
        }
        self.tokens += 1;
        request.token = self.tokens;
        let bytes = loads.then_some(bytes);
        self.expected.push(Expected { token: self.tokens, cta, bytes, passed });
        self.inputs.push_back(Input::Request(request));
    }
}

/// Adds 1 to a word of memory.
fn add(word: &mut [u8]) {
    let old = u32::from_le_bytes((&*word).try_into().expect("an atomic has four bytes"));
    word.copy_from_slice(&old.wrapping_add(1).to_le_bytes());
}

/// A lane's bytes in a request's words.
fn bytes_of(request: &LaneRequest, lane: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, row) in bytes.chunks_exact_mut(4).zip(&request.words) {
        to.copy_from_slice(&row.0[lane].to_le_bytes());
    }
    bytes
}

/// Puts a lane's bytes into a request's words.
fn put(request: &mut LaneRequest, lane: usize, bytes: &[u8]) {
    for (row, from) in request.words.iter_mut().zip(bytes.chunks(4)) {
        let mut word = row.0[lane].to_le_bytes();
        word[..from.len()].copy_from_slice(from);
        row.0[lane] = u32::from_le_bytes(word);
    }
}

/// Compares a request's words with what its lanes must have found, if it is a load.
fn compare_words(request: &LaneRequest, expected: Option<&[[u8; 16]; WARP_LANES]>) -> Result<(), String> {
    let Some(expected) = expected else { return Ok(()) };
    let width = usize::from(request.width);
    for lane in lanes_of(request.lanes) {
        let (found, expected) = (&bytes_of(request, lane)[..width], &expected[lane][..width]);
        if found != expected {
            return Err(format!(
                "request {} ({:?}) of CTA {}: lane {lane} found {found:02x?} at {:#x} of {:?} memory, expected \
                 {expected:02x?}",
                request.token, request.action, request.cta, request.addresses[lane], request.space
            ));
        }
    }
    Ok(())
}
