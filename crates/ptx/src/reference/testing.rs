//! Running kernels from text in tests, here and in the crates above.

use super::{Executor, Fault, GlobalMemory, LaunchConfig, Options, Summary, pack_arguments, place_variables};
use crate::back;
use crate::load::load;
use crate::program::Module;
use crate::texture::Headers;

/// A module and a memory with its variables in it.
#[derive(Clone, Debug)]
pub struct Session {
    /// The module.
    pub module: Module,
    /// Device memory.
    pub memory: GlobalMemory,
    /// Textures and surfaces.
    pub headers: Headers,
    /// Addresses of the module's variables.
    pub variables: Vec<u64>,
    /// Bounds of every launch.
    pub options: Options,
}

impl Session {
    /// Loads a text.
    ///
    /// # Panics
    /// When it does not load, with the diagnostics.
    pub fn new(text: &str) -> Self {
        Session::of_module(
            load("test.ptx", text, &back::Options::default()).unwrap_or_else(|error| panic!("{error}")),
        )
    }

    /// Takes a module that was loaded in another way.
    pub fn of_module(module: Module) -> Self {
        let mut memory = GlobalMemory::new();
        let mut headers = Headers::default();
        let variables = place_variables(&module.variables, &mut memory, &mut headers);
        let options = Options { instruction_limit: Some(50_000_000), ..Options::default() };
        Session { module, memory, headers, variables, options }
    }

    /// As [`Session::new`] with the kernel `test(.param .u64 out)`: `%out` holds the address, every register
    /// class has ten registers (`%p`, `%h`, `%r`, `%rd`, `%f`, `%fd`).
    pub fn of_body(body: &str) -> Self {
        Session::new(&format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry test(.param .u64 out) {{\n\
             .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .f32 %f<10>; \
             .reg .f64 %fd<10>; .reg .b64 %out;\n\
             ld.param.u64 %out, [out];\n{body}\n}}\n"
        ))
    }

    /// A buffer that holds these words; its address.
    pub fn buffer(&mut self, words: &[u32]) -> u64 {
        self.memory.allocate_with(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// Words of device memory.
    ///
    /// # Panics
    /// When they are not there.
    pub fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let bytes = self.memory.bytes(address, 4 * count).expect("the words asked for are allocated");
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    }

    /// Runs a kernel on a one-dimensional grid.
    ///
    /// # Panics
    /// When there is no such kernel or the number of arguments is wrong.
    pub fn launch(
        &mut self,
        kernel: &str,
        grid: u32,
        block: u32,
        arguments: &[u64],
    ) -> Result<Summary, Fault> {
        let kernel = self.module.kernel(kernel).expect("the module has the kernel");
        let params = pack_arguments(kernel, arguments).unwrap_or_else(|error| panic!("{error}"));
        let config = LaunchConfig {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            params,
        };
        Executor::new(kernel, config, &self.variables, &mut self.memory)
            .with_options(self.options)
            .with_headers(&self.headers)
            .run()
    }

    /// Runs the kernel of [`Session::of_body`] on `words` zeroed words; returns them.
    ///
    /// # Errors
    /// The fault of the run.
    pub fn run(&mut self, grid: u32, block: u32, words: usize) -> Result<Vec<u32>, Fault> {
        let out = self.buffer(&vec![0; words]);
        self.launch("test", grid, block, &[out])?;
        Ok(self.words(out, words))
    }
}
