//! The analyses against their definitions, taken at their word, on random graphs and programs.

use super::body::{Body, targets};
use super::cfg::{BlockId, Cfg};
use super::dominance::{Dominators, loop_depths};
use super::memory_order::{Extent, MemoryOrder};
use super::testing::*;
use crate::ir::{VInst, VReg};
use crate::isa::{Access, CacheOp, IntOp, Op, Order, Space, Ty};
use proptest::prelude::*;

/// A program of jumps that may go anywhere; register 0 is the predicate.
fn jumps() -> impl Strategy<Value = Body> {
    proptest::collection::vec((0u32..30, 0u8..4), 1..30).prop_map(|jumps| {
        let length = jumps.len() as u32;
        let jump = |(target, kind): (u32, u8)| match kind {
            0 => inst(Op::Int(IntOp::Add, Ty::U32), &[1], &[reg(1), bits(1)]),
            1 => branch(target % (length + 1), None),
            _ => branch(target % (length + 1), Some((0, kind == 2))),
        };
        let code = jumps.into_iter().map(jump).collect();
        let mut body = Body::new(&function(code, vec![Ty::Pred, Ty::B32])).expect("is well formed");
        super::simplify::tidy_flow(&mut body);
        body
    })
}

/// The blocks that can be reached from `from` without passing `without`.
fn reached(cfg: &Cfg, from: usize, without: Option<usize>) -> Vec<bool> {
    let mut seen = vec![false; cfg.blocks.len()];
    let mut work = if Some(from) == without { Vec::new() } else { vec![from] };
    while let Some(block) = work.pop() {
        if Some(block) != without && !std::mem::replace(&mut seen[block], true) {
            work.extend(cfg.blocks[block].successors.iter().map(|successor| successor.index()));
        }
    }
    seen
}

/// An access of a few kinds and places; register 0 holds an address.
fn access() -> impl Strategy<Value = VInst> {
    let spaces = proptest::sample::select(vec![Space::Global, Space::Shared, Space::Generic, Space::Param]);
    let bases = proptest::sample::select(vec![reg(0), reg(1), bits(0), bits(8)]);
    let types = proptest::sample::select(vec![Ty::U8, Ty::U32, Ty::U64]);
    let offsets = prop_oneof![9 => 0i64..12, 1 => Just(1 << 40)];
    (spaces, bases, types, offsets, any::<bool>(), 0u8..6).prop_map(
        |(space, base, ty, offset, writes, rare)| {
            let cache = if rare == 0 { CacheOp::NonCoherent } else { CacheOp::All };
            let mode = crate::isa::MemoryMode { cache, ..mode(space, ty) };
            let plain = if writes {
                inst(Op::Store(mode), &[], &[base, bits(0)])
            } else {
                inst(Op::Load(mode), &[2], &[base])
            };
            VInst { offset, ..plain }
        },
    )
}

fn access_of(inst: &VInst) -> Access {
    match inst.op.traits().order {
        Order::Access(access) => access,
        _ => panic!("loads and stores access memory"),
    }
}

