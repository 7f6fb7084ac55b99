//! Microbenchmarks as launch files with a table of what is read from them.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Figure, Span};

/// The table's name in its folder.
pub const FIGURES: &str = "figures.csv";

const COLUMNS: &str = "file,family,case,parameters,quantity,unit,reading,work,\
                       short_launch,short_pair,short_pairs,long_launch,long_pair,long_pairs";

/// Writes `figures.csv`, a launch file for each benchmark, and their PTX into a folder, which is made if need be.
///
/// # Errors
/// A file could not be written.
pub fn export(benchmarks: &[Benchmark], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut table = format!("{COLUMNS}\n");
    for benchmark in benchmarks {
        let file = format!("{}-{}.toml", benchmark.family, benchmark.name);
        fs::write(folder.join(format!("{}.ptx", benchmark.text.name)), &benchmark.text.ptx)?;
        fs::write(folder.join(&file), launch_file(benchmark))?;
        for figure in &benchmark.figures {
            table += &row(&file, benchmark, figure);
        }
    }
    fs::write(folder.join(FIGURES), table)
}

fn row(file: &str, benchmark: &Benchmark, figure: &Figure) -> String {
    let Figure { case, parameters, quantity, unit, reading, work, short, long } = figure;
    let parameters: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let span = |span: Option<Span>| {
        span.map_or(",,".to_owned(), |Span { launch, pair, pairs }| format!("{launch},{pair},{pairs}"))
    };
    format!(
        "{file},{},{case},{},{quantity},{unit},{},{work},{},{}\n",
        benchmark.family,
        parameters.join(";"),
        reading.name(),
        span(*short),
        span(Some(*long))
    )
}

/// The benchmark as a launch file.
#[must_use]
pub fn launch_file(benchmark: &Benchmark) -> String {
    let mut text = String::from("# Written by `strata validate --export`.\n");
    let mut put = |arguments: std::fmt::Arguments<'_>| text.write_fmt(arguments).expect("a string takes all");
    put(format_args!(
        "name = \"{}-{}\"\nmodule = \"{}.ptx\"\n",
        benchmark.family, benchmark.name, benchmark.text.name
    ));
    put(format_args!("\n[[buffer]]\nname = \"{CLOCKS}\"\ntype = \"u64\"\ncount = {}\n", benchmark.pairs * 2));
    put(format_args!("unordered = true\n"));
    for buffer in &benchmark.buffers {
        let Buffer { name, bytes, variable } = buffer;
        // Those of more than 4 GiB only `probe/micro.py` takes.
        let (ty, count) =
            if *bytes > u64::from(u32::MAX) { ("u64", bytes.div_ceil(8)) } else { ("u8", *bytes) };
        put(format_args!("\n[[buffer]]\nname = \"{name}\"\ntype = \"{ty}\"\ncount = {count}\n"));
        if *variable {
            put(format_args!("variable = true\n"));
        }
    }
    for launch in &benchmark.launches {
        put(format_args!(
            "\n[[launch]]\nkernel = \"{}\"\ngrid = [{}]\nblock = [{}]\n",
            launch.kernel, launch.grid, launch.block
        ));
        if launch.shared > 0 {
            put(format_args!("dynamic_shared_bytes = {}\n", launch.shared));
        }
        if launch.repeat > 1 {
            put(format_args!("repeat = {}\n", launch.repeat));
        }
        let arguments: Vec<String> = launch.arguments.iter().map(argument).collect();
        put(format_args!("arguments = [{}]\n", arguments.join(", ")));
    }
    text
}

fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Address(buffer, 0) => format!("{{ buffer = \"{buffer}\" }}"),
        Argument::Address(buffer, offset) => format!("{{ buffer = \"{buffer}\", byte_offset = {offset} }}"),
        Argument::U32(value) => format!("{{ u32 = {value} }}"),
        Argument::U64(value) => format!("{{ u64 = {value} }}"),
    }
}
