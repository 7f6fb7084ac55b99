use strata_gpu::{machine::Machine, RunRequest, run};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let machine = Machine::load("gtx480", &[]).unwrap_or_else(|e| panic!("{e}"));
    for name in args[2].split(',') {
        let program = strata_workloads::find(name).unwrap().program(args[1].parse().unwrap());
        let r = run(RunRequest { program: program.as_ref(), size: None, machine: &machine, overrides: &[], threads: args[3].parse().unwrap(), window: None, check: args.len() > 4, max_cycles: Some(100_000_000), progress: &mut |_| {} });
        match r {
            Ok(r) => println!("{name}: {:?} cycles {} winst {} speed {:.0}/s hash {:x}", r.verdict, r.cycles(), r.warp_instructions(), r.speed(), r.statistics_hash()),
            Err(e) => println!("{name}: {e}"),
        }
    }
}
