//! Calls every function of the library with invalid arguments, each in its own process, so that a crash or
//! hang is attributed. The functions and their argument types are read from the library's sources.
//!
//! Each argument in turn takes every bad value while the others are good, and then all arguments are bad at
//! once. A call must return a status of the driver API other than "unknown" and must not change the client's
//! memory outside its results, and the process must still be able to use the library afterwards. Under
//! valgrind (`scripts/garbage`) it must also access no invalid memory.
//!
//! Pointers are null or point to mapped memory; a pointer to less memory than its function needs is the
//! client's fault.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use std::collections::BTreeMap;

use support::*;

/// Size in bytes of the client memory that good pointers point to.
const SCRATCH: usize = 4 << 20;
/// Bytes on both sides of it that no call may change.
const GUARD: usize = 4096;
const CANARY: u8 = 0xc5;

/// Time limit in seconds for all calls of a function, under valgrind too.
const LIMIT: u32 = 60;

/// The status for an internal error of the driver, which no input may cause.
const UNKNOWN: u32 = 999;

/// Number of rounds in which all arguments are bad.
const ROUNDS: u64 = 40;

/// A signature for any function: up to twelve integer arguments, in registers and on the stack.
type Any12 = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

/// A function as declared in the sources: its name, and the name and type of each argument.
struct Function {
    name: String,
    arguments: Vec<(String, String)>,
    supported: bool,
}

/// Parses the functions in a source file: `name = "base" version (argument: Type, ...) {`, and the lists of
/// unsupported functions. Further names of a function stand behind `|` and `/`.
fn functions(source: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (macro_name, supported) in [("\napi! {", true), ("\nunsupported! {", false)] {
        let Some((_, body)) = source.split_once(macro_name) else { continue };
        let body = body.split_once("\n}").map_or(body, |(body, _)| body);
        if !supported {
            let lines = body.lines().filter_map(|line| line.split_once(" = "));
            found.extend(lines.flat_map(|(list, _)| names(list)).map(|name| Function {
                name,
                arguments: Vec::new(),
                supported,
            }));
            continue;
        }
        for item in body.split("\n    cu").skip(1) {
            let (list, rest) =
                item.split_once("= \"").or(item.split_once("=\n")).expect("names, then their base");
            let called = names(&format!("cu{list}"));
            let (_, rest) = rest.split_once('(').expect("arguments");
            let (list, _) = rest.split_once(") {").expect("a body behind the arguments");
            let arguments = list.split(',').map(str::trim).filter(|argument| !argument.is_empty());
            let arguments = arguments.map(|argument| {
                let (name, kind) = argument.split_once(": ").expect("a name and a type");
                (name.trim_start_matches('_').to_owned(), kind.to_owned())
            });
            let arguments: Vec<_> = arguments.collect();
            found.extend(called.into_iter().map(|name| Function {
                name,
                arguments: arguments.clone(),
                supported,
            }));
        }
    }
    found
}

/// The names in front of an equals sign.
fn names(list: &str) -> Vec<String> {
    list.split_whitespace().filter(|word| word.starts_with("cu")).map(str::to_owned).collect()
}

fn all_functions() -> Vec<Function> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // The folders are not exported functions.
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files.iter().flat_map(|file| functions(&std::fs::read_to_string(file).unwrap())).collect()
}

/// Client memory with guard bytes around it.
struct Scratch(Vec<u8>);

impl Scratch {
    fn new() -> Scratch {
        Scratch(vec![CANARY; SCRATCH + 2 * GUARD])
    }

    fn at(&self) -> u64 {
        (self.0.as_ptr() as usize + GUARD) as u64
    }

    /// Fills the part that calls read as numbers.
    fn fill(&mut self, value: u8) {
        self.0[GUARD..GUARD + (64 << 10)].fill(value);
    }

    fn check(&self, what: &str) {
        let whole = |part: &[u8]| part.iter().all(|byte| *byte == CANARY);
        assert!(
            whole(&self.0[..GUARD]) && whole(&self.0[GUARD + SCRATCH..]),
            "{what} wrote beyond its results"
        );
    }
}

