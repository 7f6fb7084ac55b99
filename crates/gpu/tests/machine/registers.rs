//! A profile counts the registers that the register file of the modelled GPU sees.

use crate::support::{How, gtx480, module, run_on, verified};
use strata_gpu::machine::Machine;
use strata_gpu::profile_program;
use strata_workloads::{Arg, Device, DeviceError, HostProgram, Module, Outcome, Shape, Size};

/// Both count each register of an instruction once, neither counts an instruction whose guard lets no lane through, and
/// control instructions collect their operands too. So the counts are equal where a program takes the same path
/// whatever the order of its threads.
fn assert_counts_agree(program: &dyn HostProgram) {
    let name = program.name();
    let machine = gtx480(&[]);
    let (profile, _) = profile_program(program, &machine).unwrap();
    let run = run_on(&machine, program, How::PLAIN).unwrap_or_else(|error| panic!("{name}: {error}"));
    let registers = &profile.registers;
    for (counter, profiled) in [
        ("reads", registers.read_count()),
        ("writes", registers.write_count()),
        ("partial_writes", registers.partial_writes),
    ] {
        assert_eq!(Some(profiled), run.counter("register_file", counter), "{name}: {counter}");
    }
    let by_width = registers.writes.compressed() + registers.writes.count(None);
    assert_eq!(by_width, registers.write_count(), "{name}");
}

#[test]
fn a_profile_counts_what_the_register_file_sees() {
    for workload in ["saxpy", "blackscholes", "bfs", "reduction", "nw", "mum", "hotspot"] {
        let workload = strata_workloads::find(workload).unwrap();
        assert_counts_agree(workload.program(Size::Test).unwrap().as_ref());
    }
}

/// A kernel whose barriers, indexed branches and prints read registers, and whose barriers write one.
#[derive(Debug)]
struct Control(String);

impl Control {
    fn new() -> Control {
        Control(module(
            ".extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[] = {37, 100, 10, 0};
.visible .entry k(.param .u64 out) {
.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>; .local .align 8 .b8 stack[8];
ld.param.u64 %rd0, [out];
mov.u32 %r0, %tid.x;
setp.lt.u32 %p, %r0, 35;
shr.u32 %r1, %r0, 9;
barrier.cta.red.popc.u32 %r2, %r1, %p;
barrier.cta.arrive %r1, 64;
barrier.cta.sync %r1, 64;
and.b32 %r3, %r0, 1;
TABLE: .branchtargets EVEN, ODD;
brx.idx %r3, TABLE;
EVEN: add.u32 %r2, %r2, 5; bra.uni MEET;
ODD: add.u32 %r2, %r2, 9;
MEET: st.local.u32 [stack], %r2;
mov.u64 %rd1, stack;
cvta.local.u64 %rd2, %rd1;
{ .param .b64 format; .param .b64 arguments; .param .b32 status;
mov.u64 %rd3, text; st.param.b64 [format], %rd3; st.param.b64 [arguments], %rd2;
call.uni (status), vprintf, (format, arguments); }
st.global.u32 [%rd0], %r2;
ret;
}",
        ))
    }
}

impl HostProgram for Control {
    fn name(&self) -> &str {
        "control"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "control.ptx", text: &self.0 }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let out = device.alloc("out", 4)?;
        device.launch("k", Shape::new([3, 1, 1], [40, 1, 1]), &[Arg::Ptr(out)])?;
        Ok(Outcome::default())
    }
}

/// With registers of its own for each register of PTX the results are the same.
#[test]
fn a_run_says_whether_registers_are_reused() {
    let program = strata_workloads::find("saxpy").unwrap().program(Size::Test).unwrap();
    let registers = |sets: &[&str]| {
        let run = verified(&gtx480(sets), program.as_ref(), How::CHECKED, "registers");
        (run.launches[0].registers, run.launches[0].reuses_registers)
    };
    let (reused, separate) = (registers(&[]), registers(&["sm.register_allocation=separate"]));
    assert!(separate.0 > reused.0, "{reused:?}, {separate:?}");
    assert_eq!((reused.1, separate.1), (true, false));
    let few = ["sm.register_allocation=separate", "sm.registers_per_thread=13"];
    assert_eq!(registers(&few), registers(&few[1..]), "they do not fit");
}

/// What a register file has to read and write depends on how operands access it; results do not.
#[test]
fn wide_values_and_predicates_access_registers_by_rule() {
    for (file, workload) in
        [("sram", "saxpy"), ("stt", "bfs"), ("hi-end", "saxpy"), ("stt-wb-bdi", "reduction")]
    {
        let program = strata_workloads::find(workload).unwrap().program(Size::Test).unwrap();
        let accesses = |sets: &[&str]| {
            let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
            let machine =
                Machine::load_with("gtx480", &[file], &sets).unwrap_or_else(|error| panic!("{error}"));
            let run = verified(&machine, program.as_ref(), How::CHECKED, file);
            ["reads", "writes"].map(|counter| run.counter("register_file", counter).expect("a counter"))
        };
        let rows = accesses(&[]);
        assert_eq!(
            accesses(&["sm.register_file.accesses.wide=rows", "sm.register_file.accesses.predicates=false"]),
            rows
        );
        let once = accesses(&["sm.register_file.accesses.wide=once"]);
        assert!(once[0] < rows[0] && once[1] < rows[1], "{workload}: {once:?}, {rows:?}");
        assert_eq!(accesses(&["sm.register_file.accesses.wide=one-number"]), once, "{workload}");
        let predicates = accesses(&["sm.register_file.accesses.predicates=true"]);
        assert!(predicates[1] > rows[1], "{workload}: {predicates:?}, {rows:?}");
    }
}

#[test]
fn registers_that_are_picked_by_number_have_rows() {
    let sets = ["sm.indirect_mov=true", "sm.register_file.accesses.wide=once"].map(str::to_owned);
    let error = Machine::load_with("gtx480", &["hi-end"], &sets).map(drop).unwrap_err().to_string();
    assert!(
        error.contains(
            "sm.indirect_mov: found true, expected false with sm.register_file.hierarchical.accesses"
        ),
        "{error}"
    );
}

#[test]
fn control_instructions_count_too() {
    assert_counts_agree(&Control::new());
}
