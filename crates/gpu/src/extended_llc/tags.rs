//! What lanes know of the blocks of a set whose tags are in registers: lane i knows block i, and of larger sets blocks i + 32,
//! i + 64 and so on, one of each *group* of 32. Of group g a lane has the registers `%meta<g>` and `%stamp<g>`.
//!
//! With one group, predicates say which block is at hand and which are dirty. With more, there would be too many: `%index` stays
//! the number of the block at hand, so that its lane is the one from which it differs by a multiple of 32, and bit g of `%flags` says
//! whether the block of group g is dirty.

use std::fmt::Write;

/// The groups of a set.
#[derive(Clone, Copy)]
pub struct Tags {
    groups: u32,
}

/// The registers of a set of so many blocks.
pub fn registers(ways: u32) -> String {
    let groups = Tags::of(ways).groups;
    format!("\t.reg .pred %match, %dirty;\n\t.reg .b32 %here, %flags, %meta<{groups}>, %stamp<{groups}>;\n")
}

/// `%u` = 32 times the group of the block at hand, in its lane; no multiple of 32 in another one.
const OWN: &str = "\tmov.u32 %u, %laneid;\n\tsub.u32 %u, %index, %u;\n";
/// `%q`: the block at hand is one of this lane's.
const MINE: &str = "\tand.b32 %u, %u, 31;\n\tsetp.eq.u32 %q, %u, 0;\n\tshr.u32 %u, %index, 5;\n";
/// `%u` = the bit in %flags of the block at hand, in its lane; 0 in another one.
const BIT: &str = "\tshl.b32 %u, 1, %u;\n\tselp.b32 %u, %u, 0, %q;\n";
const CLEAN: &str = "\tlop3.b32 %flags, %flags, %u, 0, 0x30;\n";
const DIRTY: &str = "or.b32 %flags, %flags, %u;\n";

impl Tags {
    /// The tags of a set of so many blocks.
    pub fn of(ways: u32) -> Tags {
        Tags { groups: ways.div_ceil(32).max(1) }
    }

