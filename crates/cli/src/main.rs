//! The `strata` command; see [`strata::main`].

fn main() -> std::process::ExitCode {
    strata_cli::main()
}
