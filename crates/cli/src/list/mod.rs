//! `strata list`: the built-in workloads, machines, systems, doors, policies, metrics and papers, and the runs of a store.

mod runs;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use strata_lab::catalogue;
use strata_workbench::list::{self, How, Items};

use crate::Finished;

/// Arguments of `strata list`.
#[derive(Args)]
pub struct ListArguments {
    /// Kind of items to list.
    #[arg(value_enum, default_value_t = What::Workloads)]
    what: What,
    #[command(flatten)]
    how: How,
    /// Folder of the result store whose runs to list.
    #[arg(long, value_name = "DIR", default_value = "strata-store")]
    store: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Built-in workloads, with buffer size and thread-instructions at each input size.
    Workloads,
    /// Built-in machines, each with a description.
    Machines,
    /// Built-in systems: the designs that papers compare, to be laid over a machine.
    Systems,
    /// Doors (the interfaces where a design plugs in) and the designs that fit each.
    Doors,
    /// Policies: small parts of a machine that one key chooses by name.
    Policies,
    /// Built-in metrics: expressions over counters, for `strata compare --metric`.
    Metrics,
    /// Papers whose evaluation `strata repro` repeats.
    Papers,
    /// Runs that a result store holds: programs, machines, cycles.
    Runs,
}

impl What {
    /// All items; runs are those of a store.
    fn items(self, store: &Path) -> Result<Items, String> {
        Ok(match self {
            What::Workloads => list::workloads(),
            What::Machines => list::machines(),
            What::Systems => list::systems(),
            What::Doors => list::doors(),
            What::Policies => list::policies(),
            What::Metrics => list::metrics(),
            What::Papers => Items { name: "paper", columns: &["name", "title"], rows: catalogue::papers() },
            What::Runs => {
                let columns = &["name", "size", "program", "machine", "launches", "cycles"];
                Items { name: "run", columns, rows: runs::rows(store)? }
            }
        })
    }
}

/// Prints the requested list as a table or as JSON.
///
/// # Errors
/// A pattern that no item contains, or standard output that cannot be written.
pub fn list(arguments: &ListArguments) -> Result<Finished, String> {
    arguments.what.items(&arguments.store)?.show(&arguments.how)?;
    Ok(Finished::Well)
}
