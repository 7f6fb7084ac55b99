//! A phase of an episode: what it does, as the kernels read it, and what it must leave.

use strata_engine::seed::Stream;

use super::cta::{Cta, History};
use super::text::{Kind, NO_RESULT, TILE_WORDS};
use super::world::{Slots, Step, Use, World};

/// Who runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// So many CTAs of so many threads, with bytes of shared memory.
    Gpu { ctas: u32, threads: u32, shared_bytes: u32 },
    /// So many threads on CPU cores.
    Cpu { threads: u32 },
}

/// A phase.
pub struct Phase {
    pub runner: Runner,
    pub rounds: u32,
    /// Steps of a round, and operations on tiles before them.
    pub steps: u32,
    pub operations: u32,
    /// What each thread does: by round, step and thread.
    table: Vec<Step>,
    /// Words of the operations: by CTA, round and operation.
    pub tiles: Vec<u32>,
    /// The array afterwards.
    pub x: Vec<u8>,
}

/// Most CTAs, threads of a CTA, rounds, steps and operations.
const MOST: [u32; 5] = [10, 64, 3, 5, 2];

impl Phase {
    /// A launch.
    pub fn gpu(x: &[u8], history: &mut History, names: &mut u32, extent: u32, stream: &mut Stream) -> Phase {
        let mut below = |bound: u32| stream.below(u64::from(bound)) as u32;
        let (ctas, threads, shared) = (1 + below(MOST[0]), [32, 48, 64][below(3) as usize], 128 << below(5));
        let (rounds, steps, operations) = (1 + below(MOST[2]), 2 + below(MOST[3] - 1), MOST[4]);
        let all = ctas * threads;
        // Some words are the caches' before tiles take what they want.
        let reserved = [0, 2, 5][below(3) as usize];
        let uses =
            (0..x.len() / 4).map(|_| if below(10) < reserved { Use::Cached } else { Use::Free }).collect();
        let mut world = World { x: x.to_vec(), uses };
        let mut table = vec![Step::NOTHING; (rounds * steps * all) as usize];
        let mut tiles = vec![0; (ctas * rounds * operations) as usize * TILE_WORDS];
        let mut order: Vec<u32> = (0..ctas).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, below(place as u32 + 1) as usize);
        }
        for number in order {
            let mut cta = Cta::new(number, shared, extent, stream);
            for round in 0..rounds {
                let by = stream.below(u64::from(threads)) as u32;
                for operation in 0..operations {
                    let Some(found) = cta.operation(&mut world, history, names, stream) else { continue };
                    let place = ((number * rounds + round) * operations + operation) as usize;
                    tiles[place * TILE_WORDS..][..TILE_WORDS].copy_from_slice(&found.encode(by));
                }
                for (step, row) in (0..).zip(cta.round(threads, steps, &mut world, stream)) {
                    let first = ((round * steps + step) * all + number * threads) as usize;
                    table[first..first + threads as usize].copy_from_slice(&row);
                }
            }
        }
        let slots = Slots::cut(&mut world, ctas, stream);
        for (cta, own) in (0..).zip(&slots.own) {
            for round in 0..rounds {
                let mut of_threads = vec![Vec::new(); threads as usize];
                for slot in own {
                    of_threads[stream.below(u64::from(threads)) as usize].push(*slot);
                }
                for (thread, own) in (0..).zip(&of_threads) {
                    for step in 0..steps {
                        let place = ((round * steps + step) * all + cta * threads + thread) as usize;
                        if table[place].kind == Kind::Nothing {
                            table[place] = slots.step(&mut world, own, stream);
                        }
                    }
                }
            }
        }
        let runner = Runner::Gpu { ctas, threads, shared_bytes: 4 * shared };
        Phase { runner, rounds, steps, operations, table, tiles, x: world.x }
    }

    /// A host phase.
    pub fn cpu(x: &[u8], stream: &mut Stream) -> Phase {
        let (threads, steps) = (1 + stream.below(20) as u32, 4 + stream.below(20) as u32);
        let mut world = World { x: x.to_vec(), uses: vec![Use::Free; x.len() / 4] };
        let slots = Slots::cut(&mut world, threads, stream);
        let mut table = vec![Step::NOTHING; (steps * threads) as usize];
        for (thread, own) in (0..).zip(&slots.own) {
            for step in 0..steps {
                table[(step * threads + thread) as usize] = slots.step(&mut world, own, stream);
            }
        }
        let runner = Runner::Cpu { threads };
        Phase { runner, rounds: 1, steps, operations: 0, table, tiles: Vec::new(), x: world.x }
    }

    /// The bytes of the steps.
    pub fn plan(&self) -> Vec<u8> {
        let mut results = 0;
        let words = self.table.iter().flat_map(|step| {
            let place = if step.expected.is_some() { results } else { NO_RESULT };
            results += u32::from(step.expected.is_some());
            [step.at, step.kind.number(), place, step.value]
        });
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// Bytes of the results.
    pub fn result_bytes(&self) -> usize {
        4 * self.table.iter().filter(|step| step.expected.is_some()).count()
    }

    /// The first result that is wrong.
    pub fn find_wrong(&self, found: &[u8]) -> Option<String> {
        let all = match self.runner {
            Runner::Gpu { ctas, threads, .. } => ctas * threads,
            Runner::Cpu { threads } => threads,
        } as usize;
        let expected = self.table.iter().enumerate().filter(|(_, step)| step.expected.is_some());
        let mut pairs = expected.zip(found.as_chunks::<4>().0);
        pairs.find_map(|((place, step), found)| {
            let (found, expected) = (u32::from_le_bytes(*found), step.expected?);
            let (row, thread) = (place / all, place % all);
            let (round, number) = (row / self.steps as usize, row % self.steps as usize);
            (found != expected).then(|| {
                format!(
                    "thread {thread}, round {round}, step {number}: {:?} at {:#x} found {found:#x}, expected {expected:#x}",
                    step.kind, step.at
                )
            })
        })
    }
}
