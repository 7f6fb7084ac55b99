//! Fragments that templates name, and those that are written for a choice.

/// Where the row is, from the launch: with so many rows of data in 40 registers, an address is computed again rather than kept.
pub const ROW: &str = "\tmov.u32 %t, %ctaid.x;\n\tld.param.u32 %u, [rows_per_cta];\n\tmul.lo.u32 %t, %t, %u;\n\
    \tmov.u32 %u, %tid.x;\n\tshr.u32 %u, %u, 5;\n\tadd.u32 %t, %t, %u;\n\tmul.wide.u32 %row, %t, 512;\n\
    \tld.param.u64 %window, [window];\n\tadd.u64 %row, %row, %window;\n";

/// Where this lane's word of the row's first line is.
pub const MINE: &str = "\tmov.u32 %t, %laneid;\n\tmad.wide.u32 %mine, %t, 4, %row;\n";

/// The address in memory of this lane's word of the block whose number is in the low 27 bits of a register.
pub fn address(block: &str) -> String {
    format!("\tshl.b32 %t, %{block}, 5;\n\tmov.u32 %u, %laneid;\n\tor.b32 %t, %t, %u;\n{AT_BLOCK}")
}

/// From the number of a word to its address: blocks are counted from address 0.
pub const AT_BLOCK: &str = "\tmul.wide.u32 %at, %t, 4;\n";

/// The same where requests are in a list, whose blocks are counted from the parameter `first_block`.
pub const AT_LISTED_BLOCK: &str =
    "\tmul.wide.u32 %at, %t, 4;\n\tld.param.u64 %window, [first_block];\n\tadd.u64 %at, %at, %window;\n";

/// Loads the next request, as templates do.
pub const NEXT_OF_ROW: &str = "\tld.relaxed.gpu.global.u32 %status, [%row];\n";

/// The same where requests are in a list.
pub const NEXT_OF_LIST: &str = "\tld.relaxed.gpu.global.u32 %status, [%next];\n\tadd.u64 %next, %next, 4;\n";

/// The same where a read of the list is repeated.
pub const NEXT_REPEATED: &str = "\tsetp.lt.s32 %again, %status, 0;\n\tsetp.ne.and.u32 %again, %left, 0, %again;\n\
    \t@%again sub.u32 %left, %left, 1;\n\t@!%again ld.relaxed.gpu.global.u32 %status, [%next];\n\
    \t@!%again add.u64 %next, %next, 4;\n";

/// Where a controller may answer before it has a request, or memory is the window: back if there is none.
pub const IDLE: &str = "\tsetp.lt.u32 %p, %status, 0x08000000;\n\t@%p bra.uni {S}_POLL;\n";

/// `%t` = what asks for the block of the status: a read.
pub const TAG: &str = "\tlop3.b32 %t, %status, 0x07ffffff, 0x80000000, 0xea;\n";

/// Loads a payload: of the request at hand, or of one that will come if the controller withholds the reply until then.
pub const PAYLOAD: &str = "{MINE}\n\tld.relaxed.gpu.global.u32 %data, [%mine+128];\n";

/// Stores the block of a read that hits, and the result.
pub const ANSWER: &str =
    "\tst.relaxed.gpu.global.u32 [%mine+128], %value;\n\t@%first st.relaxed.gpu.global.u32 [%row], 1;\n";

/// The same of a compressed set.
pub const ANSWER_COMPRESSED: &str = "\tst.relaxed.gpu.global.u32 [%mine+128], %value;\n\tmov.u32 %t, %laneid;\n\
    \tsetp.eq.u32 %first, %t, 0;\n\t@%first st.relaxed.gpu.global.u32 [%row], %told;\n";

/// The same where a controller takes one for the other.
pub const ANSWER_AT_ONCE: &str = "\tst.relaxed.gpu.global.u32 [%mine+384], %value;\n";

/// The same where answers are added up.
pub const ANSWER_TO_SUM: &str = "\tadd.u32 %sum, %sum, %value;\n";

