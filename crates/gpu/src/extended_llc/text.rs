//! The kernel's text: templates of sets, with fragments put in where they name one.

use std::fmt::Write;

use super::fragments::{
    self, ANSWER, ANSWER_AT_ONCE, ANSWER_COMPRESSED, ANSWER_OF_L1, ANSWER_OF_L1_TO_SUM, ANSWER_TO_SUM,
    AT_BLOCK, AT_LISTED_BLOCK, CHANGED, CHANGED_COMPRESSED, DROP, ENTERED, ENTERED_AT_ONCE, IDLE, MINE,
    NEXT_OF_LIST, NEXT_OF_ROW, NEXT_REPEATED, PAYLOAD, PLACE, RANK, READ_UNDER_MASK, ROW, SUM, TAG, address,
    expand, less, result, select, touch_compressed,
};
use super::tags::{self, Tags};
use super::{Indirection, Kernel, Levels, Requests};

const SET: &str = include_str!("set.ptx");
const MISS: &str = include_str!("miss.ptx");
const ABSENT: &str = include_str!("absent.ptx");
const L1: &str = include_str!("l1.ptx");
const UPDATE: &str = include_str!("update.ptx");
const ATOMIC: &str = include_str!("atomic.ptx");
const COMPRESSED: &str = include_str!("compressed.ptx");

/// What stands before the kernel, behind its target.
const HEAD: &str = ".address_size 64\n.extern .shared .align 128 .b8 blocks[];\n";

/// Parameters of the kernel.
const PARAMETERS: &str = ".param .u64 window, .param .u32 rows_per_cta, .param .u32 register_sets,\n\
    .param .u32 shared_sets, .param .u32 ways, .param .u32 shared_ways, .param .u32 epoch";

/// Scratch registers; data registers follow.
const REGISTERS: &str = "\t.reg .pred %p, %q, %in, %odd, %read, %atomic, %insert, %missed, %first;\n\
    \t.reg .b32 %t, %u, %count, %status, %index, %value, %data, %old, %mask, %kind, %base;\n\
    \t.reg .b64 %row, %mine, %at, %window;\n";

/// What compressed sets have besides.
const COMPRESSED_REGISTERS: &str = "\t.reg .b32 %m<4>, %b<4>, %rank, %home, %width, %map, %counts, %begun, %told;\n\
    \t.reg .b32 %tag, %info, %x, %slot, %bits, %entry, %gone, %k;\n";

/// Where the bytes of a set are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    Registers,
    /// In registers, compressed where they can be.
    Compressed,
    Shared,
    L1,
}

impl Storage {
    /// First letter of its labels.
    const fn letter(self) -> char {
        match self {
            Storage::Registers | Storage::Compressed => 'R',
            Storage::Shared => 'M',
            Storage::L1 => 'L',
        }
    }

    /// Whether registers are so few that addresses are computed again rather than kept.
    const fn is_tight(self) -> bool {
        matches!(self, Storage::Registers | Storage::Compressed)
    }

    /// The templates of its sets.
    const fn templates(self) -> &'static [&'static str] {
        match self {
            Storage::Compressed => &[COMPRESSED, ATOMIC],
            Storage::L1 => &[L1, UPDATE, ATOMIC],
            Storage::Registers | Storage::Shared => &[SET, UPDATE, ATOMIC],
        }
    }

    /// The parameter with its number of blocks.
    const fn ways(self) -> &'static str {
        if matches!(self, Storage::Shared) { "shared_ways" } else { "ways" }
    }
}

impl Kernel {
    /// The module with the kernel, [`super::ENTRY`], whose parameters are, in this order:
    ///
    /// - `window`, u64: address of the window, a multiple of [`super::ROW_BYTES`];
    /// - `rows_per_cta`, u32: warp w of CTA c has row c * `rows_per_cta` + w;
    /// - `register_sets`, `shared_sets`, u32: so many warps of a CTA keep their sets in registers, the next ones in shared
    ///   memory, the others in the L1D;
    /// - `ways`, `shared_ways`, u32: registers of a set in registers, at most those of the kernel, one for each of its blocks
    ///   where these are not compressed; and blocks of a set in shared memory, at most `shared_ways` of the kernel;
    /// - `epoch`, u32: cycles after which a set of compressed blocks gives its levels registers anew.
    ///
    /// A launch has `ctas` CTAs of `warps` warps for each SM, each with `shared_sets * shared_ways * 128` bytes of shared memory.
    pub fn text(&self) -> String {
        self.module(super::ENTRY, "", "", "")
    }