    fn are_few(self) -> bool {
        self.groups == 1
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

    /// Algorithm 1: looks for the block whose tag is in a register. [`Tags::missed`] tells.
    pub fn look(self, tag: &str) -> String {
        if self.are_few() {
            return format!(
                "\tsetp.eq.u32 %match, %meta0, {tag};\n\tvote.sync.ballot.b32 %index, %match, -1;\n"
            );
        }
        self.search("meta", tag)
    }

    /// %index = the lane whose register of an array is equal to another one, as a mask, and `%here` = 32 times the group.
    fn search(self, array: &str, value: &str) -> String {
        let mut text = format!(
            "\tsetp.eq.u32 %q, %{array}0, {value};\n\tvote.sync.ballot.b32 %index, %q, -1;\n\tmov.u32 %here, 0;\n"
        );
        for group in 1..self.groups {
            let first = 32 * group;
            write!(
                text,
                "\tsetp.eq.u32 %q, %{array}{group}, {value};\n\tvote.sync.ballot.b32 %u, %q, -1;\n\
                 \tsetp.ne.u32 %q, %u, 0;\n\t@%q mov.u32 %index, %u;\n\t@%q mov.u32 %here, {first};\n"
            )
            .expect("a string grows");
        }
        text
    }

    /// A predicate = no block was found.
    pub fn missed(self, predicate: &str) -> String {
        format!("\tsetp.eq.u32 {predicate}, %index, 0;\n")
    }

    /// %index = the number of the block that was found.
    pub fn found(self) -> String {
        let add = if self.are_few() { "" } else { "\tadd.u32 %index, %index, %here;\n" };
        format!("\tbfind.u32 %index, %index;\n{add}")
    }

    /// The same where a predicate says later which block is at hand, if there is one.
    pub fn found_for_later(self) -> String {
        if self.are_few() { String::new() } else { self.found() }
    }

    /// %index = the block at hand: with few blocks rather computed again while a load is under way than kept.
    pub fn index(self) -> String {
        if self.are_few() {
            return "\tvote.sync.ballot.b32 %index, %match, -1;\n".to_owned() + &self.found();
        }
        String::new()
    }

    /// A register of the lane of the block at hand, that of its group, becomes another one.
    fn to_group(self, array: &str, value: &str) -> String {
        if self.are_few() {
            return format!("\t@%match mov.b32 %{array}0, {value};\n");
        }
        let mut text = OWN.to_owned();
        for group in 0..self.groups {
            let first = 32 * group;
            write!(text, "\tsetp.eq.u32 %q, %u, {first};\n\t@%q mov.b32 %{array}{group}, {value};\n")
                .expect("a string grows");
        }
        text
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
        let mut text = "\tmin.u32 %t, %stamp0, %stamp1;\n".to_owned();
        for group in 2..self.groups {
            writeln!(text, "\tmin.u32 %t, %t, %stamp{group};").expect("a string grows");
        }
        text += "\tredux.sync.min.u32 %t, %t, -1;\n";
        text += &(self.search("stamp", "%t") + &self.found() + OWN + MINE);
        text + "\tshr.u32 %u, %flags, %u;\n\tand.b32 %u, %u, 1;\n\tsetp.ne.and.u32 %p, %u, 0, %q;\n\
                \tvote.sync.any.pred %p, %p, -1;\n"
    }

    /// `%t` = the tag of the block at hand, `%index`, in all lanes.
    pub fn tag_at_hand(self) -> String {
        if self.are_few() {
            return "\tshfl.sync.idx.b32 %t, %meta0, %index, 31, -1;\n".into();
        }
        let mut text = "\tmov.b32 %t, %meta0;\n\tshr.u32 %u, %index, 5;\n".to_owned();
        for group in 1..self.groups {
            write!(text, "\tsetp.eq.u32 %q, %u, {group};\n\t@%q mov.b32 %t, %meta{group};\n")
                .expect("a string grows");
        }
        text + "\tshfl.sync.idx.b32 %t, %t, %index, 31, -1;\n"
    }

    /// The block at hand has the tag `%t`, and is dirty if the request says so.
    pub fn enter(self) -> String {
        let text = self.to_group("meta", "%t");
        if self.are_few() {
            return text + "\t@%match setp.gt.s32 %dirty, %status, 0x0fffffff;\n";
        }
        format!("{text}{MINE}{BIT}{CLEAN}\tsetp.gt.s32 %q, %status, 0x0fffffff;\n\t@%q {DIRTY}")
    }

    /// The same of a block that comes from memory.
    pub fn bring(self) -> String {
        let text = self.to_group("meta", "%t");
        if self.are_few() {
            return text + "\t@%match setp.ne.s32 %dirty, %status, %status;\n";
        }
        text + MINE + BIT + CLEAN
    }

    /// The block at hand is dirty.
    pub fn dirty(self) -> String {
        if self.are_few() {
            return "\tor.pred %dirty, %dirty, %match;\n".into();
        }
        format!("{OWN}{MINE}{BIT}\t{DIRTY}")
    }

    /// The block at hand is dirty if the request says so, or was.
    pub fn dirty_by_request(self) -> String {
        if self.are_few() {
            return "\tsetp.gt.and.s32 %p, %status, 0x0fffffff, %match;\n\tor.pred %dirty, %dirty, %p;\n"
                .into();
        }
        format!("{OWN}{MINE}{BIT}\tsetp.gt.s32 %p, %status, 0x0fffffff;\n\t@%p {DIRTY}")
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
            "\tsetp.ne.u32 %p, %flags, 0;\n\tvote.sync.ballot.b32 %index, %p, -1;\n\tsetp.eq.u32 %p, %index, 0;\n\
             \t@%p bra.uni {label};\n\tbfind.u32 %index, %index;\n\tbfind.u32 %u, %flags;\n\
             \tshfl.sync.idx.b32 %u, %u, %index, 31, -1;\n\tmad.lo.u32 %index, %u, 32, %index;\n{OWN}{MINE}{BIT}{CLEAN}"
        )
    }
}