extern "C" fn callback() -> u64 {
    0
}

/// The objects of a client that has made no mistakes.
struct Client {
    cuda: &'static Cuda,
    scratch: Scratch,
    /// A valid and a destroyed handle of each kind.
    handles: BTreeMap<&'static str, (u64, u64)>,
    device: u64,
    freed: u64,
    /// Strings and pointer tables that calls read.
    good_text: std::ffi::CString,
    path: std::ffi::CString,
    image: std::ffi::CString,
    texts: Vec<std::ffi::CString>,
    pointers: Vec<u64>,
    nulls: Vec<u64>,
}

fn handle(make: impl Fn(&mut Any) -> u32) -> u64 {
    let mut made = none();
    assert_eq!(make(&mut made), SUCCESS);
    made as u64
}

/// An ordinary kernel and one that uses the heap, so that heap limits matter.
fn image_text() -> String {
    format!(
        "{ADD}.extern .func (.param .b64 result) malloc(.param .b64 bytes);\n\
         .visible .entry grow() {{ .reg .b64 %rd<2>; .param .b64 r; .param .b64 b; st.param.b64 [b], 16;\n\
         call.uni (r), malloc, (b); ld.param.b64 %rd0, [r]; ret; }}\n"
    )
}

impl Client {
    fn new(cuda: &'static Cuda) -> Client {
        let current = context(cuda) as u64;
        let image = text(&image_text());
        let device = buffer(cuda, &[0_u32; 64]);
        let module = || handle(|to_| call!(cuda, "cuModuleLoadData", to(to_), image.as_ptr()));
        let library = || {
            handle(|to_| {
                call!(
                    cuda,
                    "cuLibraryLoadData",
                    to(to_),
                    image.as_ptr(),
                    none(),
                    none(),
                    number(0),
                    none(),
                    none(),
                    number(0)
                )
            })
        };
        let name = text("add");
        let function = |module: u64| {
            handle(|to_| call!(cuda, "cuModuleGetFunction", to(to_), number(module), name.as_ptr()))
        };
        let kernel = |library: u64| {
            handle(|to_| call!(cuda, "cuLibraryGetKernel", to(to_), number(library), name.as_ptr()))
        };
        let stream = || handle(|to_| call!(cuda, "cuStreamCreate", to(to_), number(0)));
        let event = || handle(|to_| call!(cuda, "cuEventCreate", to(to_), number(0)));
        let link = || handle(|to_| call!(cuda, "cuLinkCreate_v2", number(0), none(), none(), to(to_)));
        let pool = || handle(|to_| call!(cuda, "cuMemPoolCreate", to(to_), of(&[1_u32, 0, 1, 0])));
        let other = || {
            let made = handle(|to_| call!(cuda, "cuCtxCreate_v2", to(to_), number(0), number(0)));
            assert_eq!(call!(cuda, "cuCtxPopCurrent_v2", none()), SUCCESS);
            made
        };
        let graph = || handle(|to_| call!(cuda, "cuGraphCreate", to(to_), number(0)));
        let node = |graph: u64| {
            handle(|to_| call!(cuda, "cuGraphAddEmptyNode", to(to_), number(graph), none(), number(0)))
        };
        let executable = |graph: u64| {
            handle(|to_| call!(cuda, "cuGraphInstantiateWithFlags", to(to_), number(graph), number(0)))
        };
        let good_graph = graph();
        let (good_module, old_module) = (module(), module());
        let (good_library, old_library) = (library(), library());
        let (old_function, old_kernel) = (function(old_module), kernel(old_library));
        let gone = |name: &str, handle: u64| {
            let destroy = cuda.function::<unsafe extern "C" fn(u64) -> u32>(name);
            // SAFETY: the driver API's function.
            assert_eq!(unsafe { destroy(handle) }, SUCCESS);
            handle
        };
        let handles = BTreeMap::from([
            ("Context", (current, gone("cuCtxDestroy_v2", other()))),
            ("Module", (good_module, gone("cuModuleUnload", old_module))),
            ("Library", (good_library, gone("cuLibraryUnload", old_library))),
            ("Function", (function(good_module), old_function)),
            ("Kernel", (kernel(good_library), old_kernel)),
            ("Stream", (stream(), gone("cuStreamDestroy_v2", stream()))),
            ("Event", (event(), gone("cuEventDestroy_v2", event()))),
            ("Link", (link(), gone("cuLinkDestroy", link()))),
            ("Pool", (pool(), gone("cuMemPoolDestroy", pool()))),
            ("Graph", (good_graph, gone("cuGraphDestroy", graph()))),
            ("Node", (node(good_graph), gone("cuGraphDestroyNode", node(good_graph)))),
            ("Executable", (executable(good_graph), gone("cuGraphExecDestroy", executable(good_graph)))),
        ]);
        // Allocate this last, so that its address stays free.
        let freed = buffer(cuda, &[0_u32; 64]);
        assert_eq!(call!(cuda, "cuMemFree_v2", number(freed)), SUCCESS);
        let scratch = Scratch::new();
        let texts = vec![
            std::ffi::CString::default(),
            std::ffi::CString::new(b"\xff\xfe\x80add".to_vec()).unwrap(),
            std::ffi::CString::new(vec![b'x'; 100_000]).unwrap(),
            text("no such name"),
            text(".version 7.0\n.target sm_70\n.entry k( { ret; }"),
            text("\x7fELF"),
        ];
        let pointers = vec![scratch.at(); 64];
        let path = text("/nowhere/add.ptx");
        let nulls = vec![0; 64];
        Client { cuda, scratch, handles, device, freed, good_text: name, path, image, texts, pointers, nulls }
    }

