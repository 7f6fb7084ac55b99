//! The places of a program that access memory, and what their accesses are to a memory model.

use std::collections::HashMap;

use super::super::observer::{AccessKind, Issuer};
use super::knowledge::is_wide;
use crate::isa::{CacheOp, MbarrierOp, MemoryMode, Op, Ordering, Pc, Scope};
use crate::program::Kernel;

/// What an access is to the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class {
    pub reads: bool,
    pub writes: bool,
    /// The scope of a strong access, atomic ones included; none of a weak one.
    pub strong: Option<Scope>,
    /// Whether the program learns what it read.
    pub observes: bool,
    pub acquires: bool,
    pub releases: bool,
    /// Whether it writes when the copy that it begins is waited for.
    pub later: bool,
    /// Bytes of an element.
    pub element: u8,
}

impl Class {
    /// Whether accesses of two threads conflict unless one happens before the other: one writes, and they are not strong at
    /// scopes that hold both threads. Strong accesses must also be of one size: the ISA promises nothing to others.
    pub fn conflicts(&self, other: &Class, same_cta: bool) -> bool {
        let fits = |scope: Option<Scope>| scope.is_some_and(|scope| same_cta || is_wide(scope));
        let strong = fits(self.strong) && fits(other.strong) && self.element == other.element;
        (self.writes || other.writes) && !strong
    }

    fn of(by: &Issuer<'_>, kind: AccessKind, bytes: usize) -> Class {
        let (reads, writes) = (kind != AccessKind::Store, kind != AccessKind::Load);
        let weak = Class {
            reads,
            writes,
            strong: None,
            observes: reads,
            acquires: false,
            releases: false,
            later: false,
            element: bytes as u8,
        };
        match by.instruction.op {
            Op::Load(mode) | Op::Store(mode) => weak.with(&mode, true),
            Op::Atomic { mode, .. } => weak.with(&mode, true),
            // Nobody learns what a reduction read.
            Op::Reduce { mode, .. } => weak.with(&mode, false),
            Op::SurfaceReduce { .. } => Class { strong: Some(Scope::Gpu), ..weak },
            Op::CopyAsync(_) => Class { later: writes, ..weak },
            Op::Mbarrier(barrier) => match barrier.op {
                MbarrierOp::Init | MbarrierOp::Invalidate => Class { reads: false, observes: false, ..weak },
                op if op.is_test() => Class { strong: Some(Scope::Cta), acquires: true, ..weak },
                _ => Class { strong: Some(Scope::Cta), releases: true, ..weak },
            },
            // The barrier that counts the bytes.
            Op::Bulk(copy) if kind == AccessKind::Atomic && copy.reduce.is_none() => {
                Class { strong: Some(Scope::Cta), releases: true, ..weak }
            }
            Op::CopyArrive { .. } => Class { strong: Some(Scope::Cta), releases: true, ..weak },
            _ => weak,
        }
    }

    fn with(self, mode: &MemoryMode, observes: bool) -> Class {
        let atomic = self.reads && self.writes;
        let strong = match mode.ordering {
            _ if atomic => Some(mode.scope),
            // The ISA calls cache operators hints, but who writes these means not to be served from a copy.
            Ordering::Weak if matches!(mode.cache, CacheOp::Global | CacheOp::Volatile) => Some(Scope::Gpu),
            Ordering::Weak => None,
            _ => Some(mode.scope),
        };
        let acquires = matches!(mode.ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst);
        let releases = matches!(mode.ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst);
        Class {
            strong,
            observes: self.reads && observes,
            acquires: acquires && self.reads && observes,
            releases: releases && self.writes,
            element: mode.ty.bytes() as u8,
            ..self
        }
    }

    /// A word for it.
    pub fn name(&self) -> &'static str {
        match (self.reads, self.writes, self.strong) {
            (true, true, _) => "atomic",
            (_, true, None) if self.later => "asynchronous write",
            (_, true, None) => "write",
            (_, true, Some(_)) => "strong write",
            (_, _, None) => "read",
            (_, _, Some(_)) => "strong read",
        }
    }
}

/// A place in a program, and what it does there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub kernel: String,
    /// The text that the line is in, when the kernel is linked from several.
    pub text: Option<String>,
    /// Line in the PTX text.
    pub line: u32,
    pub class: Class,
    /// Bytes of a thread's access.
    pub bytes: usize,
}

/// Every place that was met, by number.
#[derive(Debug, Default)]
pub(super) struct Sites {
    all: Vec<Site>,
    numbers: HashMap<Site, u32>,
    kernel: String,
    /// The line and text of each instruction of the kernel that runs.
    lines: Vec<(Option<String>, u32)>,
    /// The place of each kind of access of each instruction of the running kernel, once met.
    places: Vec<[Option<u32>; 3]>,
}

impl Sites {
    /// Another kernel runs.
    pub fn begin(&mut self, kernel: &Kernel) {
        self.kernel.clone_from(&kernel.name);
        self.lines = kernel.code.iter().map(|instruction| kernel.source(instruction.line)).collect();
        self.places = vec![[None; 3]; kernel.code.len()];
    }

    /// The number of the place of an access.
    pub fn number(&mut self, by: &Issuer<'_>, kind: AccessKind, bytes: usize) -> u32 {
        let (pc, kind_place): (Pc, usize) = (by.pc, kind as usize);
        if let Some(number) = self.places[pc as usize][kind_place] {
            return number;
        }
        let (text, line) = self.lines[pc as usize].clone();
        let class = Class::of(by, kind, bytes);
        let site = Site { kernel: self.kernel.clone(), text, line, class, bytes };
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(site.clone()).or_insert(next);
        if number == next {
            self.all.push(site);
        }
        self.places[pc as usize][kind_place] = Some(number);
        number
    }

    pub fn at(&self, number: u32) -> &Site {
        &self.all[number as usize]
    }

    pub fn class(&self, number: u32) -> &Class {
        &self.all[number as usize].class
    }
}
