//! What cycles of a critical path are spent on.

use strata_memory::doors::Refusal;
use strata_sm::Wait;

macro_rules! causes {
    ($($(#[doc = $meaning:literal])* $variant:ident: $name:literal, $level:ident;)*) => {
        /// What a segment of a critical path is spent on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[doc = $meaning])* $variant,)*
        }

        impl Cause {
            /// All of them, in order.
            pub const ALL: &[Cause] = &[$(Cause::$variant),*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Cause::$variant => $name,)* }
            }

            /// Where in the machine it is.
            pub const fn level(self) -> PathLevel {
                match self { $(Cause::$variant => PathLevel::$level,)* }
            }

            /// What it is.
            pub const fn meaning(self) -> &'static str {
                match self { $(Cause::$variant => concat!($($meaning),*).trim_ascii(),)* }
            }
        }
    };
}

causes! {
    /// The launch is on its way to the GPU.
    Launch: "launch", Launch;
    /// A CTA is on its way to its SM, from the launch's beginning or from the end of the CTA whose place it takes.
    Dispatch: "dispatch", Launch;
    /// The dispatcher learns that the last CTA has ended, and that all L1Ds are flushed.
    LaunchEnd: "end of the launch", Launch;
    /// The L1D writes back its dirty bytes at the launch's end.
    FinalFlush: "final flush", L1d;
    /// The instruction issues.
    Issue: "issue", Core;
    /// The instruction could issue, but another warp does, or the scheduler holds it back.
    IssueSlot: "issue slot", Core;
    /// The instruction comes from the instruction cache.
    Fetch: "fetch", FrontEnd;
    /// The instruction cache fetches the line of code.
    FetchMiss: "instruction cache miss", FrontEnd;
    /// A branch, a call or an exit is decided.
    Control: "control", Core;
    /// Operands are read: the instruction's, or an earlier one's of which it overwrites a register.
    Operands: "operands", Core;
    /// No operand collector is free for the instruction.
    Collector: "operand collector full", Core;
    /// The execution unit takes no instruction: it is busy with others.
    UnitBusy: "execution unit busy", Core;
    /// The unit computes.
    Execution: "execution", Core;
    /// The result goes to the register file.
    WriteBack: "write-back", Core;
    /// The last warp arrives at a barrier, and the others learn it.
    Barrier: "barrier", Core;
    /// A fence has the L1D flushed.
    Fence: "fence", L1d;
    /// Asynchronous copies are waited for.
    Copies: "asynchronous copies", Lsu;
    /// The warp sleeps.
    Sleep: "sleep", Core;
    /// The lane path passes on what a CTA wrote.
    LanePath: "lane path", Lsu;
    /// The load/store unit takes no instruction.
    LsuFull: "load/store unit full", Lsu;
    /// The load/store unit computes addresses, and earlier accesses go first.
    Lsu: "load/store unit", Lsu;
    /// The access goes through the banks of shared memory.
    Shared: "shared memory", Shared;
    /// The access is at the constant cache, or what is behind it.
    Constant: "constant cache", Constant;
    /// The texture unit makes the result of texels.
    Texture: "texture unit", Lsu;
    /// The L1D refuses the access: its port or its pipeline is taken.
    RefusedPort: "L1D port", L1d;
    /// The L1D refuses the access: no MSHR is free.
    RefusedMshr: "L1D MSHRs full", L1d;
    /// The L1D refuses the access: the line's MSHR takes no more of them.
    RefusedMerge: "L1D MSHR takes no more", L1d;
    /// The L1D refuses the access: every way of the set waits for a fill.
    RefusedWays: "L1D ways taken", L1d;
    /// The L1D refuses the access: its queue to the network is full.
    RefusedNetwork: "L1D queue to network full", L1d;
    /// The L1D refuses the access: the bank is busy.
    RefusedBank: "L1D bank busy", L1d;
    /// The L1D refuses the access: it is being flushed.
    RefusedFlush: "L1D flush under way", L1d;
    /// The L1D has the line, and reads it.
    Hit: "L1D hit", L1d;
    /// The L1D takes the bytes.
    Store: "L1D store", L1d;
    /// The L1D finds that it lacks the line; its packet waits until the network takes it.
    Miss: "L1D miss", L1d;
    /// The packet is on its way to the slice; translation of its address, where there is some.
    Request: "request", Requests;
    /// The slice of the last-level cache has the line: from taking the request until its answer leaves.
    LlcHit: "LLC hit", Llc;
    /// An SM in cache mode has the line.
    Extended: "extended LLC", Llc;
    /// The slice lacks the line: from taking the request until DRAM takes that for the line.
    LlcMiss: "LLC miss", Llc;
    /// The slice has the line from DRAM: until its answer leaves.
    LlcReply: "LLC reply", Llc;
    /// The request is at DRAM, its queue included, or at the cache in front of it.
    Dram: "DRAM", Dram;
    /// Another owner of the words answers.
    Owner: "owner", Owner;
    /// The answer is on its way to the L1D.
    Reply: "reply", Replies;
    /// The line is written to the L1D.
    Fill: "fill", L1d;
    /// Nobody knows.
    Unknown: "unknown", Unknown;
}

/// A part of the machine that cycles are spent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum PathLevel {
    Launch,
    FrontEnd,
    Core,
    Lsu,
    Shared,
    Constant,
    L1d,
    Requests,
    Llc,
    Dram,
    Owner,
    Replies,
    Unknown,
}

impl PathLevel {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            PathLevel::Launch => "launch",
            PathLevel::FrontEnd => "instruction fetch",
            PathLevel::Core => "SM",
            PathLevel::Lsu => "load/store unit",
            PathLevel::Shared => "shared memory",
            PathLevel::Constant => "constant cache",
            PathLevel::L1d => "L1D",
            PathLevel::Requests => "network, requests",
            PathLevel::Llc => "LLC",
            PathLevel::Dram => "DRAM",
            PathLevel::Owner => "other owners",
            PathLevel::Replies => "network, replies",
            PathLevel::Unknown => "unknown",
        }
    }
}

impl Cause {
    pub(super) const fn of_wait(wait: Wait) -> Cause {
        match wait {
            Wait::Issue => Cause::Issue,
            Wait::Turn => Cause::IssueSlot,
            Wait::Operands => Cause::Operands,
            Wait::Collector => Cause::Collector,
            Wait::LsuFull => Cause::LsuFull,
            Wait::Control => Cause::Control,
            Wait::Fetch => Cause::Fetch,
            Wait::FetchMiss => Cause::FetchMiss,
            Wait::Barrier => Cause::Barrier,
            Wait::Fence => Cause::Fence,
            Wait::Copies => Cause::Copies,
            Wait::Sleep => Cause::Sleep,
            Wait::LanePath => Cause::LanePath,
            Wait::Unknown => Cause::Unknown,
        }
    }

    pub(super) const fn of_refusal(refusal: Refusal) -> Cause {
        match refusal {
            Refusal::Port => Cause::RefusedPort,
            Refusal::Mshr => Cause::RefusedMshr,
            Refusal::Merge => Cause::RefusedMerge,
            Refusal::Ways => Cause::RefusedWays,
            Refusal::Network => Cause::RefusedNetwork,
            Refusal::Bank => Cause::RefusedBank,
            Refusal::Flush => Cause::RefusedFlush,
        }
    }
}