    /// The part of a type that names a handle's object.
    fn object<'k>(&self, kind: &'k str) -> Option<&'k str> {
        kind.strip_prefix("Handle<")?.strip_suffix('>')
    }

    fn good(&self, function: &Function, (name, kind): &(String, String)) -> u64 {
        if let Some(object) = self.object(kind) {
            // Handles that another crate adds are unknown here; use null.
            return self.handles.get(object).map_or(0, |(good, _)| *good);
        }
        match kind.as_str() {
            "Text"
                if function.name.contains("File")
                    || function.name.contains("Dot")
                    || function.name == "cuModuleLoad" =>
            {
                self.path.as_ptr() as u64
            }
            "Text" => self.good_text.as_ptr() as u64,
            "In<Bytes>" => self.pointers.as_ptr() as u64,
            // The other way to pass arguments.
            "In<u64>" if name == "extra" => 0,
            "Bytes" if name == "image" || name == "data" => self.image.as_ptr() as u64,
            "HostFunction" | "StreamCallback" | "BlockToShared" => callback as *const () as u64,
            "u64" => self.device,
            "usize" => 64,
            "u32" | "i32" if name.starts_with("grid_") || name.starts_with("block_") => 1,
            "i32" | "u32" | "u8" | "u16" | "f32" => 0,
            _ => self.scratch.at(),
        }
    }

    fn bad(&self, (name, kind): &(String, String)) -> Vec<u64> {
        if let Some(object) = self.object(kind) {
            let (good, old) = self.handles.get(object).copied().unwrap_or_default();
            let others = self.handles.values().map(|(good, _)| *good);
            let foreign =
                [0, u64::MAX, old, good ^ 1 << 40, good.wrapping_add(1), self.scratch.at(), self.device];
            return foreign.into_iter().chain(others.filter(|other| *other != good)).collect();
        }
        match kind.as_str() {
            "Text" => std::iter::once(0).chain(self.texts.iter().map(|text| text.as_ptr() as u64)).collect(),
            "HostFunction" | "StreamCallback" | "BlockToShared" => vec![0],
            "In<Bytes>" => vec![0, self.nulls.as_ptr() as u64],
            "u64" => vec![
                0,
                1,
                u64::MAX,
                self.freed,
                self.device - 1,
                self.device + 3,
                self.device + 256,
                self.device + 255,
                1 << 47,
                0xdead_beef_0000,
            ],
            "usize" => vec![0, 1, 3, 257, 1 << 20, 1 << 40, isize::MAX as u64, usize::MAX as u64],
            "u32" => vec![0, 1, 2, 3, 5, 7, 31, 64, 1023, 1025, 1 << 31, u32::MAX.into()],
            "i32" => vec![0, 1, 2, 7, 100, i32::MAX as u64, 1 << 31, u32::MAX.into()],
            "u8" | "u16" | "f32" => vec![0, 0xff],
            // Pointers, including a misaligned one.
            _ => {
                let texts = self.texts.iter().map(|text| text.as_ptr() as u64);
                let texts = texts.filter(|_| name == "image" || name == "data");
                [0, self.scratch.at() + 1, self.scratch.at()].into_iter().chain(texts).collect()
            }
        }
    }

    /// Calls a function and checks that it returns a status of the driver API.
    fn call(&mut self, function: &Function, arguments: &[u64]) -> u32 {
        let mut a = [0; 12];
        a[..arguments.len()].copy_from_slice(arguments);
        let address = self.cuda.function::<Any12>(&function.name);
        // SAFETY: each argument fits a register, and arguments beyond those that a function takes are not looked at
        // (System V ABI).
        let status =
            unsafe { address(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]) };
        let name = &function.name;
        assert!(status < UNKNOWN, "{name}{arguments:x?} answered {status}");
        self.scratch.check(name);
        status
    }

    /// Calls a function in every invalid way.
    fn misuse(&mut self, function: &Function) {
        if !function.supported {
            let status = self.call(function, &[0; 12]);
            assert_eq!(status, NOT_SUPPORTED, "{}", function.name);
            return;
        }
        let good: Vec<u64> =
            function.arguments.iter().map(|argument| self.good(function, argument)).collect();
        let bad: Vec<Vec<u64>> = function.arguments.iter().map(|argument| self.bad(argument)).collect();
        // A kernel's own arguments must be valid; what it does with others is not the call's fault.
        let launches = function.name.starts_with("cuLaunch");
        let fills: &[u8] = if launches { &[0] } else { &[0, 0xff, 1] };
        for fill in fills.iter().copied() {
            for (n, values) in bad.iter().enumerate() {
                for value in values {
                    let mut arguments = good.clone();
                    arguments[n] = *value;
                    self.scratch.fill(fill);
                    self.call(function, &arguments);
                }
            }
        }
        // A large grid is valid; it only takes long.
        if !launches && !bad.is_empty() {
            let mut seed = 0x2545_f491_4f6c_dd1d_u64;
            for _ in 0..ROUNDS {
                let mut pick = |most: usize| {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    (seed % most as u64) as usize
                };
                let arguments: Vec<u64> = bad.iter().map(|values| values[pick(values.len())]).collect();
                self.scratch.fill(0);
                self.call(function, &arguments);
            }
        }
        // The valid call comes last, because it may destroy what the others need.
        self.scratch.fill(0);
        self.call(function, &good);
    }

    /// Passes every bad pointer once with good other arguments, to find invalid accesses.
    fn bad_pointers(&mut self, function: &Function) {
        let good: Vec<u64> =
            function.arguments.iter().map(|argument| self.good(function, argument)).collect();
        for (n, argument) in function.arguments.iter().enumerate() {
            let pointer = matches!(argument.1.as_str(), "Bytes" | "Text" | "u64" | "usize")
                || ["Out<", "In<"].iter().any(|kind| argument.1.starts_with(kind));
            for value in self.bad(argument).into_iter().filter(|_| pointer) {
                let mut arguments = good.clone();
                arguments[n] = value;
                self.scratch.fill(0);
                self.call(function, &arguments);
            }
        }
    }

    /// Makes the calls of a client that carries on.
    fn goes_on(&self) {
        let cuda = self.cuda;
        context(cuda);
        // A capture that has begun forbids what follows.
        for stream in [self.handles["Stream"].0, 2] {
            let mut graph = none();
            call!(cuda, "cuStreamEndCapture", number(stream), to(&mut graph));
        }
        let (_, add) = function(cuda, ADD, "add");
        let (a, out, n) = (buffer(cuda, &[1.25_f32; 40]), buffer(cuda, &[0.0_f32; 41]), 40_u32);
        assert_eq!(launch(cuda, add, 2, 32, &[of(&out), of(&a), of(&a), of(&n)]), SUCCESS);
        let mut expected = vec![2.5_f32; 40];
        expected.push(0.0);
        assert_eq!(contents::<f32>(cuda, out, 41), expected);
    }
}

