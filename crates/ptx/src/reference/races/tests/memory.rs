//! Which bytes accesses share, and what they do to them.

use super::{CLEAN, found, races, read_shared_of};
use crate::isa::Space;

#[test]
fn reads_do_not_race() {
    assert_eq!(
        races("ld.global.u32 %r5, [%out]; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%out];", 4, 64),
        CLEAN
    );
}

#[test]
fn writes_to_one_word_race_and_may_write_the_same() {
    // Each of the 128 threads but the first finds the one before it.
    assert_eq!(races("mov.u32 %r5, 7; st.global.u32 [%out], %r5;", 2, 64), ["write/write 127, 127 the same"]);
    assert_eq!(races("st.global.u32 [%out], %r3;", 2, 64), ["write/write 127, 0 the same"]);
    // Only CTAs write different values.
    assert_eq!(races("st.global.u32 [%out], %r1;", 2, 64), ["write/write 127, 126 the same"]);
    // The value that memory holds at the beginning is nobody's.
    let first = found("st.global.u32 [%out], %r1;", 1, 32);
    assert!(first[0].same_value_only() && first[0].both_write());
}

#[test]
fn a_write_races_with_reads_of_every_warp() {
    // Threads of eight warps read a word; then a thread of the last writes it.
    let body = "ld.global.u32 %r5, [%out]; setp.eq.u32 %p0, %r3, 255; @%p0 st.global.u32 [%out], %r0;";
    let race = &found(body, 4, 64)[0];
    assert_eq!((race.earlier.access, race.later.access, race.count), ("read", "write", 1));
    assert_eq!((race.later.cta, race.later.thread), ([3, 0, 0], [63, 0, 0]));
    // A barrier orders those of its own CTA only.
    assert_eq!(races(&body.replace("setp", "bar.sync 0; setp"), 4, 64), ["read/write 1"]);
    assert_eq!(races(&body.replace("setp", "bar.sync 0; setp").replace("255", "63"), 1, 64), CLEAN);
}

#[test]
fn bytes_of_a_half_word_are_kept_apart() {
    let body = "add.u64 %rd1, %out, %rd2; st.global.u8 [%rd1], %r0;";
    let at = |scale: u32| races(&format!("mul.wide.u32 %rd2, %r0, {scale}; {body}"), 1, 32);
    // Every odd lane finds its neighbour.
    assert_eq!(at(1), ["half-word write/write 16, 0 the same"]);
    assert_eq!(at(2), CLEAN);
    let words = races(
        "mul.wide.u32 %rd2, %r0, 2; add.u64 %rd1, %out, %rd2; cvt.u16.u32 %h0, %r0; st.global.u16 [%rd1], %h0;",
        1,
        32,
    );
    assert_eq!(words, CLEAN);
    // Lane 1's half-word holds lane 0's byte.
    let mixed = "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 1; cvt.u16.u32 %h0, %r0;
                 @%p0 st.global.u8 [%out+3], %r0; @%p1 st.global.u16 [%out+2], %h0;";
    assert_eq!(races(mixed, 1, 32), ["write/write 1, 1 the same"], "it is 0 in both");
    assert_eq!(races(&mixed.replace("out+3", "out+4"), 1, 32), CLEAN);
}

#[test]
fn vectors_overlap_where_their_words_do() {
    let body = |offset: u32| {
        format!(
            "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 40;
             @%p0 st.global.v4.u32 [%out+16], {{%r0, %r1, %r2, %r3}};
             @%p1 ld.global.v2.u32 {{%r4, %r5}}, [%out+{offset}];"
        )
    };
    for (offset, races_there) in [(8, false), (16, true), (24, true), (32, false)] {
        let expected = if races_there { vec!["write/read 1"] } else { vec![] };
        assert_eq!(races(&body(offset), 1, 64), expected, "{offset}");
    }
    let race = &found(&body(24), 1, 64)[0];
    assert_eq!((race.earlier.bytes, race.later.bytes, race.later.thread), (16, 8, [40, 0, 0]));
}

#[test]
fn elements_of_every_size_are_found_in_each_other() {
    let store =
        "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 40; cvt.u64.u32 %rd3, %r0; cvt.u16.u32 %h0, %r0;";
    let small = [("u8 [%out+13], %r0", 13, 1), ("u16 [%out+12], %h0", 12, 2), ("u32 [%out+12], %r0", 12, 4)];
    for (what, at, bytes) in small {
        for order in [
            format!("@%p0 st.global.u64 [%out+8], %rd3; @%p1 st.global.{what};"),
            format!("@%p0 st.global.{what}; @%p1 st.global.u64 [%out+8], %rd3;"),
        ] {
            let race = &found(&format!("{store} {order}"), 1, 64)[0];
            let bytes_found = race.earlier.bytes.min(race.later.bytes);
            assert_eq!((bytes_found, race.count, race.half_word), (bytes, 1, false), "{at}: {order}");
        }
    }
}

#[test]
fn generic_addresses_are_where_they_lead() {
    let body = format!(
        "cvt.u64.u32 %rd1, %r8; cvta.shared.u64 %rd1, %rd1; st.u32 [%rd1], %r0; {}",
        read_shared_of(1)
    );
    let race = &found(&body, 1, 32)[0];
    assert_eq!((race.space, race.address, race.count), (Space::Shared, 4, 32));
    assert_eq!(races(&body.replace("st.u32 [%rd1], %r0;", "st.u32 [%rd1], %r0; bar.sync 0;"), 1, 32), CLEAN);
}

/// A wild address must not make the check remember memory that is not there.
#[test]
fn accesses_to_no_memory_are_not_looked_at() {
    let (mut session, out) = super::session("mov.u64 %rd1, 0x7000000000000; st.global.u32 [%rd1], %r0;");
    let kernel = session.module.kernel("test").expect("the body's kernel");
    let params = crate::reference::pack_arguments(kernel, &[out]).expect("one argument");
    let config = crate::reference::LaunchConfig {
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params,
    };
    let mut check = super::RaceCheck::default();
    let executor = crate::reference::Executor::new(kernel, config, &session.variables, &mut session.memory);
    let fault = executor.watched_by(Some(&mut check)).run().expect_err("there is nothing");
    assert!(fault.to_string().contains("which holds no memory"), "{fault}");
    assert_eq!(check.races(), &[]);
}

#[test]
fn local_memory_is_a_threads_own() {
    let body = ".local .align 4 .b8 mine[16]; mov.u32 %r4, mine; st.local.u32 [%r4], %r0; ld.local.u32 %r5, [%r4+4];";
    assert_eq!(races(body, 2, 64), CLEAN);
}

#[test]
fn lanes_that_diverge_are_threads_like_others() {
    // The upper lanes read what the lower ones wrote.
    let body = "setp.lt.u32 %p0, %r10, 16; @!%p0 bra read;
                st.shared.u32 [%r8], %r0; bra done;
                read: ld.shared.u32 %r5, [%r8-64]; done:";
    // Which side goes first is the executor's choice.
    let race = &found(body, 1, 32)[0];
    assert_eq!((race.count, race.both_write()), (16, false));
    assert_eq!(
        races(
            &body.replace("bra done;", "bra done; read: bra done;").replacen("read: ld", "none: ld", 1),
            1,
            32
        ),
        CLEAN
    );
}