    /// A module whose kernel has further parameters (each begins with a comma), begins with `before` and ends with
    /// `behind`, to which `before` may branch.
    pub fn module(&self, name: &str, parameters: &str, before: &str, behind: &str) -> String {
        let bounds = match self.ctas {
            0 => String::new(),
            ctas => format!(".maxntid {}, 1, 1\n.minnctapersm {ctas}\n", self.warps * 32),
        };
        let (target, data) = match self.indirection {
            Indirection::Branch => ("sm_86", format!("%d<{}>", self.ways)),
            Indirection::Instruction => ("sm_86, indirect_mov", format!("%d[{}]", self.ways)),
        };
        let compressed = if self.compression.is_some() { COMPRESSED_REGISTERS } else { "" };
        let next = match self.requests {
            Requests::Held | Requests::Polled => "",
            Requests::Listed => "\t.reg .b64 %next;\n",
            Requests::Repeated => "\t.reg .b64 %next;\n\t.reg .b32 %left, %sum;\n\t.reg .pred %again;\n",
        };
        let tags = tags::registers(self.ways.max(self.shared_ways));
        let mut text = format!(
            ".version 7.8\n.target {target}\n{HEAD}.visible .entry {name}({PARAMETERS}{parameters})\n\
             {bounds}{{\n\
             {REGISTERS}{next}{tags}{compressed}\t.reg .b32 {data};\n{before}\
             \tmov.u32 %t, %tid.x;\n\tshr.u32 %t, %t, 5;\n\tld.param.u32 %u, [register_sets];\n\
             \tsetp.lt.u32 %p, %t, %u;\n\t@%p bra.uni R_BEGIN;\n\tsub.u32 %t, %t, %u;\n\
             \tld.param.u32 %u, [shared_sets];\n\tsetp.ge.u32 %p, %t, %u;\n\t@%p bra.uni L_BEGIN;\n\
             \tld.param.u32 %u, [shared_ways];\n\tmul.lo.u32 %t, %t, %u;\n\tshl.b32 %t, %t, 5;\n\
             \tmov.u32 %u, %laneid;\n\tor.b32 %t, %t, %u;\n\tshl.b32 %t, %t, 2;\n\tmov.u32 %base, blocks;\n\
             \tadd.u32 %base, %base, %t;\n\tbra.uni M_BEGIN;\n"
        );
        let mut writer = Writer { kernel: *self, tables: 0 };
        let in_registers = if self.compression.is_some() { Storage::Compressed } else { Storage::Registers };
        for storage in [in_registers, Storage::Shared, Storage::L1] {
            for template in storage.templates() {
                text.push_str(&writer.fill(template, storage));
            }
        }
        let text = text + behind + "}\n";
        let next = match self.requests {
            Requests::Held | Requests::Polled => return text,
            Requests::Listed => NEXT_OF_LIST,
            Requests::Repeated => NEXT_REPEATED,
        };
        text.replace(NEXT_OF_ROW, next).replace(AT_BLOCK, AT_LISTED_BLOCK)
    }
}

/// Fills templates in.
struct Writer {
    kernel: Kernel,
    /// Branch tables so far.
    tables: u32,
}