/// Stores the sum of the answers.
pub const SUM: &str = "{MINE}\n\tst.relaxed.gpu.global.u32 [%mine+384], %sum;\n";

/// What a set in the L1D does after a read: its answer, then as after all else; or nothing else where answers are added up.
pub const ANSWER_OF_L1: &str = "\tst.relaxed.gpu.global.u32 [%mine+128], %value;\n\tbra.uni {S}_DONE;\n";
pub const ANSWER_OF_L1_TO_SUM: &str = "\tadd.u32 %sum, %sum, %value;\n\tbra.uni {S}_POLL;\n";

/// The block of an insertion, in its place: what is left is to note the use, to keep the bytes and to answer.
pub const ENTERED: &str = "{TOUCH}\n{INDEX}\n{WRITE data}\n\tbra.uni {S}_DONE;\n";

/// The same where the payload is here: answer and ask for the next request first.
pub const ENTERED_AT_ONCE: &str = "\tselp.b32 %t, 3, 1, %missed;\n\t@%first st.relaxed.gpu.global.u32 [%row], %t;\n\
    \tld.relaxed.gpu.global.u32 %status, [%row];\n{TOUCH}\n{INDEX}\n{WRITE data}\n{ASK}\n\tbra.uni {S}_READY;\n";

/// After an atomic: the old block is the answer, the new one, `%data`, goes back to its place.
pub const CHANGED: &str = "{ROW AGAIN}\n{MINE}\n\tst.relaxed.gpu.global.u32 [%mine+128], %value;\n{INDEX}\n{WRITE data}\n\
    {DIRTY}\n{ROW AGAIN}\n\tbra.uni {S}_TAKEN;\n";

/// The same in a compressed set, where the new block may need another place.
pub const CHANGED_COMPRESSED: &str = "{MINE}\n\tst.relaxed.gpu.global.u32 [%mine+128], %value;\n\tmov.b32 %value, %data;\n\tbra.uni {S}_PUT;\n";

/// The words of which a write leaves something, from the L1D: a whole block that is written need not be there.
pub const READ_UNDER_MASK: &str =
    "\tmov.b32 %value, 0;\n\tsetp.ne.s32 %p, %mask, -1;\n\t@%p ld.global.u32 %value, [%at];\n";

/// In a compressed set that leaves misses to the controller: only an insertion goes on.
pub const ABSENT: &str = "\t@%insert bra.uni {S}_COMES;\n\t@%read bra.uni {S}_ABSENT;\n{ASK}\n{S}_ABSENT:\n\
    \tmov.u32 %t, %laneid;\n\tsetp.eq.u32 %first, %t, 0;\n\
    \t@%first st.relaxed.gpu.global.u32 [%row], 4;\n\tbra.uni {S}_POLL;\n{S}_COMES:\n";

/// In a compressed set: `%t` of lane `%index` = its element `%k` of four registers.
pub fn select(array: &str) -> String {
    format!(
        "\tsetp.eq.u32 %p, %k, 1;\n\tselp.b32 %t, %{array}1, %{array}0, %p;\n\tsetp.eq.u32 %p, %k, 2;\n\
         \t@%p mov.u32 %t, %{array}2;\n\tsetp.eq.u32 %p, %k, 3;\n\t@%p mov.u32 %t, %{array}3;\n"
    )
}

/// In a compressed set: where the block of `%slot` is, register `%index`, part `%k` of it.
pub const PLACE: &str = "\tand.b32 %index, %slot, 31;\n\tbfe.u32 %k, %slot, 5, 2;\n";

/// In a compressed set: a register = the block of part `%k` of itself, the register that holds it. Its bits come with their
/// sign, on its base.
pub fn expand(register: &str) -> String {
    let base = select("b");
    format!(
        "{base}\tshfl.sync.idx.b32 %t, %t, %index, 31, -1;\n\tshfl.sync.idx.b32 %u, %width, %index, 31, -1;\n\
         \tmul.lo.u32 %k, %k, %u;\n\tbfe.s32 {register}, {register}, %k, %u;\n\tadd.u32 {register}, {register}, %t;\n"
    )
}

