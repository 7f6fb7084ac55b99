//! Programs that are right only when atomics are, and when fences keep weak accesses inside a lock.

use strata_gpu::device::TimedDevice;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use super::MACHINES;
use super::outcomes::{machine, options};

/// CTAs, each on an SM of its own, and threads of a CTA.
const CTAS: u32 = 4;
const THREADS: u32 = 64;

const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n\
    .visible .entry test(.param .u64 a, .param .u64 b)\n{\n.reg .b64 %a, %b, %at, %wide, %long;\n\
    .reg .b32 %tid, %cta, %n, %t, %u, %v, %round;\n.reg .pred %p, %q;\n\
    ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nmov.u32 %tid, %tid.x;\nmov.u32 %cta, %ctaid.x;\n\
    mad.lo.u32 %n, %cta, 64, %tid;\nmul.wide.u32 %wide, %n, 4;\nadd.u64 %at, %b, %wide;\n";

/// Runs `body` on every machine, and checks the words of `a` (64) and of `b` (one for each thread).
fn check(name: &str, body: &str, right: impl Fn(&[u32], &[u32]) -> bool) {
    for (systems, sets, threads) in MACHINES {
        let found = run(name, body, (systems, sets), *threads);
        let (a, b) = found.unwrap_or_else(|error| panic!("{name} on {systems:?} {sets:?}: {error}"));
        assert!(right(&a, &b), "{name} on {systems:?} {sets:?}: found {a:?} and {b:?}");
    }
}

fn run(
    name: &str,
    body: &str,
    on: (&[&str], &[&str]),
    threads: usize,
) -> Result<(Vec<u32>, Vec<u32>), DeviceError> {
    let text = format!("{HEAD}{body}ret;\n}}\n");
    let machine = machine(CTAS, on);
    let mut silent = |_: &_| {};
    let mut device = TimedDevice::new(&machine, Module { name, text: &text }, options(threads), &mut silent)
        .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let buffers = [("a", 64), ("b", CTAS * THREADS)];
    let ptrs = buffers.map(|(name, words)| device.alloc(name, u64::from(4 * words)));
    let [a, b] = [ptrs[0].clone()?, ptrs[1].clone()?];
    device.fill(a, 0, 256)?;
    device.fill(b, 0, u64::from(4 * CTAS * THREADS))?;
    device.launch("test", Shape::new([CTAS, 1, 1], [THREADS, 1, 1]), &[Arg::Ptr(a), Arg::Ptr(b)])?;
    Ok((words(&mut device, a, 64)?, words(&mut device, b, CTAS * THREADS)?))
}

fn words(device: &mut TimedDevice<'_>, at: DevicePtr, words: u32) -> Result<Vec<u32>, DeviceError> {
    let mut bytes = vec![0; 4 * words as usize];
    device.download(at, &mut bytes)?;
    Ok(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

#[test]
fn tickets_are_distinct_and_add_up() {
    let body = "atom.global.add.u32 %t, [%a], 1;\nst.global.u32 [%at], %t;\n\
        red.global.add.u32 [%a+4], %t;\natom.global.inc.u32 %t, [%a+8], 9;\natom.global.add.u64 %long, [%a+16], 3;\n";
    check("tickets", body, |a, b| {
        let threads = CTAS * THREADS;
        let mut tickets = b.to_vec();
        tickets.sort_unstable();
        tickets.iter().copied().eq(0..threads)
            && a[0] == threads
            && a[1] == threads * (threads - 1) / 2
            && a[2] == threads % 10
            && a[4] == 3 * threads
    });
}

#[test]
fn tickets_of_addresses_beside_each_other_are_distinct() {
    // Lane l uses counter l % 8: a warp brings several operations to each address.
    let body = "and.b32 %t, %tid, 7;\nmul.wide.u32 %wide, %t, 4;\nadd.u64 %wide, %wide, %a;\n\
        atom.global.add.u32 %u, [%wide], 1;\nshl.b32 %u, %u, 3;\nor.b32 %u, %u, %t;\nst.global.u32 [%at], %u;\n";
    check("tickets beside each other", body, |a, b| {
        let mut tickets = b.to_vec();
        tickets.sort_unstable();
        tickets.iter().copied().eq(0..CTAS * THREADS)
            && a[..8].iter().all(|count| *count == CTAS * THREADS / 8)
    });
}

/// The first thread of each warp takes the lock, `rounds` times; the counter is accessed weakly.
fn locked(rounds: u32, acquire: &str, release: &str) -> String {
    format!(
        "and.b32 %t, %tid, 31;\nsetp.ne.u32 %p, %t, 0;\n@%p bra END;\nmov.u32 %round, {rounds};\n\
         ROUND:\nTAKE:\natom.{acquire}global.cas.b32 %t, [%a], 0, 1;\nsetp.ne.u32 %p, %t, 0;\n@%p bra TAKE;\n\
         {enter}ld.global.u32 %u, [%a+128];\nadd.u32 %u, %u, 1;\nst.global.u32 [%a+128], %u;\n{leave}\
         {release}\nsub.u32 %round, %round, 1;\nsetp.ne.u32 %p, %round, 0;\n@%p bra ROUND;\nEND:\n",
        enter = if acquire.is_empty() { "membar.gl;\n" } else { "" },
        leave = if release.contains("release") { "" } else { "membar.gl;\n" },
    )
}

#[test]
fn a_spin_lock_with_fences_protects_a_weakly_accessed_counter() {
    let body = locked(6, "", "atom.global.exch.b32 %t, [%a], 0;");
    check("spin lock", &body, |a, _| a[32] == 6 * CTAS * THREADS / 32 && a[0] == 0);
}

#[test]
fn a_spin_lock_with_acquire_and_release_protects_a_weakly_accessed_counter() {
    let body = locked(6, "acquire.gpu.", "st.release.gpu.global.u32 [%a], 0;");
    check("spin lock, acquire and release", &body, |a, _| a[32] == 6 * CTAS * THREADS / 32 && a[0] == 0);
}

#[test]
fn a_lock_without_fences_loses_counts() {
    // The control: the weakly accessed counter stays in each SM's cache.
    let body = locked(6, "", "atom.global.exch.b32 %t, [%a], 0;").replace("membar.gl;\n", "");
    let (a, _) =
        run("spin lock without fences", &body, (&[], &[]), 1).unwrap_or_else(|error| panic!("{error}"));
    assert!(a[32] < 6 * CTAS * THREADS / 32, "found {}", a[32]);
}

#[test]
fn a_ring_passes_words_from_one_cta_to_another() {
    // CTA 0 produces 40 words into 8 places, CTA 1 consumes them: head at a[0], tail at a[32], places from a[8].
    let body = "setp.ne.u32 %p, %tid, 0;\n@%p bra END;\nsetp.gt.u32 %p, %cta, 1;\n@%p bra END;\nmov.u32 %round, 0;\n\
        setp.eq.u32 %p, %cta, 1;\n@%p bra CONSUME;\n\
        PRODUCE:\nld.volatile.global.u32 %t, [%a+128];\nsub.u32 %u, %round, %t;\nsetp.ge.u32 %p, %u, 8;\n\
        @%p bra PRODUCE;\nmembar.gl;\nand.b32 %t, %round, 7;\nmul.wide.u32 %wide, %t, 4;\nadd.u64 %wide, %wide, %a;\n\
        mul.lo.u32 %u, %round, %round;\nst.global.u32 [%wide+32], %u;\nadd.u32 %round, %round, 1;\nmembar.gl;\n\
        st.volatile.global.u32 [%a], %round;\nsetp.lt.u32 %p, %round, 40;\n@%p bra PRODUCE;\nbra END;\n\
        CONSUME:\nld.volatile.global.u32 %t, [%a];\nsetp.eq.u32 %p, %t, %round;\n@%p bra CONSUME;\nmembar.gl;\n\
        and.b32 %t, %round, 7;\nmul.wide.u32 %wide, %t, 4;\nadd.u64 %wide, %wide, %a;\n\
        ld.global.u32 %u, [%wide+32];\nmul.wide.u32 %wide, %round, 4;\nadd.u64 %wide, %wide, %b;\n\
        st.global.u32 [%wide], %u;\nadd.u32 %round, %round, 1;\nmembar.gl;\n\
        st.volatile.global.u32 [%a+128], %round;\nsetp.lt.u32 %p, %round, 40;\n@%p bra CONSUME;\nEND:\n";
    check("ring", body, |_, b| (0..40).all(|round: u32| b[round as usize] == round * round));
}

#[test]
fn a_barrier_of_the_grid_makes_every_write_visible() {
    // Each round every thread adds its right neighbour's word of the round before, over the edge of its CTA.
    let body = "mov.u32 %round, 0;\nst.global.u32 [%at], %n;\n\
        ROUND:\nadd.u32 %round, %round, 4;\nmembar.gl;\nbar.sync 0;\nsetp.ne.u32 %p, %tid, 0;\n@%p bra MET;\n\
        red.release.gpu.global.add.u32 [%a], 1;\nWAIT:\nld.acquire.gpu.global.u32 %t, [%a];\n\
        setp.lt.u32 %q, %t, %round;\n@%q bra WAIT;\nMET:\nbar.sync 0;\n\
        and.b32 %t, %round, 4;\nsetp.eq.u32 %q, %t, 0;\n@%q bra WRITE;\n\
        add.u32 %t, %n, 1;\nand.b32 %t, %t, 255;\nmul.wide.u32 %wide, %t, 4;\nadd.u64 %wide, %wide, %b;\n\
        ld.global.u32 %u, [%wide];\nbra NEXT;\nWRITE:\nst.global.u32 [%at], %u;\n\
        NEXT:\nsetp.lt.u32 %p, %round, 40;\n@%p bra ROUND;\n";
    // Reads in rounds 1, 3, 5, 7, 9; writes in rounds 2, 4, 6, 8, 10: five steps to the right.
    check("grid barrier", body, |_, b| (0..256_u32).all(|n| b[n as usize] == (n + 5) % 256));
}
