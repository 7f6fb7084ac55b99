//! The `strata` command with the designs of this crate.

fn main() -> std::process::ExitCode {
    strata_designs::registry::extend(own_designs::add);
    own_designs::add_to_sms();
    strata_cli::main()
}
