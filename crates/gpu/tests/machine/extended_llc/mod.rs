//! The extended-LLC kernel against a plain model of its sets, on the reference executor and on the modelled GPU.

mod alone;
mod bench;
mod compressed;
mod cost;
mod indirect;
mod model;
mod planted;
mod requests;

use bench::Sets;
use model::{Answer, Bytes, Request, Set};
use strata_engine::seed::Stream;
use strata_gpu::device::ReferenceDevice;
use strata_gpu::extended_llc::{Indirection, Kernel, Requests, result};
use strata_gpu::machine::Machine;
use strata_ptx::reference::Options;
use strata_workloads::Module;

use crate::support::{INDIRECT_MOV, PLAIN, on_device};

/// An RTX 3080 of two SMs: one for the sets, one for those who ask.
fn rtx3080(sets: &[&str]) -> Machine {
    let base = ["gpu.sms=2", "gpu.memory_mib=64"];
    let sets: Vec<String> = base.iter().chain(sets).map(ToString::to_string).collect();
    Machine::load_with("rtx3080", &[INDIRECT_MOV], &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A case: requests to sets over a memory.
struct Case {
    sets: Sets,
    requests: Vec<Vec<Request>>,
    memory: Vec<Bytes>,
}

impl Case {
    /// `count` random requests to each set, over three blocks for every two that a set can hold.
    fn random(sets: Sets, count: usize, seed: u64) -> Case {
        let mut stream = Stream::new(seed, "extended-llc");
        let pool = sets.ways.max(sets.shared_ways) as usize * 3 / 2 + 1;
        let number = sets.count();
        let memory = (0..pool * number).map(|_| requests::bytes(&mut stream)).collect();
        let list = |set: usize| requests::requests(&mut stream, count, pool, |block| block * number + set);
        Case { sets, requests: (0..number).map(list).collect(), memory }
    }

    /// What the model answers and leaves in memory.
    fn expected(&self) -> (Vec<Vec<Answer>>, Vec<Bytes>) {
        let mut memory = self.memory.clone();
        let of_set = |(number, requests): (usize, &Vec<Request>)| {
            let number = number as u32 % self.sets.kernel.warps;
            let mut set = if number < self.sets.register_sets {
                Set::new(self.sets.ways as usize)
            } else if number < self.sets.register_sets + self.sets.shared_sets {
                Set::new(self.sets.shared_ways as usize)
            } else {
                Set::through()
            };
            requests.iter().map(|request| set.serve(request, &mut memory)).collect()
        };
        let answers = self.requests.iter().enumerate().map(of_set).collect();
        (answers, memory)
    }

    /// Compares an outcome with the model's.
    fn check(&self, outcome: &bench::Outcome) -> Result<(), String> {
        let (answers, memory) = self.expected();
        for (set, (found, expected)) in outcome.answers.iter().zip(&answers).enumerate() {
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                let found = Answer { result: result::told(found.result).result, ..*found };
                if found != *expected {
                    let asked = &self.requests[set][at];
                    return Err(format!(
                        "set {set}, request {at}: {:?} of block {}\nfound    {found:?}\nexpected {expected:?}",
                        asked.action, asked.block
                    ));
                }
            }
        }
        match outcome.memory.iter().zip(&memory).position(|(found, expected)| found != expected) {
            Some(block) => Err(format!("block {block} of memory differs at the end")),
            None => Ok(()),
        }
    }

    /// Runs on the reference executor, with a text that may be changed before.
    fn on_reference(&self, change: impl Fn(String) -> String) -> Result<(), String> {
        self.on_reference_with(&change(self.sets.text())).and_then(|outcome| self.check(&outcome))
    }

    /// Runs a text on the reference executor, without a look at what comes back.
    fn on_reference_with(&self, text: &str) -> Result<bench::Outcome, String> {
        let module = Module { name: "extended_llc.ptx", text };
        let options = Options { instruction_limit: Some(200_000_000), ..Options::default() };
        let compile = rtx3080(&[]).compile_options();
        let mut device = ReferenceDevice::new(module, compile, 1 << 28, options)?;
        self.sets.run(&mut device, &self.requests, &self.memory).map_err(|error| error.to_string())
    }

    /// Runs on a machine.
    fn on_machine(&self, machine: &Machine) -> Result<bench::Outcome, String> {
        self.on_machine_with(machine, &self.sets.text())
    }

    fn on_machine_with(&self, machine: &Machine, text: &str) -> Result<bench::Outcome, String> {
        let outcome = self.on_machine_unchecked(machine, text)?;
        self.check(&outcome).map(|()| outcome)
    }

    fn on_machine_unchecked(&self, machine: &Machine, text: &str) -> Result<bench::Outcome, String> {
        on_device(machine, PLAIN, text, |device| {
            self.sets.run(device, &self.requests, &self.memory).map_err(|error| error.to_string())
        })
    }
}

/// Every way to reach a register.
const INDIRECTIONS: &[Indirection] = &[Indirection::Branch, Indirection::Instruction];

fn in_registers(indirection: Indirection, warps: u32, ways: u32) -> Sets {
    let kernel = Kernel {
        warps,
        ctas: 1,
        ways,
        shared_ways: 0,
        indirection,
        requests: Requests::Polled,
        fetches: true,
        compression: None,
    };
    Sets { kernel, register_sets: warps, shared_sets: 0, ways, shared_ways: 0, epoch: 0 }
}

#[test]
fn thirty_two_blocks_fit_the_registers_of_48_warps() {
    for (&indirection, requests) in
        INDIRECTIONS.iter().flat_map(|way| [(way, Requests::Held), (way, Requests::Polled)])
    {
        let text = Kernel {
            warps: 24,
            ctas: 2,
            ways: 28,
            shared_ways: 50,
            indirection,
            requests,
            fetches: requests == Requests::Polled,
            compression: None,
        }
        .text();
        let module = Module { name: "extended_llc.ptx", text: &text };
        let mut program =
            strata_gpu::program::Program::parse(module, rtx3080(&[]).compile_options()).unwrap();
        let kernel = program.kernel(strata_gpu::extended_llc::ENTRY).unwrap();
        println!(
            "{indirection:?}: {} registers, {} predicates, {} bytes of spills, {} instructions",
            kernel.registers,
            kernel.predicates,
            kernel.spill_bytes,
            kernel.code.len()
        );
        assert!(kernel.registers <= 40, "{indirection:?}: {} registers", kernel.registers);
        assert_eq!(kernel.spill_bytes, 0, "{indirection:?}");
        assert_eq!(rtx3080(&[]).resident_ctas(&kernel, 24 * 32, 0), 2);
    }
}

#[test]
fn random_requests_to_sets_in_registers() {
    for &indirection in INDIRECTIONS {
        for (seed, ways) in [4, 7, 16, 31, 32, 33, 50, 101].into_iter().enumerate() {
            let case = Case::random(in_registers(indirection, 3, ways), 600, seed as u64);
            case.on_reference(|text| text)
                .unwrap_or_else(|error| panic!("{indirection:?}, {ways} ways: {error}"));
        }
    }
}

#[test]
fn random_requests_on_the_modelled_gpu() {
    for &indirection in INDIRECTIONS {
        for (seed, ways) in [5, 32, 37].into_iter().enumerate() {
            let case = Case::random(in_registers(indirection, 4, ways), 150, seed as u64);
            case.on_machine(&rtx3080(&[]))
                .unwrap_or_else(|error| panic!("{indirection:?}, {ways} ways: {error}"));
        }
    }
}

#[test]
fn random_requests_to_sets_in_shared_memory_and_in_the_l1d() {
    for &indirection in INDIRECTIONS {
        for (seed, ways) in [4, 9, 32, 50].into_iter().enumerate() {
            let kernel = Kernel {
                warps: 6,
                ctas: 1,
                ways,
                shared_ways: ways,
                indirection,
                requests: Requests::Polled,
                fetches: true,
                compression: None,
            };
            let sets = Sets { kernel, register_sets: 2, shared_sets: 2, ways, shared_ways: ways, epoch: 0 };
            let case = Case::random(sets, 200, 40 + seed as u64);
            case.on_reference(|text| text)
                .unwrap_or_else(|error| panic!("{indirection:?}, {ways} ways: {error}"));
            case.on_machine(&rtx3080(&[]))
                .unwrap_or_else(|error| panic!("{indirection:?}, {ways} ways, modelled: {error}"));
        }
    }
}