/// In a compressed set: the block of `%slot` has left.
pub const DROP: &str = "\tmov.u32 %u, %laneid;\n\tsetp.eq.u32 %in, %u, %index;\n\
    {EACH}\tsetp.eq.and.u32 %p, %k, {n}, %in;\n{EACH}\t@%p mov.u32 %m{n}, -1;\n\
    \tadd.u32 %u, %k, 24;\n\t@%in bfi.b32 %home, 0, %home, %u, 1;\n\tshl.b32 %u, %k, 3;\n\t@%in bfi.b32 %rank, 0, %rank, %u, 8;\n";

/// In a compressed set: `%t` = the rank of the block at hand, and `%k` of its lane the first of its bits.
pub const RANK: &str =
    "\tshl.b32 %k, %x, 3;\n\tbfe.u32 %t, %rank, %k, 8;\n\tshfl.sync.idx.b32 %t, %t, %index, 31, -1;\n";

/// In a compressed set: makes the block at hand, of rank `%t`, the one used last, rank 127: those used after it lose a rank.
/// Bytes of a register at a time: their highest bits, which no rank has, keep carries apart. Its lane has the rank from a bit.
pub fn touch_compressed(bit: &str) -> String {
    format!(
        "\tmad.lo.u32 %t, %t, 0x01010101, 0x01010101;\n\tor.b32 %u, %rank, 0x80808080;\n\tsub.u32 %u, %u, %t;\n\
         \tand.b32 %u, %u, 0x80808080;\n\tshr.u32 %u, %u, 7;\n\tsub.u32 %rank, %rank, %u;\n\
         \t@%match bfi.b32 %rank, 127, %rank, {bit}, 8;\n"
    )
}

/// In a compressed set: counters go on, and are halved from 512; levels change once what was put in, `%k` quarters of a register,
/// would have filled the set. `%index` = its registers.
pub const COUNTED_ON: &str = "\tand.b32 %index, %counts, 0x20080200;\n\tsetp.ne.u32 %p, %index, 0;\n\
    \t@%p shr.u32 %counts, %counts, 1;\n\t@%p and.b32 %counts, %counts, 0x1ff7fdff;\n\
    \tld.param.u32 %index, [ways];\n\tshl.b32 %value, %index, 2;\n\tsetp.lt.u32 %p, %k, %value;\n\
    \t@%p bra.uni {S}_READY;\n";

/// In a compressed set: counters begin anew with each epoch.
pub const COUNTED_ANEW: &str = "\tmov.u32 %counts, 0;\n\tld.param.u32 %index, [ways];\n";

/// Stores a result.
pub fn result(value: &str) -> String {
    format!(
        "\tmov.u32 %u, %laneid;\n\tsetp.eq.u32 %first, %u, 0;\n\t@%first st.relaxed.gpu.global.u32 [%row], {value};\n"
    )
}

/// In both lanes of a pair, `%p` = the 64-bit `%value` is less than `%data`: the odd lane decides, with its even lane's
/// comparison where the high halves are alike, and hands down.
pub fn less(high: &str) -> String {
    format!(
        "\tsetp.lt.u32 %p, %value, %data;\n\tselp.b32 %t, 1, 0, %p;\n\tshfl.sync.up.b32 %t, %t, 1, 0, -1;\n\
         \tsetp.ne.u32 %p, %t, 0;\n\tsetp.eq.and.u32 %p, %value, %data, %p;\n\
         \tsetp.lt.or.{high} %p, %value, %data, %p;\n\tselp.b32 %t, 1, 0, %p;\n\
         \tshfl.sync.down.b32 %t, %t, 1, 31, -1;\n\t@!%odd setp.ne.u32 %p, %t, 0;\n"
    )
}
