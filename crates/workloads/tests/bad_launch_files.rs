//! Launch files that are refused, each with its whole message.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect;
use strata_workloads::launch_file;

/// A file that is right. Each case replaces one piece of it.
const GOOD: &str = r#"module = "k.ptx"

[[buffer]]
name = "a"
type = "i32"
count = 4
contents = "zeros"

[[buffer]]
name = "b"
type = "f32"
count = 4
contents = { constant = 1 }

[[launch]]
kernel = "k"
grid = [1]
block = [32]
arguments = [{ buffer = "a" }, { i32 = 5 }]

[[check]]
buffer = "b"
expected = "zeros"
relative = 1e-6
"#;

/// What to replace, and by what.
const CASES: &[(&str, &str)] = &[
    ("module = \"k.ptx\"", ""),
    ("module = \"k.ptx\"", "module = \"k.ptx"),
    ("module = \"k.ptx\"", "module = 5"),
    ("module = \"k.ptx\"", "module = \"absent.ptx\""),
    ("module = \"k.ptx\"", "module = \".\""),
    ("module = \"k.ptx\"", "module = \"short.bin\""),
    ("module = \"k.ptx\"", "module = \"k.ptx\"\nmoduel = \"k.ptx\""),
    ("name = \"a\"", ""),
    ("name = \"a\"", "name = \"\""),
    ("name = \"b\"", "name = \"a\""),
    ("type = \"i32\"", "type = \"int\""),
    ("type = \"i32\"", "type = \"i32\"\nsize = 4"),
    ("count = 4", "count = 0"),
    ("count = 4", "count = -1"),
    ("count = 4", "count = 2.5"),
    ("count = 4", "count = 99_999_999_999_999_999_999_999_999_999_999_999_999_999"),
    ("count = 4", "count = 2_000_000_000"),
    ("count = 4", "count = \"4\""),
    ("\"zeros\"", "\"random\""),
    ("\"zeros\"", "[1, 2]"),
    ("\"zeros\"", "{ constant = 1, ramp = { start = 0, step = 1 } }"),
    ("\"zeros\"", "{ constant = 1.5 }"),
    ("\"zeros\"", "{ constant = 2147483648 }"),
    ("\"zeros\"", "{ ramp = { start = 0 } }"),
    ("\"zeros\"", "{ ramp = { start = 2147483640, step = 3 } }"),
    ("\"zeros\"", "{ ramp = { start = 0, step = 0.5 } }"),
    ("\"zeros\"", "{ uniform = { seed = 1, low = 5, high = 4 } }"),
    ("\"zeros\"", "{ uniform = { seed = -1, low = 5, high = 6 } }"),
    ("\"zeros\"", "{ uniform = { sed = 1, low = 5, high = 6 } }"),
    ("\"zeros\"", "{ file = \"short.bin\" }"),
    ("\"zeros\"", "{ file = \"absent.bin\" }"),
    ("\"zeros\"", "{ values = [1, 2, 3] }"),
    ("\"zeros\"", "{ values = [1, 2, 3, 2147483648] }"),
    ("\"zeros\"", "{ values = [1, 2.5, 3, 4] }"),
    ("\"zeros\"", "{ values = [1, [2], 3, 4] }"),
    ("\"zeros\"", "{ values = [] }"),
    ("\"zeros\"", "{ values = 5 }"),
    ("count = 4\ncontents = \"zeros\"", "contents = { values = [] }"),
    ("count = 4\ncontents = \"zeros\"", "contents = { values = [1], constant = 1 }"),
    ("count = 4\ncontents = \"zeros\"", "contents = { values = [1e0] }"),
    ("count = 4\ncontents = \"zeros\"", "contents = { constant = 1 }"),
    ("{ constant = 1 }", "{ values = [1, 2, 1e39, 4] }"),
    ("expected = \"zeros\"", "expected = { values = [0, 0, 0] }"),
    ("expected = \"zeros\"", "count = 2\nexpected = { values = [0, 0, 0] }"),
    ("{ constant = 1 }", "{ constant = 1e39 }"),
    ("{ constant = 1 }", "{ constant = 1e400 }"),
    ("{ constant = 1 }", "{ uniform = { seed = 1, low = 0, high = inf } }"),
    ("kernel = \"k\"", "kernel = \"K\""),
    ("kernel = \"k\"", ""),
    ("grid = [1]", "grid = []"),
    ("grid = [1]", "grid = 1"),
    ("grid = [1]", "grid = [1, 65536]"),
    ("block = [32]", "block = [32, 0]"),
    ("block = [32]", "block = [64, 32]"),
    ("block = [32]", "block = [1, 1, 1, 1]"),
    ("block = [32]", "block = [32]\ndynamic_shared_bytes = 232449"),
    ("block = [32]", "block = [32]\nrepeat = 0"),
    ("block = [32]", "cpu_threads = 1"),
    ("grid = [1]\nblock = [32]", "cpu_threads = 0"),
    ("{ buffer = \"a\" }", "{ buffer = \"c\" }"),
    ("{ buffer = \"a\" }", "{ buffer = \"a\", byte_offset = 17 }"),
    ("{ buffer = \"a\" }", "{ buffer = \"a\", offset = 1 }"),
    ("{ buffer = \"a\" }", "\"a\""),
    ("{ i32 = 5 }", "{ int = 5 }"),
    ("{ i32 = 5 }", "{ u8 = 256 }"),
    ("{ i32 = 5 }", "{ i32 = 5, u32 = 5 }"),
    ("{ i32 = 5 }", "{ f32 = 1e-41 }"),
    ("{ i32 = 5 }", "{ u64 = 5 }"),
    ("{ i32 = 5 }", "{ buffer = \"b\" }"),
    ("{ i32 = 5 }", "{ i32 = 5 }, { i32 = 6 }"),
    ("{ buffer = \"a\" }", "{ f64 = 0.5 }"),
    ("kernel = \"k\"", "kernel = \"bits\""),
    ("kernel = \"k\"", "kernel = \"none\""),
    ("kernel = \"k\"", "kernel = \"block\""),
    ("arguments = [{ buffer = \"a\" }, { i32 = 5 }]", ""),
    ("buffer = \"b\"", "buffer = 1"),
    ("buffer = \"b\"", "buffer = \"a\""),
    ("expected = \"zeros\"\n", ""),
    ("relative = 1e-6", "relative = -1"),
    ("relative = 1e-6", "absolute = nan"),
    ("[[launch]]", "[launch]"),
    ("[[check]]", "[[checks]]"),
    ("name = \"a\"", "name = \"a\"\nvariable = 1"),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = { buffer = \"a\" }"),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = [{ buffer = \"c\", fill = 0 }]"),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = [{ buffer = \"a\", byte_offset = 17, fill = 0 }]"),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = [{ buffer = \"a\" }]"),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = [{ buffer = \"a\", fill = 256 }]"),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = [{ buffer = \"a\", byte_offset = 8, bytes = 9, fill = 0 }]"),
    (
        "kernel = \"k\"",
        "kernel = \"k\"\nbefore = [{ buffer = \"a\", byte_offset = 8, file = \"short.bin\" }]",
    ),
    ("kernel = \"k\"", "kernel = \"k\"\nbefore = [{ buffer = \"a\", fill = 0, file = \"short.bin\" }]"),
    ("relative = 1e-6", "relative = 1e-6\nbounds = \"bounds.bin\""),
    ("buffer = \"b\"", "buffer = \"b\"\ntype = \"f16\""),
    ("buffer = \"b\"", "buffer = \"b\"\nbyte_offset = 16"),
    ("buffer = \"b\"", "buffer = \"b\"\nbyte_offset = 4\ncount = 4"),
    ("relative = 1e-6", "bounds = \"short.bin\""),
    ("relative = 1e-6", "bounds = \"negative.bin\""),
    ("relative = 1e-6", "# Grüße\ngrüße = 1"),
];

#[test]
fn every_refusal_says_where_what_and_what_else() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad");
    std::fs::create_dir_all(&folder).unwrap();
    let ptx = ".version 8.0\n.visible .entry k(.param .u64 a, .param .u32 n)\n{ ret; }\n\
               .entry bits(.param .f64 x, .param .b32 n)\n{ ret; }\n.entry none()\n{ ret; }\n\
               .entry block(.param .u64 a, .param .align 4 .b8 s[12])\n{ ret; }\n";
    std::fs::write(folder.join("k.ptx"), ptx).unwrap();
    std::fs::write(folder.join("short.bin"), [0; 15]).unwrap();
    let bounds: Vec<u8> = [0.5_f64, 1.0, f64::INFINITY, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join("negative.bin"), &bounds).unwrap();
    std::fs::write(folder.join("bounds.bin"), [&bounds[..24], &[0; 8]].concat()).unwrap();
    let path = folder.join("l.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        launch_file::read(&path)
            .map_err(|error| error.to_string().replace(&path.display().to_string(), "l.toml"))
    };

    assert!(read(GOOD).is_ok());
    let mut messages = String::new();
    for (from, to) in CASES {
        assert!(GOOD.contains(from), "{from}");
        match read(&GOOD.replacen(from, to, 1)) {
            Ok(_) => writeln!(messages, "ACCEPTED {to}").unwrap(),
            Err(message) => writeln!(messages, "{message}").unwrap(),
        }
    }
    expect![[r#"
        l.toml:1:1: `module`: found nothing, expected the path of a PTX file
        l.toml:1:16: invalid basic string, expected `"`
        l.toml:1:10: `module`: found 5, expected the path of a PTX file
        l.toml:1:10: `module`: found "absent.ptx" (No such file or directory (os error 2)), expected a readable file
        l.toml:1:10: `module`: found ".", which is not a regular file, expected a readable file
        l.toml:1:10: `module`: found a file without a kernel, expected a PTX file with at least one `.entry`
        l.toml:2:1: `moduel`: found an unknown key, expected one of name, module, buffer, launch, check
        l.toml:3:1: `buffer[0].name`: found nothing, expected a name
        l.toml:4:8: `buffer[0].name`: found "", expected a name of 1 to 256 characters
        l.toml:10:8: `buffer[1].name`: found "a" again, expected a name that no other buffer has
        l.toml:5:8: `buffer[0].type`: found "int", expected one of u8, i8, u16, i16, u32, i32, u64, i64, f32, f64
        l.toml:6:1: `buffer[0].size`: found an unknown key, expected one of name, variable, unordered, type, count, contents
        l.toml:6:9: `buffer[0].count`: found 0, expected an integer from 1 to 1073741824
        l.toml:6:9: `buffer[0].count`: found -1, expected an integer from 1 to 1073741824
        l.toml:6:9: `buffer[0].count`: found 2.5, expected an integer from 1 to 1073741824
        l.toml:6:9: `buffer[0].count`: found 99999999999999999999999999999999999999999, expected an integer from 1 to 1073741824
        l.toml:6:9: `buffer[0].count`: found 2000000000, expected an integer from 1 to 1073741824
        l.toml:6:9: `buffer[0].count`: found "4", expected an integer from 1 to 1073741824
        l.toml:7:12: `buffer[0].contents`: found "random", expected "zeros" or a table with one of constant, ramp, uniform, values, file
        l.toml:7:12: `buffer[0].contents`: found an array of 2, expected "zeros" or a table with one of constant, ramp, uniform, values, file
        l.toml:7:12: `buffer[0].contents`: found a table with 2 keys, expected "zeros" or a table with one of constant, ramp, uniform, values, file
        l.toml:7:25: `buffer[0].contents.constant`: found 1.5, expected an integer from -2147483648 to 2147483647
        l.toml:7:25: `buffer[0].contents.constant`: found 2147483648, expected an integer from -2147483648 to 2147483647
        l.toml:7:21: `buffer[0].contents.ramp.step`: found nothing, expected a number
        l.toml:7:21: `buffer[0].contents.ramp`: found a last element of 2147483649, expected an integer from -2147483648 to 2147483647
        l.toml:7:41: `buffer[0].contents.ramp.step`: found 0.5, expected an integer of at most 64 bits
        l.toml:7:52: `buffer[0].contents.uniform.high`: found 4, expected at least `low`, which is 5
        l.toml:7:33: `buffer[0].contents.uniform.seed`: found -1, expected an integer from 0 to 18446744073709551615
        l.toml:7:26: `buffer[0].contents.uniform.sed`: found an unknown key, expected one of seed, low, high
        l.toml:7:21: `buffer[0].contents.file`: found a file of 15 bytes, expected 16 bytes: 4 elements of i32
        l.toml:7:21: `buffer[0].contents.file`: found "absent.bin" (No such file or directory (os error 2)), expected a readable file
        l.toml:7:23: `buffer[0].contents.values`: found 3 values, expected 4: elements of i32
        l.toml:7:33: `buffer[0].contents.values[3]`: found 2147483648, expected an integer from -2147483648 to 2147483647
        l.toml:7:27: `buffer[0].contents.values[1]`: found 2.5, expected an integer from -2147483648 to 2147483647
        l.toml:7:27: `buffer[0].contents.values[1]`: found an array of 1, expected an integer from -2147483648 to 2147483647
        l.toml:7:23: `buffer[0].contents.values`: found an array of 0, expected an array of 1 to 65536 values
        l.toml:7:23: `buffer[0].contents.values`: found 5, expected an array of 1 to 65536 values
        l.toml:6:23: `buffer[0].contents.values`: found an array of 0, expected an array of 1 to 65536 values
        l.toml:6:12: `buffer[0].contents`: found a table with 2 keys, expected "zeros" or a table with one of constant, ramp, uniform, values, file
        l.toml:6:24: `buffer[0].contents.values[0]`: found 1e0, expected an integer from -2147483648 to 2147483647
        l.toml:3:1: `buffer[0].count`: found nothing, expected a number of elements
        l.toml:13:30: `buffer[1].contents.values[2]`: found 1e39, expected a number that f32 holds
        l.toml:23:23: `check[0].expected.values`: found 3 values, expected 4: elements of f32
        l.toml:24:23: `check[0].expected.values`: found 3 values, expected 2: elements of f32
        l.toml:13:25: `buffer[1].contents.constant`: found 1e39, expected a number that f32 holds
        l.toml:13:25: `buffer[1].contents.constant`: found 1e400, expected a number that f32 holds
        l.toml:13:52: `buffer[1].contents.uniform.high`: found inf, expected a finite number
        l.toml:16:10: `launch[0].kernel`: found "K", expected a kernel of the module: k, bits, none, block
        l.toml:15:1: `launch[0].kernel`: found nothing, expected a kernel of the module: k, bits, none, block
        l.toml:17:8: `launch[0].grid`: found an array of 0, expected an array of 1 to 3 CTA counts
        l.toml:17:8: `launch[0].grid`: found 1, expected an array of 1 to 3 CTA counts
        l.toml:17:12: `launch[0].grid[1]`: found 65536, expected an integer from 1 to 65535
        l.toml:18:14: `launch[0].block[1]`: found 0, expected an integer from 1 to 1024
        l.toml:18:9: `launch[0].block`: found 2048 threads, expected at most 1024 threads
        l.toml:18:9: `launch[0].block`: found an array of 4, expected an array of 1 to 3 thread counts
        l.toml:19:24: `launch[0].dynamic_shared_bytes`: found 232449, expected an integer from 0 to 232448
        l.toml:19:10: `launch[0].repeat`: found 0, expected an integer from 1 to 1000000
        l.toml:17:8: `launch[0].grid`: found both it and `cpu_threads`, expected one of them
        l.toml:17:15: `launch[0].cpu_threads`: found 0, expected an integer from 1 to 2147483647
        l.toml:19:25: `launch[0].arguments[0].buffer`: found "c", expected the name of a buffer: a, b
        l.toml:19:44: `launch[0].arguments[0].byte_offset`: found 17, expected an integer from 0 to 16
        l.toml:19:30: `launch[0].arguments[0].offset`: found an unknown key, expected one of buffer, byte_offset
        l.toml:19:14: `launch[0].arguments[0]`: found "a", expected a table with one of buffer, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64
        l.toml:19:32: `launch[0].arguments[1]`: found "int", expected a table with one of buffer, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64
        l.toml:19:39: `launch[0].arguments[1].u8`: found 256, expected an integer from 0 to 255
        l.toml:19:32: `launch[0].arguments[1]`: found a table with 2 keys, expected a table with one of buffer, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64
        l.toml:19:40: `launch[0].arguments[1].f32`: found f32, expected u32 or i32: parameter `n` is .u32
        l.toml:19:40: `launch[0].arguments[1].u64`: found u64, expected u32 or i32: parameter `n` is .u32
        l.toml:19:32: `launch[0].arguments[1]`: found the address of a buffer, expected u32 or i32: parameter `n` is .u32
        l.toml:19:13: `launch[0].arguments`: found 3 arguments, expected 2, for the parameters `a` (.u64), `n` (.u32)
        l.toml:19:22: `launch[0].arguments[0].f64`: found f64, expected buffer or u64 or i64: parameter `a` is .u64
        l.toml:19:14: `launch[0].arguments[0]`: found the address of a buffer, expected f64: parameter `x` is .f64
        l.toml:19:13: `launch[0].arguments`: found 2 arguments, expected none: the kernel has no parameters
        l.toml:19:40: `launch[0].arguments[1].i32`: found i32, expected an argument of 12 bytes, which no type has: parameter `s` is .b8[12]
        l.toml:15:1: `launch[0].arguments`: found nothing, expected 2, for the parameters `a` (.u64), `n` (.u32)
        l.toml:22:10: `check[0].buffer`: found 1, expected the name of a buffer: a, b
        l.toml:24:12: `check[0].relative`: found a tolerance for elements of i32, expected none: they are exact
        l.toml:23:12: `check[0].relative`: found a tolerance without `expected`, expected something to compare with
        l.toml:24:12: `check[0].relative`: found -1, expected a number that is not negative
        l.toml:24:12: `check[0].absolute`: found nan, expected a number that is not negative
        l.toml:15:1: `launch`: found a table, expected an array of 0 to 65536 [[launch]] tables
        l.toml:21:3: `checks`: found an unknown key, expected one of name, module, buffer, launch, check
        l.toml:5:12: `buffer[0].variable`: found 1, expected true or false
        l.toml:17:10: `launch[0].before`: found a table, expected an array of 0 to 1024 writes
        l.toml:17:22: `launch[0].before[0].buffer`: found "c", expected the name of a buffer: a, b
        l.toml:17:41: `launch[0].before[0].byte_offset`: found 17, expected an integer from 0 to 16
        l.toml:17:11: `launch[0].before[0].fill`: found nothing, expected a byte, or `file` with bytes
        l.toml:17:34: `launch[0].before[0].fill`: found 256, expected an integer from 0 to 255
        l.toml:17:52: `launch[0].before[0].bytes`: found 9, expected an integer from 0 to 8
        l.toml:17:51: `launch[0].before[0].file`: found a file of 15 bytes, expected at most the 8 bytes that follow in the buffer
        l.toml:17:34: `launch[0].before[0].fill`: found both it and `file`, expected one of them
        l.toml:25:10: `check[0].bounds`: found both it and `absolute` or `relative`, expected one of them
        l.toml:23:8: `check[0].type`: found "f16", expected one of u8, i8, u16, i16, u32, i32, u64, i64, f32, f64
        l.toml:21:1: `check[0].count`: found nothing, expected a part of the buffer with at least one element
        l.toml:24:9: `check[0].count`: found 4, expected an integer from 1 to 3
        l.toml:24:10: `check[0].bounds`: found a file of 15 bytes, expected 32 bytes: 4 elements of f64
        l.toml:24:10: `check[0].bounds`: found -1 at index 3, expected bounds of at least 0
        l.toml:25:3: invalid unquoted key, expected letters, numbers, `-`, `_`
    "#]].assert_eq(&messages);
}

#[test]
fn a_launch_file_that_cannot_be_read_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unreadable");
    std::fs::create_dir_all(&folder).unwrap();
    let message = |path: &Path| launch_file::read(path).unwrap_err().to_string();

    assert!(
        message(&folder.join("absent.toml")).ends_with("absent.toml: No such file or directory (os error 2)")
    );
    assert!(message(&folder).ends_with("not a regular file"));
    let path = folder.join("binary.toml");
    std::fs::write(&path, b"name = \"k\"\n# \xff\xfe").unwrap();
    assert!(message(&path).ends_with("binary.toml:2:3: byte 0xff is not UTF-8"));
    let path = folder.join("long.toml");
    std::fs::File::create(&path).unwrap().set_len(launch_file::limits::FILE_BYTES + 1).unwrap();
    assert!(message(&path).ends_with("8388609 bytes long, at most 8388608 expected"));
}

/// A refusal stays short however long what is refused.
#[test]
fn long_keys_numbers_and_lists_are_cut_short() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("long");
    std::fs::create_dir_all(&folder).unwrap();
    let kernels: String = (0..1000).map(|n| format!(".entry k{n}()\n")).collect();
    std::fs::write(folder.join("k.ptx"), kernels).unwrap();
    let path = folder.join("l.toml");
    let long = "9".repeat(10_000);
    let buffer = |rest: &str| {
        format!("module = \"k.ptx\"\n[[buffer]]\nname = \"a\"\ntype = \"f64\"\ncount = 1\n{rest}\n")
    };
    for text in [
        format!("k{long} = 1"),
        format!("module = \"{long}\""),
        format!("module = {long}"),
        buffer(&format!("contents = {{ k{long} = 1 }}")),
        buffer(&format!("contents = {{ constant = 1e{long} }}")),
        buffer(&format!("contents = {{ ramp = {{ k{long} = 1 }} }}")),
        buffer("[[launch]]\nkernel = \"a\""),
    ] {
        std::fs::write(&path, &text).unwrap();
        let message =
            launch_file::read(&path).unwrap_err().to_string().replace(&path.display().to_string(), "");
        assert!(message.len() < 400, "{message}");
        assert!(message.contains("...") || message.contains(" and 968 more"), "{message}");
    }
}

/// No cut of a right file and no change of one byte panics.
#[test]
fn damaged_files_do_not_panic() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("damaged");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("k.ptx"), ".entry k(.param .u64 a, .param .u32 n)").unwrap();
    let path = folder.join("l.toml");
    for at in 0..GOOD.len() {
        std::fs::write(&path, &GOOD[..at]).unwrap();
        let _ = launch_file::read(&path);
        for replacement in [b'[', b'"', b'9', b'\n'] {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes[at] = replacement;
            std::fs::write(&path, bytes).unwrap();
            let _ = launch_file::read(&path);
        }
    }
}
