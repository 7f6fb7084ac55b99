//! The `strata` command; see [`strata_cli::main`].

fn main() -> std::process::ExitCode {
    strata_cli::main()
}
