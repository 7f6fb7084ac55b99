//! What an observer sees of a run.

use super::testing::Session;
use super::{Access, Executor, LaunchConfig, Observer, RegisterUse};

/// Runs the kernel of [`Session::of_body`] on one CTA and `words` zeroed words while somebody watches; returns the
/// address of the words.
fn watch(session: &mut Session, block: u32, words: usize, observer: &mut dyn Observer) -> u64 {
    let out = session.buffer(&vec![0; words]);
    let kernel = session.module.kernel("test").unwrap();
    let params = super::pack_arguments(kernel, &[out]).unwrap();
    let config =
        LaunchConfig { grid: [1, 1, 1], block: [block, 1, 1], cluster: None, dynamic_shared: 0, params };
    Executor::new(kernel, config, &session.variables, &mut session.memory)
        .watched_by(Some(observer))
        .run()
        .unwrap_or_else(|fault| panic!("{fault}"));
    out
}

/// Every access of every warp, with the space that a generic address turns out to be in.
#[test]
fn an_observer_sees_every_access() {
    #[derive(Default)]
    struct Log(Vec<String>);
    impl Observer for Log {
        fn access(&mut self, access: &Access<'_>) {
            let Access { kind, space, lanes, addresses, bytes, .. } = *access;
            let last = addresses[31 - lanes.leading_zeros() as usize];
            self.0.push(format!("{kind:?} {space:?} {lanes:x} {bytes} up to {last}"));
        }

        fn registers(&mut self, registers: &RegisterUse<'_>) {
            panic!("not asked for: {registers:?}");
        }
    }
    let mut session = Session::of_body(
        ".shared .align 4 .b8 words[128]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd0, %r0, 4;
         mov.u64 %rd1, words; add.u64 %rd2, %rd1, %rd0; st.shared.u32 [%rd2], %r0;
         cvta.shared.u64 %rd3, %rd2; ld.u32 %r1, [%rd3];
         setp.lt.u32 %p0, %r0, 2; @%p0 red.global.add.u32 [%out], %r1; ret;",
    );
    let mut log = Log::default();
    let out = watch(&mut session, 32, 1, &mut log);
    let seen: Vec<&str> = log.0.iter().map(String::as_str).filter(|line| !line.contains("Param")).collect();
    let atomic = format!("Atomic Global 3 4 up to {out}");
    assert_eq!(seen, ["Store Shared ffffffff 4 up to 124", "Load Shared ffffffff 4 up to 124", &atomic]);
    assert_eq!(session.words(out, 1), [1]);
}

/// The registers of every instruction: how many it reads, and what those that it writes hold afterwards in the
/// first and the last lane.
#[derive(Default)]
struct Registers(Vec<String>);

impl Observer for Registers {
    fn access(&mut self, _: &Access<'_>) {}

    fn watches_registers(&self) -> bool {
        true
    }

    fn registers(&mut self, registers: &RegisterUse<'_>) {
        let RegisterUse { lanes, reads, writes, rows } = *registers;
        let values = writes.iter().map(|register| rows[usize::from(register.0)].0);
        let values: Vec<[u32; 2]> = values.map(|row| [row[0], row[31]]).collect();
        self.0.push(format!("{lanes:x}: {} -> {values:?}", reads.len()));
    }
}

#[test]
fn an_observer_sees_the_registers_of_every_instruction() {
    let mut session = Session::of_body(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 8;
         @%p0 add.u32 %r0, %r0, 100;
         setp.gt.u32 %p1, %r0, 200; @%p1 add.u32 %r0, %r0, 1;
         mul.wide.u32 %rd0, %r0, %r0; shl.b64 %rd1, %rd0, 33; st.global.u64 [%out], %rd1; ret;",
    );
    let mut seen = Registers::default();
    watch(&mut session, 32, 2, &mut seen);
    let expected = [
        "ffffffff: 0 -> [[0, 31]]",
        // Predicates are not registers.
        "ffffffff: 1 -> []",
        // The other lanes keep what they have.
        "ff: 1 -> [[100, 31]]",
        // No lane passes the guard of the addition: it touches nothing.
        "ffffffff: 1 -> []",
        // An operand that is named twice is read once; the result has two words.
        "ffffffff: 1 -> [[10000, 961], [0, 0]]",
        "ffffffff: 2 -> [[0, 0], [20000, 1922]]",
        // The address is a parameter, so no register.
        "ffffffff: 2 -> []",
    ];
    assert_eq!(seen.0, expected);
}

/// Two warps, the second of eight lanes.
#[test]
fn a_barrier_shows_its_registers_when_it_is_met_and_when_it_opens() {
    let mut session = Session::of_body(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 35; shr.u32 %r1, %r0, 9; add.u32 %r1, %r1, 5;
         barrier.cta.red.popc.u32 %r2, %r1, %p0; ret;",
    );
    let mut seen = Registers::default();
    watch(&mut session, 40, 1, &mut seen);
    let mut expected = Vec::new();
    for (lanes, last) in [("ffffffff", 31), ("ff", 0)] {
        let first = if lanes == "ff" { 32 } else { 0 };
        expected.push(format!("{lanes}: 0 -> [[{first}, {last}]]"));
        expected.push(format!("{lanes}: 1 -> []"));
        expected.push(format!("{lanes}: 1 -> [[0, 0]]"));
        expected.push(format!("{lanes}: 1 -> [[5, {}]]", if lanes == "ff" { 0 } else { 5 }));
        expected.push(format!("{lanes}: 1 -> []"));
    }
    expected.push("ffffffff: 0 -> [[35, 35]]".into());
    expected.push("ff: 0 -> [[35, 0]]".into());
    assert_eq!(seen.0, expected);
}
