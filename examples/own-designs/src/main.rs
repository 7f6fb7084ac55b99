//! The `strata` command with the designs of this crate.

fn main() -> std::process::ExitCode {
    strata_designs::registry::extend(own_designs::add);
    strata_cli::main()
}