/// Whether two accesses must keep their order, from what the doc of the module says. Each register holds one address.
fn must_keep_order(one: &VInst, other: &VInst) -> bool {
    let (mine, theirs) = (access_of(one), access_of(other));
    let read_only = |access: Access| {
        matches!(access.mode.space, Space::Const | Space::Param) || access.mode.cache == CacheOp::NonCoherent
    };
    if mine.writes || theirs.writes {
        let both = mine.writes && theirs.writes;
        let spaces = [mine.mode.space, theirs.mode.space];
        let apart = spaces[0] != spaces[1] && !spaces.contains(&Space::Generic);
        // The window of 32-bit addresses wraps far offsets to small ones.
        let place = |inst: &VInst, access: Access| {
            let narrow = matches!(access.mode.space, Space::Shared | Space::Param);
            let (base, from) = match inst.src[0] {
                crate::ir::VSrc::Reg(reg, _) => (Some(reg), 0),
                crate::ir::VSrc::Const(crate::ir::Constant::Bits(bits)) => (None, bits as i64),
                _ => panic!("an address"),
            };
            let from = from + inst.offset;
            let from = if narrow { i64::from(from as i32) } else { from };
            (from < 1 << 30).then_some((base, from, from + access.mode.ty.bytes() as i64))
        };
        let disjoint = spaces[0] == spaces[1]
            && match (place(one, mine), place(other, theirs)) {
                (Some((base, start, end)), Some((same, first, last))) => {
                    base == same && (end <= first || last <= start)
                }
                _ => false,
            };
        return both || !(apart || disjoint || read_only(mine) || read_only(theirs));
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_dominator_is_on_every_path(body in jumps()) {
        let cfg = Cfg::new(&body);
        let dominators = Dominators::new(&cfg);
        for above in 0..cfg.blocks.len() {
            let around = reached(&cfg, 0, Some(above));
            for (below, goes_around) in around.iter().enumerate() {
                let (above, below) = (BlockId(above as u32), BlockId(below as u32));
                prop_assert_eq!(dominators.dominates(above, below), !goes_around, "{:?} {:?}", above, below);
            }
        }
    }

    #[test]
    fn a_loop_is_what_reaches_its_latch_inside(body in jumps()) {
        let cfg = Cfg::new(&body);
        let dominators = Dominators::new(&cfg);
        let mut depths = vec![0; cfg.blocks.len()];
        for header in 0..cfg.blocks.len() {
            let latches: Vec<usize> = (0..cfg.blocks.len())
                .filter(|latch| cfg.blocks[*latch].successors.contains(&BlockId(header as u32)))
                .filter(|latch| dominators.dominates(BlockId(header as u32), BlockId(*latch as u32)))
                .collect();
            for (block, depth) in depths.iter_mut().enumerate() {
                let paths = reached(&cfg, block, Some(header));
                let inside = block == header || latches.iter().any(|latch| paths[*latch]);
                *depth += u32::from(!latches.is_empty() && inside);
            }
        }
        prop_assert_eq!(loop_depths(&cfg, &dominators), depths);
    }

    #[test]
    fn tidy_code_has_no_dead_ends(body in jumps()) {
        let cfg = Cfg::new(&body);
        prop_assert_eq!(cfg.order.len(), cfg.blocks.len());
        for (at, inst) in body.code.iter().enumerate() {
            prop_assert!(targets(inst, &body.tables).all(|target| target as usize != at + 1));
        }
    }

    #[test]
    fn accesses_keep_their_order_where_bytes_may_be_the_same(
        accesses in proptest::collection::vec(access(), 1..40),
    ) {
        let mut memory = MemoryOrder::default();
        // For each access, those that it stays behind, directly or through others.
        let mut behind: Vec<Vec<bool>> = Vec::new();
        let mut edges = 0;
        for (at, inst) in accesses.iter().enumerate() {
            let mut mine = vec![false; accesses.len()];
            let extent = Extent::new(inst, access_of(inst), |_: VReg| 0);
            memory.add(at as u32, &extent, |from| {
                edges += 1;
                mine[from as usize] = true;
                behind[from as usize].iter().zip(&mut mine).for_each(|(theirs, mine)| *mine |= theirs);
            });
            behind.push(mine);
        }
        prop_assert!(edges <= 2 * accesses.len());
        let mut expected: Vec<Vec<bool>> = Vec::new();
        for (at, inst) in accesses.iter().enumerate() {
            let mut mine = vec![false; accesses.len()];
            for from in (0..at).filter(|from| must_keep_order(&accesses[*from], inst)) {
                mine[from] = true;
                expected[from].iter().zip(&mut mine).for_each(|(theirs, mine)| *mine |= theirs);
            }
            expected.push(mine);
        }
        prop_assert_eq!(behind, expected);
    }
}
