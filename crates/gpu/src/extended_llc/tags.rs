//! What lanes know of the blocks of a set whose tags are in registers: lane i knows block i, and of larger sets blocks i + 32,
//! i + 64 and so on, one of each *group* of 32. Of group g a lane has the registers `%meta<g>` and `%stamp<g>`.
//!
//! With one group, predicates say which block is at hand and which are dirty, and a ballot finds a block. With more, there would be
//! too many predicates: `%here` is the number of the lane's block that is at hand, or negative, a reduction tells all lanes, and
//! bit g of `%flags` says whether the block of group g is dirty.

use std::fmt::Write;

/// The groups of a set.
#[derive(Clone, Copy)]
pub struct Tags {
    groups: u32,
}

/// The registers of so many groups.
pub fn registers(ways: u32) -> String {
    let groups = Tags::of(ways).groups;
    format!("\t.reg .pred %match, %dirty;\n\t.reg .b32 %here, %flags, %meta<{groups}>, %stamp<{groups}>;\n")
}

/// `%u` = the bit of the lane's block at hand in %flags; 0: none.
const BIT: &str = "\tshr.s32 %u, %here, 5;\n\tshl.b32 %u, 1, %u;\n";
const CLEAN: &str = "\tlop3.b32 %flags, %flags, %u, 0, 0x30;\n";

impl Tags {
    /// The tags of a set of so many blocks.
    pub fn of(ways: u32) -> Tags {
        Tags { groups: ways.div_ceil(32).max(1) }
    }

    fn are_few(self) -> bool {
        self.groups == 1
    }

    /// Lines for each group, with its number for `{g}` and that of its first block for `{first}`.
    fn each(self, lines: &str) -> String {
        let of = |group: u32| {
            lines.replace("{g}", &group.to_string()).replace("{first}", &(32 * group).to_string())
        };
        (0..self.groups).map(of).collect()
    }

    /// An empty set of `%u` blocks, in lane `%t`. Blocks that are none would be used last of all.
    pub fn begin(self) -> String {
        let count = 32 * self.groups - 1;
        let dirty = if self.are_few() { "\tsetp.ne.u32 %dirty, %t, %t;\n" } else { "\tmov.u32 %flags, 0;\n" };
        let mut text = format!("\tsetp.eq.u32 %first, %t, 0;\n{dirty}");
        for group in 0..self.groups {
            if group > 0 {
                text += "\tadd.u32 %t, %t, 32;\n";
            }
            write!(
                text,
                "\tsetp.lt.u32 %p, %t, %u;\n\tselp.b32 %stamp{group}, %t, -1, %p;\n\tmov.u32 %meta{group}, -1;\n"
            )
            .expect("a string grows");
        }
        text + &format!("\tmov.u32 %count, {count};\n")
    }

    /// Algorithm 1: looks for the block whose tag is in a register, which may be `%t`. [`Tags::missed`] tells.
    pub fn look(self, tag: &str) -> String {
        if self.are_few() {
            return format!(
                "\tsetp.eq.u32 %match, %meta0, {tag};\n\tvote.sync.ballot.b32 %index, %match, -1;\n"
            );
        }
        self.at_hand(&format!("%meta{{g}}, {tag}")) + &self.index()
    }

    /// The lane's block of which two registers are equal is at hand.
    fn at_hand(self, equal: &str) -> String {
        let each = self.each(&format!("\tsetp.eq.u32 %q, {equal};\n\t@%q mov.u32 %here, {{first}};\n"));
        format!("\tmov.u32 %here, -1;\n{each}\tmov.u32 %t, %laneid;\n\tor.b32 %here, %here, %t;\n")
    }

    /// A predicate = no block was found.
    pub fn missed(self, predicate: &str) -> String {
        let compare = if self.are_few() { "eq.u32" } else { "lt.s32" };
        format!("\tsetp.{compare} {predicate}, %index, 0;\n")
    }

    /// %index = the number of the block that was found.
    pub fn found(self) -> String {
        if self.are_few() { "\tbfind.u32 %index, %index;\n".into() } else { String::new() }
    }

    /// %index = the block at hand: rather computed again while a load is under way than kept.
    pub fn index(self) -> String {
        if self.are_few() {
            return "\tvote.sync.ballot.b32 %index, %match, -1;\n".to_owned() + &self.found();
        }
        "\tredux.sync.max.s32 %index, %here, -1;\n".into()
    }

    /// A move to a register of the group of the lane's block at hand, whose number it computes first.
    fn to_group(self, array: &str, value: &str) -> String {
        if self.are_few() {
            return format!("\t@%match mov.b32 %{array}0, {value};\n");
        }
        "\tshr.s32 %u, %here, 5;\n".to_owned()
            + &self.each(&format!("\tsetp.eq.u32 %q, %u, {{g}};\n\t@%q mov.b32 %{array}{{g}}, {value};\n"))
    }