/// Checks the statuses that the documentation prescribes for the most common mistakes.
fn documented(client: &mut Client) {
    let cuda = client.cuda;
    let (module, old_module) = client.handles["Module"];
    let (function, old_function) = client.handles["Function"];
    let (context, old_context) = client.handles["Context"];
    let device = client.device;
    let zero = [0_u64; 4];
    let arguments: Vec<Any> = zero.iter().map(of).collect();
    let start = |function: u64, grid: [u64; 3], block: [u64; 3], shared: u64, arguments: Any, extra: Any| {
        call!(
            cuda,
            "cuLaunchKernel",
            number(function),
            number(grid[0]),
            number(grid[1]),
            number(grid[2]),
            number(block[0]),
            number(block[1]),
            number(block[2]),
            number(shared),
            none(),
            arguments,
            extra
        )
    };
    let each = arguments.as_ptr() as Any;
    let (one, block) = ([1; 3], [32, 1, 1]);
    let short = 8_usize;
    let short = [number(1), of(&zero), number(2), of(&short), none()];
    let strange = [number(9), of(&zero), none()];
    let misaligned = device + 1;
    let load = |text: &[u8]| {
        let (mut to_, text) = (none(), std::ffi::CString::new(text).unwrap());
        call!(cuda, "cuModuleLoadData", to(&mut to_), text.as_ptr())
    };
    let mut place = 0_u64;
    let table: &[(&str, u32, u32)] = &[
        // No kernel has used the heap yet.
        ("a heap of all memory", call!(cuda, "cuCtxSetLimit", number(2), number(1 << 35)), OUT_OF_MEMORY),
        ("a stack of all memory", call!(cuda, "cuCtxSetLimit", number(0), number(1 << 35)), INVALID_VALUE),
        ("limit 99", call!(cuda, "cuCtxSetLimit", number(99), number(1)), UNSUPPORTED_LIMIT),
        ("a launch", start(function, one, block, 0, each, none()), SUCCESS),
        ("a heap that was used", call!(cuda, "cuCtxSetLimit", number(2), number(1 << 16)), INVALID_VALUE),
        ("no function", start(0, one, block, 0, each, none()), INVALID_HANDLE),
        ("an unloaded function", start(old_function, one, block, 0, each, none()), INVALID_HANDLE),
        ("a module as a function", start(module, one, block, 0, each, none()), INVALID_HANDLE),
        ("no block", start(function, one, [0, 1, 1], 0, each, none()), INVALID_VALUE),
        ("no grid", start(function, [1, 0, 1], block, 0, each, none()), INVALID_VALUE),
        ("1025 threads", start(function, one, [1025, 1, 1], 0, each, none()), INVALID_VALUE),
        ("4096 threads", start(function, one, [64, 64, 1], 0, each, none()), INVALID_VALUE),
        ("a block 65 deep", start(function, one, [1, 1, 65], 0, each, none()), INVALID_VALUE),
        ("2^32 threads", start(function, one, [1 << 16, 1 << 16, 1], 0, each, none()), INVALID_VALUE),
        ("a grid 65536 high", start(function, [1, 1 << 16, 1], block, 0, each, none()), INVALID_VALUE),
        ("much shared memory", start(function, one, block, 1 << 20, each, none()), OUT_OF_RESOURCES),
        ("all shared memory", start(function, one, block, u32::MAX.into(), each, none()), OUT_OF_RESOURCES),
        ("no arguments", start(function, one, block, 0, none(), none()), INVALID_VALUE),
        ("both kinds of arguments", start(function, one, block, 0, each, of(&short)), INVALID_VALUE),
        ("too few bytes", start(function, one, block, 0, none(), of(&short)), INVALID_VALUE),
        ("a strange key", start(function, one, block, 0, none(), of(&strange)), INVALID_VALUE),
        ("free nothing", call!(cuda, "cuMemFree_v2", none()), SUCCESS),
        ("free twice", call!(cuda, "cuMemFree_v2", number(client.freed)), INVALID_VALUE),
        ("free an inside", call!(cuda, "cuMemFree_v2", number(device + 4)), INVALID_VALUE),
        ("free the host's", call!(cuda, "cuMemFree_v2", of(&zero)), INVALID_VALUE),
        (
            "copy too much",
            call!(cuda, "cuMemcpyHtoD_v2", number(device), of(&zero), number(257)),
            INVALID_VALUE,
        ),
        (
            "copy to freed",
            call!(cuda, "cuMemcpyHtoD_v2", number(client.freed), of(&zero), number(4)),
            INVALID_VALUE,
        ),
        (
            "copy from freed",
            call!(cuda, "cuMemcpyDtoH_v2", to(&mut place), number(client.freed), number(4)),
            INVALID_VALUE,
        ),
        (
            "copy anywhere from freed",
            call!(cuda, "cuMemcpy", to(&mut place), number(client.freed), number(4)),
            INVALID_VALUE,
        ),
        ("copy from null", call!(cuda, "cuMemcpyHtoD_v2", number(device), none(), number(4)), INVALID_VALUE),
        (
            "set misaligned",
            call!(cuda, "cuMemsetD32_v2", number(misaligned), number(0), number(1)),
            INVALID_VALUE,
        ),
        ("set too much", call!(cuda, "cuMemsetD32_v2", number(device), number(0), number(65)), INVALID_VALUE),
        ("allocate nothing", call!(cuda, "cuMemAlloc_v2", to(&mut place), number(0)), INVALID_VALUE),
        ("allocate everything", call!(cuda, "cuMemAlloc_v2", to(&mut place), number(1 << 50)), OUT_OF_MEMORY),
        ("broken PTX", load(b".version 7.0\n.target sm_70\n.entry k( { ret; }"), INVALID_PTX),
        ("no PTX", load(b"hello"), INVALID_PTX),
        ("empty PTX", load(b""), INVALID_PTX),
        ("machine code", load(b"\x7fELF\x02\x01"), NO_BINARY),
        ("no UTF-8", load(b".version 7.0\n// \xff\xfe\n"), INVALID_IMAGE),
        ("unload twice", call!(cuda, "cuModuleUnload", number(old_module)), INVALID_HANDLE),
        (
            "unknown kernel",
            call!(cuda, "cuModuleGetFunction", to(&mut place), number(module), client.texts[3].as_ptr()),
            NOT_FOUND,
        ),
        (
            "kernel name not UTF-8",
            call!(cuda, "cuModuleGetFunction", to(&mut place), number(module), client.texts[1].as_ptr()),
            INVALID_VALUE,
        ),
        ("context gone", call!(cuda, "cuCtxSetCurrent", number(old_context)), INVALID_CONTEXT),
        ("context destroyed twice", call!(cuda, "cuCtxDestroy_v2", number(old_context)), INVALID_CONTEXT),
        ("primary context destroyed", call!(cuda, "cuCtxDestroy_v2", number(context)), INVALID_CONTEXT),
        ("device 1", call!(cuda, "cuDeviceGet", to(&mut place), number(1)), INVALID_DEVICE),
    ];
    for (what, found, expected) in table {
        assert_eq!(found, expected, "{what}");
    }
    client.goes_on();
}