impl Writer {
    /// A template with its fragments. Lines that begin with `{EACH}` stand for four, with 0 to 3 for `{n}`.
    fn fill(&mut self, template: &str, storage: Storage) -> String {
        let mut text = String::new();
        let mut lines = template.lines().filter(|line| !line.starts_with("//")).peekable();
        while let Some(line) = lines.next() {
            if let Some(first) = line.strip_prefix("{EACH}") {
                let mut each = vec![first];
                while let Some(next) = lines.next_if(|line| line.starts_with("{EACH}")) {
                    each.push(&next["{EACH}".len()..]);
                }
                for n in 0..4 {
                    each.iter()
                        .for_each(|line| plain(&mut text, &line.replace("{n}", &n.to_string()), storage));
                }
            } else if let Some(name) = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                text.push_str(&self.fragment(name, storage));
            } else {
                plain(&mut text, line, storage);
            }
        }
        text
    }

    /// The fragment that a line names.
    fn fragment(&mut self, name: &str, storage: Storage) -> String {
        if storage == Storage::Compressed
            && let Some(text) = self.compressed_fragment(name)
        {
            return text;
        }
        match name {
            "READ" => self.access(storage, false, "%value"),
            "WRITE" => self.access(storage, true, "%value"),
            "WRITE data" => self.access(storage, true, "%data"),
            "IDLE" if self.kernel.requests == Requests::Polled => {
                IDLE.replace("{S}", &storage.letter().to_string())
            }
            "IDLE" => String::new(),
            "TAGS" => self.tags(storage).begin(),
            "LOOK %status" => self.tags(storage).look("%status"),
            "LOOK %t" => self.tags(storage).look("%t"),
            "MISSED %p" => self.tags(storage).missed("%p"),
            "MISSED %missed" => self.tags(storage).missed("%missed"),
            "FOUND" => self.tags(storage).found(),
            "VICTIM" => self.tags(storage).victim(),
            "TAG AT HAND" => self.tags(storage).tag_at_hand(),
            "ENTER" => self.tags(storage).enter(),
            "BRING" => self.tags(storage).bring(),
            "DIRTY" if storage == Storage::L1 => String::new(),
            "DIRTY" => self.tags(storage).dirty(),
            "DIRTY BY REQUEST" => self.tags(storage).dirty_by_request(),
            "CLEAN ONE" => self.tags(storage).clean_one(&format!("{}_FLUSHED", storage.letter())),
            "TAG" => TAG.into(),
            "ANSWER" => self.answer(storage),
            "SUM" if self.kernel.requests == Requests::Repeated => self.fill(SUM, storage),
            "SUM" => String::new(),
            "ENTERED" if self.asks_ahead(storage) => self.fill(ENTERED_AT_ONCE, storage),
            "ENTERED" => self.fill(ENTERED, storage),
            "ASK" if self.asks_ahead(storage) => self.fill(PAYLOAD, storage),
            "ASK" => String::new(),
            "PAYLOAD" if self.asks_ahead(storage) => String::new(),
            "PAYLOAD" => self.fill(PAYLOAD, storage),
            "MISS" => self.fill(if self.kernel.fetches { MISS } else { ABSENT }, storage),
            "READ UNDER MASK" if storage == Storage::L1 => READ_UNDER_MASK.into(),
            "READ UNDER MASK" => self.access(storage, false, "%value"),
            "MINE" if storage.is_tight() => MINE.into(),
            "MINE" => String::new(),
            "ROW" if storage.is_tight() => ROW.into(),
            "ROW" => ROW.to_owned() + MINE,
            // The other sets have registers enough to keep it.
            "ROW AGAIN" if storage == Storage::Registers => ROW.into(),
            "ROW AGAIN" => String::new(),
            "ADDRESS status" => address("status"),
            "ADDRESS t" => address("t"),
            "ADDRESS gone" => address("gone"),
            "INDEX" if storage == Storage::L1 => String::new(),
            "INDEX" => self.tags(storage).index(),
            "TOUCH" => self.tags(storage).touch(),
            "CHANGED" => self.fill(CHANGED, storage),
            "CLEAR" if storage == Storage::Shared => String::new(),
            "CLEAR" => self.clear(),
            "RESULT 1" => result("1"),
            "RESULT 2" => result("2"),
            "RESULT t" => result("%t"),
            "LESS u32" => less("u32"),
            "LESS s32" => less("s32"),
            _ => unreachable!("templates name fragments that there are, not {name}"),
        }
    }

    /// What a set does with the block of a read that hits.
    fn answer(&mut self, storage: Storage) -> String {
        match (storage, self.kernel.requests) {
            (Storage::L1, Requests::Repeated) => self.fill(ANSWER_OF_L1_TO_SUM, storage),
            (Storage::L1, _) => self.fill(ANSWER_OF_L1, storage),
            (_, Requests::Repeated) => ANSWER_TO_SUM.into(),
            (_, Requests::Polled) => ANSWER.into(),
            (_, Requests::Held | Requests::Listed) => ANSWER_AT_ONCE.into(),
        }
    }

    /// What lanes know of the blocks of such a set.
    fn tags(&self, storage: Storage) -> Tags {
        Tags::of(if storage == Storage::Shared { self.kernel.shared_ways } else { self.kernel.ways })
    }

    /// Whether sets load the next payload as soon as they have taken one: its reply is withheld until there is one.
    fn asks_ahead(&self, storage: Storage) -> bool {
        match storage {
            Storage::Registers | Storage::Shared => self.kernel.requests != Requests::Polled,
            // Puts what it loads itself where the payload would be.
            Storage::Compressed => self.kernel.requests != Requests::Polled && !self.kernel.fetches,
            Storage::L1 => false,
        }
    }

    /// The fragment of a compressed set, where it has its own.
    fn compressed_fragment(&mut self, name: &str) -> Option<String> {
        Some(match name {
            // The block is in %value already.
            "INDEX" | "READ" => String::new(),
            "ANSWER" if self.kernel.requests == Requests::Polled => ANSWER_COMPRESSED.into(),
            "WRITE data" => self.access(Storage::Registers, true, "%data"),
            "READ raw" => self.access(Storage::Registers, false, "%value"),
            "READ old" => self.access(Storage::Registers, false, "%old"),
            "WRITE old" => self.access(Storage::Registers, true, "%old"),
            "DECOMPRESS old" => self.decompress("%old"),
            "SELECT m" => select("m"),
            "WRITE value" => self.access(Storage::Registers, true, "%value"),
            "RANK" => RANK.into(),
            "TOUCH" => touch_compressed("%k"),
            "TOUCH 0" => touch_compressed("0"),
            "COUNTED" if self.kernel.compression == Some(Levels::Epoch) => fragments::COUNTED_ANEW.into(),
            "COUNTED" => self.fill(fragments::COUNTED_ON, Storage::Compressed),
            "ABSENT" if self.kernel.fetches => String::new(),
            "ABSENT" => self.fill(fragments::ABSENT, Storage::Compressed),
            "DROP" => PLACE.to_owned() + &self.fill(DROP, Storage::Compressed),
            "CHANGED" => self.fill(CHANGED_COMPRESSED, Storage::Compressed),
            _ => return None,
        })
    }

    /// A register = the block of `%slot`.
    fn decompress(&mut self, register: &str) -> String {
        PLACE.to_owned() + &self.access(Storage::Registers, false, register) + &expand(register)
    }

    /// A register = block `%index`, or the other way round. The registers %t and %u are free.
    fn access(&mut self, storage: Storage, writes: bool, register: &str) -> String {
        match (storage, writes) {
            (Storage::L1, false) => format!("\tld.global.u32 {register}, [%at];\n"),
            (Storage::L1, true) => format!("\tst.global.u32 [%at], {register};\n"),
            (Storage::Shared, _) => {
                let access = if writes {
                    format!("st.shared.u32 [%t], {register}")
                } else {
                    format!("ld.shared.u32 {register}, [%t]")
                };
                format!("\tshl.b32 %t, %index, 7;\n\tadd.u32 %t, %t, %base;\n\t{access};\n")
            }
            (Storage::Registers | Storage::Compressed, _) => match self.kernel.indirection {
                Indirection::Branch => self.branch(writes, register),
                Indirection::Instruction if writes => format!("\tmov.indirect.b32 %d[%index], {register};\n"),
                Indirection::Instruction => format!("\tmov.indirect.b32 {register}, %d[%index];\n"),
            },
        }
    }

    /// Algorithm 2: one branch target for each data register.
    fn branch(&mut self, writes: bool, register: &str) -> String {
        let table = self.tables;
        self.tables += 1;
        let targets: Vec<String> = (0..self.kernel.ways).map(|way| format!("T{table}_{way}")).collect();
        let mut text =
            format!("T{table}: .branchtargets {};\n\tbrx.idx.uni %index, T{table};\n", targets.join(", "));
        for (way, target) in targets.iter().enumerate() {
            let (to, from) = (format!("%d{way}"), register.to_owned());
            let (to, from) = if writes { (to, from) } else { (from, to) };
            writeln!(text, "{target}:\n\tmov.b32 {to}, {from};\n\tbra.uni J{table};")
                .expect("a string grows");
        }
        text + &format!("J{table}:\n")
    }

    /// Data registers begin with zeros, so that no path reads what was never written.
    fn clear(&self) -> String {
        let zero = |way: u32| match self.kernel.indirection {
            Indirection::Branch => format!("\tmov.b32 %d{way}, 0;\n"),
            Indirection::Instruction => format!("\tmov.indirect.b32 %d[{way}], 0;\n"),
        };
        (0..self.kernel.ways).map(zero).collect()
    }
}

/// Appends a line that is PTX.
fn plain(text: &mut String, line: &str, storage: Storage) {
    text.push_str(&line.replace("{S}", &storage.letter().to_string()).replace("{ways}", storage.ways()));
    text.push('\n');
}