    /// Makes the block at hand the one used last.
    pub fn touch(self) -> String {
        "\tadd.u32 %count, %count, 1;\n".to_owned() + &self.to_group("stamp", "%count")
    }

    /// The block at hand = the one that was used longest ago; `%p` says whether it is dirty.
    pub fn victim(self) -> String {
        if self.are_few() {
            return "\tredux.sync.min.u32 %u, %stamp0, -1;\n\tsetp.eq.u32 %match, %stamp0, %u;\n\
                    \tand.pred %p, %match, %dirty;\n\tvote.sync.any.pred %p, %p, -1;\n"
                .into();
        }
        let mut text = "\tmin.u32 %u, %stamp0, %stamp1;\n".to_owned();
        for group in 2..self.groups {
            writeln!(text, "\tmin.u32 %u, %u, %stamp{group};").expect("a string grows");
        }
        text += "\tredux.sync.min.u32 %u, %u, -1;\n";
        text += &self.at_hand("%stamp{g}, %u");
        text + BIT + "\tand.b32 %u, %u, %flags;\n\tsetp.ne.u32 %p, %u, 0;\n\tvote.sync.any.pred %p, %p, -1;\n"
    }

    /// `%t` = the tag of the block at hand, `%index`, in all lanes.
    pub fn tag_at_hand(self) -> String {
        if self.are_few() {
            return "\tshfl.sync.idx.b32 %t, %meta0, %index, 31, -1;\n".into();
        }
        let choose = self.each("\tsetp.eq.u32 %q, %u, {g};\n\t@%q mov.b32 %t, %meta{g};\n");
        format!(
            "\tmov.b32 %t, %meta0;\n\tshr.s32 %u, %here, 5;\n{choose}\tshfl.sync.idx.b32 %t, %t, %index, 31, -1;\n"
        )
    }

    /// The block at hand has the tag `%t`, and is dirty if the request says so.
    pub fn enter(self) -> String {
        let text = self.to_group("meta", "%t");
        if self.are_few() {
            return text + "\t@%match setp.gt.s32 %dirty, %status, 0x0fffffff;\n";
        }
        text + "\tshl.b32 %u, 1, %u;\n"
            + CLEAN
            + "\tsetp.gt.s32 %q, %status, 0x0fffffff;\n\t@%q or.b32 %flags, %flags, %u;\n"
    }

    /// The same of a block that comes from memory.
    pub fn bring(self) -> String {
        let text = self.to_group("meta", "%t");
        if self.are_few() {
            return text + "\t@%match setp.ne.s32 %dirty, %status, %status;\n";
        }
        text + "\tshl.b32 %u, 1, %u;\n" + CLEAN
    }

    /// The block at hand is dirty.
    pub fn dirty(self) -> String {
        if self.are_few() {
            return "\tor.pred %dirty, %dirty, %match;\n".into();
        }
        BIT.to_owned() + "\tor.b32 %flags, %flags, %u;\n"
    }

    /// The block at hand is dirty if the request says so, or was.
    pub fn dirty_by_request(self) -> String {
        if self.are_few() {
            return "\tsetp.gt.and.s32 %p, %status, 0x0fffffff, %match;\n\tor.pred %dirty, %dirty, %p;\n"
                .into();
        }
        BIT.to_owned() + "\tsetp.gt.s32 %p, %status, 0x0fffffff;\n\t@%p or.b32 %flags, %flags, %u;\n"
    }

    /// The block at hand = a dirty one, which is clean from now on; on to a label if there is none.
    pub fn clean_one(self, label: &str) -> String {
        if self.are_few() {
            return format!(
                "\tvote.sync.ballot.b32 %index, %dirty, -1;\n\tsetp.eq.u32 %p, %index, 0;\n\t@%p bra.uni {label};\n\
                 \tbfind.u32 %index, %index;\n\tmov.u32 %t, %laneid;\n\tsetp.eq.u32 %p, %t, %index;\n\
                 \t@%p setp.ne.u32 %dirty, %t, %t;\n"
            );
        }
        format!(
            "\tbfind.u32 %u, %flags;\n\tshl.b32 %u, %u, 5;\n\tmov.u32 %t, %laneid;\n\tor.b32 %here, %u, %t;\n\
             \tredux.sync.max.s32 %index, %here, -1;\n\tsetp.lt.s32 %p, %index, 0;\n\t@%p bra.uni {label};\n\
             \tsetp.ne.u32 %p, %here, %index;\n\t@%p mov.u32 %here, -1;\n{BIT}{CLEAN}"
        )
    }
}