/// Runs `body` in a child process and returns how it ended.
fn apart(body: impl FnOnce()) -> Result<(), String> {
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // SAFETY: ends this process when it hangs.
            unsafe { libc::alarm(LIMIT) };
            let fine = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_ok();
            // SAFETY: the process ends without what the parent does at its end.
            unsafe { libc::_exit(if fine { 0 } else { 1 }) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the child is this process's, the status a place of its own.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            if libc::WIFSIGNALED(status) {
                return Err(format!("ended by signal {}", libc::WTERMSIG(status)));
            }
            match libc::WEXITSTATUS(status) {
                0 => Ok(()),
                code => Err(format!("ended with {code}")),
            }
        }
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let functions = all_functions();
    // Some functions write files, whose names are garbage too.
    let folder = std::env::temp_dir().join(format!("strata-garbage-{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::env::set_current_dir(&folder))
        .expect("a folder of its own");
    assert!(functions.len() > 400 && functions.iter().any(|function| function.name == "cuLaunchKernel"));
    let mut failures = Vec::new();
    // Calls before any initialisation.
    let early = apart(|| {
        let cuda = Cuda::load();
        for function in functions.iter().filter(|function| function.supported && function.name != "cuInit") {
            let address = cuda.function::<Any12>(&function.name);
            // SAFETY: as in `Client::call`, with null or nought for every argument.
            let status = unsafe { address(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
            assert!(status < UNKNOWN, "{} before cuInit answered {status}", function.name);
        }
    });
    failures.extend(early.err().map(|what| format!("before cuInit: {what}")));
    // The library is inherited by each child; the device is not.
    let _loaded = Cuda::load();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    let (supported, others): (Vec<_>, Vec<_>) = functions.iter().partition(|function| function.supported);
    let failures = std::cell::RefCell::new(failures);
    let run = |name: &str, body: &mut dyn FnMut(&mut Client)| {
        let client = || Client::new(Cuda::with(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")]));
        if is_wanted(name)
            && let Err(what) = apart(|| body(&mut client()))
        {
            failures.borrow_mut().push(format!("{name}: {what}"));
        }
    };
    run("documented statuses", &mut documented);
    run("a process that was forked", &mut |client| {
        let device = client.device;
        let forked = apart(|| {
            let init = client.cuda.function::<unsafe extern "C" fn(u32) -> u32>("cuInit");
            // SAFETY: the driver API's function.
            assert_eq!(unsafe { init(0) }, NOT_INITIALIZED);
            assert_eq!(call!(client.cuda, "cuMemFree_v2", number(device)), NOT_INITIALIZED);
        });
        assert_eq!(forked, Ok(()));
        client.goes_on();
    });
    if std::env::args().any(|word| word == "--together") {
        // Under valgrind, which starts slowly, everything runs in one process; destructive calls come last.
        let destroys = |function: &&Function| {
            ["Destroy", "Unload", "Free", "Release", "Reset", "Detach", "Pop", "Unregister", "SetCurrent"]
                .iter()
                .any(|word| function.name.contains(word))
        };
        run("all functions together", &mut |client| {
            let (last, first): (Vec<&Function>, Vec<&Function>) =
                supported.iter().copied().partition(destroys);
            first.into_iter().chain(last).for_each(|function| client.bad_pointers(function));
            client.goes_on();
        });
        return end(&functions, &failures.borrow());
    }
    run("what is not supported", &mut |client| others.iter().for_each(|function| client.misuse(function)));
    for function in &supported {
        run(&function.name, &mut |client| {
            client.misuse(function);
            client.goes_on();
        });
    }
    end(&functions, &failures.borrow());
}

fn end(functions: &[Function], failures: &[String]) {
    if let Ok(folder) = std::env::current_dir() {
        std::fs::remove_dir_all(folder).expect("it is a folder of this process");
    }
    for failure in failures {
        eprintln!("{failure}");
    }
    println!("{} functions called with garbage, {} failures", functions.len(), failures.len());
    if !failures.is_empty() {
        std::process::exit(1);
    }
}
