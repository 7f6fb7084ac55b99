use clap::CommandFactory;

use super::*;

#[test]
fn help_ends_with_an_example_that_parses() {
    let mut command = Arguments::command();
    command.build();
    command.clone().debug_assert();
    let all: Vec<&clap::Command> = std::iter::once(&command).chain(command.get_subcommands()).collect();
    // `help` says what it does by itself.
    for command in all.into_iter().filter(|command| command.get_name() != "help") {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let example = help.strip_prefix("Example:\n  cargo run --release -- ");
        let example = example.unwrap_or_else(|| panic!("{} has no example: {help}", command.get_name()));
        let parsed = Arguments::try_parse_from(["command"].into_iter().chain(example.split_whitespace()));
        assert!(parsed.is_ok(), "{example}: {}", parsed.err().expect("it is wrong"));
    }
}

#[test]
fn a_name_given_twice_counts_once() {
    let names = ["b", "a", "b", "a"].map(str::to_owned);
    assert_eq!(once(&names), ["b", "a"]);
}
