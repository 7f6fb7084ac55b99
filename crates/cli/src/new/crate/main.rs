//! A command that knows this crate's part.

use std::process::ExitCode;

fn main() -> ExitCode {
    strata_designs::registry::extend(my_idea::add);
    strata_workbench::main()
}
