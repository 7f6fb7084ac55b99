use clap::CommandFactory;

use super::*;

/// Every command and subcommand, with its full name.
fn commands(command: &clap::Command, name: &str, found: &mut Vec<(String, clap::Command)>) {
    let name = format!("{name} {}", command.get_name()).trim().to_owned();
    found.push((name.clone(), command.clone()));
    command.get_subcommands().for_each(|command| commands(command, &name, found));
}

#[test]
fn help_ends_with_an_example_that_parses() {
    let mut found = Vec::new();
    commands(&Arguments::command(), "", &mut found);
    assert!(found.len() > 15);
    for (name, command) in found {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert!(help.starts_with("Example:\n") && !examples.is_empty(), "{name} has no example: {help}");
        for example in examples {
            assert!(example.starts_with(&name), "{name}: {example}");
            let words = shlex::split(example).expect("quotes are closed");
            let parsed = Arguments::try_parse_from(words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.err().expect("it is wrong"));
        }
    }
}

#[test]
fn the_command_line_is_well_formed() {
    Arguments::command().debug_assert();
}
