//! What says what instructions compute, found without Strata's code.

use std::collections::BTreeSet;
use std::path::Path;

use super::forms::Form;

/// Something that a result is compared with.
pub struct Oracle {
    /// The word behind `@` in `forms.txt`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    holds: Holds,
}

/// How to tell that an oracle covers a form.
enum Holds {
    /// A file of instructions and their results, beside the test: it holds one that the form stands for.
    Instructions(&'static str),
    /// As [`Holds::Instructions`], in several files.
    Files(&'static [&'static str]),
    /// Tests that execute operations and record them; `src/exec/tests/oracles.rs` compares the record with the form's.
    Record,
    /// Files, from the crate's folder, of tests that write and run programs: one names the opcode.
    Programs(&'static [&'static str]),
}

/// Every oracle.
pub const ORACLES: &[Oracle] = &[
    Oracle {
        name: "vendor",
        what: "constants to which the vendor's assembler folds the instruction (`tests/vendor.txt`, with its version)",
        holds: Holds::Instructions("vendor.txt"),
    },
    Oracle {
        name: "exact",
        what: "the ISA's text in integers and fractions without bounds (`scripts/ptx-values/exact.py`, `tests/exact.txt`)",
        holds: Holds::Instructions("exact.txt"),
    },
    Oracle {
        name: "hardware",
        what: "what a GPU computed (`tests/hardware.txt`, `hardware_matrices.txt`, with the card and its driver)",
        holds: Holds::Files(&["hardware.txt", "hardware_matrices.txt"]),
    },
    Oracle {
        name: "values",
        what: "results worked out by hand from the ISA's text (`tests/values.txt`)",
        holds: Holds::Instructions("values.txt"),
    },
    Oracle {
        name: "warps",
        what: "the ISA's words on groups of threads, at random masks and divergence, in both executors \
               (`crates/gpu/tests/machine/warps`)",
        holds: Holds::Programs(&["../gpu/tests/machine/warps/text.rs"]),
    },
    Oracle {
        name: "bounds",
        what: "double precision, within the error that the ISA allows (`src/exec/tests/float.rs`, `half.rs`)",
        holds: Holds::Record,
    },
    Oracle {
        name: "formats",
        what: "every code of a narrow format by the format's definition (`src/exec/tests/conversion.rs`)",
        holds: Holds::Record,
    },
    Oracle {
        name: "video",
        what: "the ISA's pseudocode in 128-bit integers (`src/exec/tests/video.rs`)",
        holds: Holds::Record,
    },
    Oracle {
        name: "products",
        what: "products of exact numbers, placed by the ISA's figures of fragments (`src/exec/tests/matrix.rs`, `sparse.rs`)",
        holds: Holds::Record,
    },
    Oracle {
        name: "fragments",
        what: "matrices written element by element, in programs (`src/reference/tensor_tests.rs`)",
        holds: Holds::Programs(&["src/reference/tensor_tests.rs", "../gpu/tests/machine/tensor/kernels.rs"]),
    },
    Oracle {
        name: "warpgroups",
        what: "matrices laid out by the ISA's figures of core matrices and swizzles, and sums of small integers \
               (`src/reference/warpgroup_tests.rs`)",
        holds: Holds::Programs(&["src/reference/warpgroup_tests.rs"]),
    },
    Oracle {
        name: "blocks",
        what: "blocks and boxes walked element by element by the words of the ISA and the driver API, in programs \
               (`crates/gpu/tests/machine/hopper`)",
        holds: Holds::Programs(&[
            "../gpu/tests/machine/hopper/bulk.rs",
            "../gpu/tests/machine/hopper/product.rs",
        ]),
    },
    Oracle {
        name: "clusters",
        what: "what CTAs of a cluster find in one another's shared memory, worked out by hand, in programs \
               (`crates/gpu/tests/machine/hopper/cluster.rs`)",
        holds: Holds::Programs(&["../gpu/tests/machine/hopper/cluster.rs"]),
    },
    Oracle {
        name: "texels",
        what: "a model of fetches in doubles by the CUDA guide's formulas (`crates/gpu/tests/machine/textures`)",
        holds: Holds::Programs(&[
            "../gpu/tests/machine/textures/fetches.rs",
            "../gpu/tests/machine/textures/surfaces.rs",
            "../gpu/tests/machine/textures/references.rs",
            "../gpu/tests/machine/textures/bench.rs",
        ]),
    },
    Oracle {
        name: "states",
        what: "states of barriers and copies worked out by hand from the ISA's text, in programs \
               (`src/reference/tensor_tests.rs`, `tests.rs`, `crates/gpu/tests/machine/tensor`)",
        holds: Holds::Programs(&[
            "src/reference/tensor_tests.rs",
            "src/reference/tests.rs",
            "../gpu/tests/machine/tensor/kernels.rs",
            "../gpu/tests/machine/tensor/mod.rs",
        ]),
    },
    Oracle {
        name: "control",
        what: "the path that threads take, worked out by hand (`src/reference/tests.rs`, `tests/calls`)",
        holds: Holds::Programs(&["src/reference/tests.rs", "tests/calls/programs.rs"]),
    },
];

/// Opcodes with modifiers that a file of results names.
fn words(data: &str) -> BTreeSet<&str> {
    let lines = data.lines().filter(|line| !line.starts_with('#'));
    let code = lines
        .map(|line| line.split(" -> ").next().and_then(|code| code.split(" : ").next()).unwrap_or_default());
    code.flat_map(|code| code.split(';'))
        .map(|text| text.rsplit_once(": ").map_or(text, |(_, text)| text).trim())
        .map(
            |text| {
                if text.starts_with('@') { text.split_once(' ').map_or("", |(_, text)| text) } else { text }
            },
        )
        .map(|text| text.split(' ').next().unwrap_or_default())
        .collect()
}

impl Oracle {
    /// The oracle of a name.
    pub fn named(name: &str) -> Option<&'static Oracle> {
        ORACLES.iter().find(|oracle| oracle.name == name)
    }

    /// Whether it covers a form, as far as its files say.
    pub fn covers(&self, form: &Form<'_>) -> bool {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &Path| {
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let instructions = |file: &str| {
            let data = read(&root.join("tests").join(file));
            let words = words(&data);
            form.expansions().iter().any(|expansion| words.contains(expansion.as_str()))
        };
        match self.holds {
            Holds::Record => true,
            Holds::Instructions(file) => instructions(file),
            Holds::Files(files) => files.iter().any(|file| instructions(file)),
            Holds::Programs(files) => files.iter().any(|file| read(&root.join(file)).contains(form.opcode())),
        }
    }
}
