//! Which registers hold a value that is still needed.
//!
//! The analysis follows the paths of one lane, and that is enough for a warp. A physical register is a row
//! with a place for each lane, and a write changes the places of the active lanes only; so what lanes on the
//! other side of a divergent branch, or past a reconvergence point, keep in the same row stays theirs.
//! Each lane takes a path of the control flow graph, and on each path plain liveness holds. Instructions
//! that look at other lanes (shuffles, votes) read those lanes' places at the same instruction, where the
//! operand is live for all of them.
//!
//! A guarded write leaves the other lanes alone, so it does not end the life of what was there before,
//! unless nothing can have been there: a register counts as live only where some definition may have
//! reached it.

use super::body::Body;
use super::cfg::{BlockId, Cfg};
use super::error::BackError;
use super::occurrences::{Kind, Occurrence, Occurrences, Region, mark};

/// The result, per block and per instruction.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Registers live where each block ends, ascending.
    pub live_out: Vec<Vec<u32>>,
    /// For each instruction, whether its writes end the lives of earlier values.
    pub kills: Vec<bool>,
}

impl Liveness {
    /// Solves the dataflow equations of a body.
    ///
    /// # Errors
    /// When too many values live from block to block.
    pub fn new(body: &Body, cfg: &Cfg) -> Result<Liveness, BackError> {
        let occurrences = Occurrences::new(body);
        let kills = kills(body, cfg, &occurrences)?;
        let mut region = Region::new(cfg);
        let mut live_out = vec![Vec::new(); cfg.blocks.len()];
        for reg in 0..body.registers.len() {
            let of = occurrences.of(reg);
            if is_local(of, cfg, &kills) {
                continue;
            }
            region.turn_to(of)?;
            flood(&mut region, cfg, of, &kills, |block| live_out[block.index()].push(reg as u32));
        }
        Ok(Liveness { live_out, kills })
    }
}

/// Whether a register's value is made and used up in one block.
fn is_local(of: &[Occurrence], cfg: &Cfg, kills: &[bool]) -> bool {
    let (Some(first), Some(last)) = (of.first(), of.last()) else { return true };
    let begins = first.kind != Kind::Read && kills[first.at as usize];
    begins && cfg.block_of[first.at as usize] == cfg.block_of[last.at as usize]
}

/// For each instruction, whether its writes end the lives of earlier values.
fn kills(body: &Body, cfg: &Cfg, occurrences: &Occurrences) -> Result<Vec<bool>, BackError> {
    let mut region = Region::new(cfg);
    let mut kills = vec![true; body.code.len()];
    for reg in 0..body.registers.len() {
        let of = occurrences.of(reg);
        if !of.iter().any(|occurrence| occurrence.kind == Kind::Merge) {
            continue;
        }
        region.turn_to(of)?;
        // The last block with a write so far, and the first write of it.
        let mut written = None;
        for occurrence in of.iter().filter(|occurrence| occurrence.kind != Kind::Read) {
            let block = cfg.block_of[occurrence.at as usize];
            let earlier = written.is_some_and(|(within, at)| within == block && at < occurrence.at);
            if occurrence.kind == Kind::Merge && (earlier || region.has(block, mark::ENTERS)) {
                kills[occurrence.at as usize] = false;
            }
            if written.is_none_or(|(within, _)| within != block) {
                written = Some((block, occurrence.at));
            }
        }
    }
    Ok(kills)
}

/// Follows the value of the register at hand back from its reads; `live_out` gets every block at whose end it lives.
fn flood(
    region: &mut Region<'_>,
    cfg: &Cfg,
    of: &[Occurrence],
    kills: &[bool],
    mut live_out: impl FnMut(BlockId),
) {
    let mut within = None;
    for occurrence in of {
        let block = cfg.block_of[occurrence.at as usize];
        // The old value is needed in the lanes that a write leaves out, so such a write is a read of it too.
        let ends = occurrence.kind != Kind::Read && kills[occurrence.at as usize];
        if within != Some(block) {
            within = Some(block);
            if !ends && region.has(block, mark::ENTERS) && region.set(block, mark::LIVE_IN) {
                region.work.push(block);
            }
        }
        if ends {
            region.set(block, mark::ENDS);
        }
    }
    while let Some(block) = region.work.pop() {
        for &before in &cfg.block(block).predecessors {
            if region.has(before, mark::WRITES | mark::ENTERS) && region.set(before, mark::LIVE_OUT) {
                live_out(before);
            }
            if !region.has(before, mark::ENDS)
                && region.has(before, mark::ENTERS)
                && region.set(before, mark::LIVE_IN)
            {
                region.work.push(before);
            }
        }
    }
}
