//! Graphs through each version of the runtime API, with the signatures of that version.

#![allow(unsafe_code, reason = "a client of C libraries")]

mod support;

use std::sync::Mutex;

use support::*;

const UPDATE_FAILURE: u32 = 910;
/// `cudaGraphExecUpdateErrorTopologyChanged`.
const TOPOLOGY: u64 = 2;

/// Captures forbid other threads' calls.
fn lock() -> impl Drop {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The result of a call that writes one handle or number.
fn made(call: impl FnOnce(Any) -> u32) -> Any {
    let mut place = none();
    assert_eq!(call(to(&mut place)), SUCCESS);
    place
}

/// A capture of fills of a buffer's first word.
fn captured(runtime: &Runtime, stream: Any, at: u64, values: &[u64]) -> Any {
    assert_eq!(call!(runtime, "cudaStreamBeginCapture", stream, number(0)), SUCCESS);
    for value in values {
        let filled = call!(runtime, "cudaMemsetAsync", number(at), number(*value), number(4), stream);
        assert_eq!(filled, SUCCESS);
    }
    made(|to| call!(runtime, "cudaStreamEndCapture", stream, to))
}

fn instantiate(runtime: &Runtime, graph: Any) -> Any {
    if runtime.version == 11 {
        let (mut node, mut log) = (of(&0), [1_u8; 8]);
        let made = made(|to_| {
            call!(runtime, "cudaGraphInstantiate", to_, graph, to(&mut node), log.as_mut_ptr(), number(8))
        });
        assert_eq!((node, log[0]), (none(), 0), "nothing is wrong");
        return made;
    }
    made(|to| call!(runtime, "cudaGraphInstantiate", to, graph, number(0)))
}

/// The result of an update and why.
fn update(runtime: &Runtime, executable: Any, graph: Any) -> (u32, u64) {
    if runtime.version == 11 {
        let (mut node, mut why) = (none(), 9_u32);
        let done = call!(runtime, "cudaGraphExecUpdate", executable, graph, to(&mut node), to(&mut why));
        return (done, why.into());
    }
    let mut info = [9_u64; 3];
    (call!(runtime, "cudaGraphExecUpdate", executable, graph, info.as_mut_ptr()), info[0])
}

#[test]
fn graphs_are_captured_launched_and_updated() {
    for runtime in runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")]) {
        let _guard = lock();
        let at = runtime.buffer(&[7_u32]);
        let word = || runtime.contents::<u32>(at, 1)[0];
        let stream = made(|to| call!(runtime, "cudaStreamCreate", to));
        let graph = captured(runtime, stream, at, &[0, 1]);
        assert_eq!(word(), 7, "a capture does nothing");
        let executable = instantiate(runtime, graph);
        assert_eq!(call!(runtime, "cudaGraphLaunch", executable, stream), SUCCESS);
        assert_eq!(word(), 0x0101_0101);
        let other = captured(runtime, stream, at, &[0, 2]);
        assert_eq!(update(runtime, executable, other), (SUCCESS, 0));
        assert_eq!(call!(runtime, "cudaGraphLaunch", executable, none()), SUCCESS);
        assert_eq!(word(), 0x0202_0202);
        let longer = captured(runtime, stream, at, &[0, 2, 3]);
        assert_eq!(update(runtime, executable, longer), (UPDATE_FAILURE, TOPOLOGY));
        assert_eq!(call!(runtime, "cudaGetLastError"), UPDATE_FAILURE);

        // Edges have data from 13 on.
        let (mut from, mut to_, mut data, mut count) = ([none(); 4], [none(); 4], [1_u64; 4], 4_usize);
        let (from_at, to_at) = (from.as_mut_ptr(), to_.as_mut_ptr());
        let edges = match runtime.version {
            13 => {
                call!(runtime, "cudaGraphGetEdges", longer, from_at, to_at, data.as_mut_ptr(), to(&mut count))
            }
            _ => call!(runtime, "cudaGraphGetEdges", longer, from_at, to_at, to(&mut count)),
        };
        assert_eq!((edges, count, to_[0]), (SUCCESS, 2, from[1]), "one after the other");
        assert_eq!(data[0], if runtime.version == 13 { 0 } else { 1 });

        // A capture's status and number: alone before 13, with all else from then on.
        assert_eq!(call!(runtime, "cudaStreamBeginCapture", stream, number(2)), SUCCESS);
        let (mut status, mut id) = (9_u32, 0_u64);
        let asked = match runtime.version {
            13 => call!(
                runtime,
                "cudaStreamGetCaptureInfo",
                stream,
                to(&mut status),
                to(&mut id),
                none(),
                none(),
                none(),
                none()
            ),
            _ => call!(runtime, "cudaStreamGetCaptureInfo", stream, to(&mut status), to(&mut id)),
        };
        assert_eq!((asked, status), (SUCCESS, 1));
        assert!(id > 0);
        made(|to| call!(runtime, "cudaStreamEndCapture", stream, to));
    }
}

#[test]
fn the_null_stream_of_per_thread_functions_is_the_threads() {
    for runtime in runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")]) {
        let _guard = lock();
        let at = runtime.buffer(&[7_u32]);
        assert_eq!(call!(runtime, "cudaStreamBeginCapture_ptsz", none(), number(2)), SUCCESS);
        let filled = call!(runtime, "cudaMemsetAsync_ptsz", number(at), number(1), number(4), none());
        assert_eq!(filled, SUCCESS);
        let graph = made(|to| call!(runtime, "cudaStreamEndCapture_ptsz", none(), to));
        assert_eq!(runtime.contents::<u32>(at, 1), [7], "nothing is filled yet");
        let nodes = made(|to| call!(runtime, "cudaGraphGetNodes", graph, none(), to));
        assert_eq!(nodes as usize, 1);
    }
}

#[test]
fn nodes_say_what_they_do_in_the_runtimes_terms() {
    for runtime in runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")]) {
        let _guard = lock();
        let (kernel, packed) = (shadow(), Vec::leak(container(&[entry(1, 70, SCALE, Packing::Raw)])));
        let binary = runtime.register(Box::leak(Box::new(Wrapper::of(packed))));
        runtime.register_function(binary, kernel, c"mul");
        let (out, a, n) = (runtime.buffer(&[0.0_f32; 4]), runtime.buffer(&[1.0_f32; 4]), 4_u32);
        let arguments = [of(&out), of(&a), of(&n)];
        let graph = made(|to| call!(runtime, "cudaGraphCreate", to, number(0)));
        // `cudaGraphNodeParams`: a type, three reserved words, a union, and a reserved word.
        let get = |node: Any| {
            let mut found = [0xee_u64; 33];
            assert_eq!(call!(runtime, "cudaGraphNodeGetParams", node, found.as_mut_ptr()), SUCCESS);
            assert_eq!(found[32], 0xee);
            found
        };
        // A kernel's: function, grid and block, shared memory, arguments.
        let launch = [
            kernel as u64,
            1 << 32 | 2,
            32 << 32 | 1,
            1 << 32 | 1,
            0,
            arguments.as_ptr().expose_provenance() as u64,
            0,
        ];
        let node =
            made(|to| call!(runtime, "cudaGraphAddKernelNode", to, graph, none(), number(0), of(&launch)));
        let found = get(node);
        assert_eq!((found[0], &found[2..7], found[10]), (0, &launch[..5], 1), "by its host function");
        // What it says makes another node.
        assert_eq!(call!(runtime, "cudaGraphNodeSetParams", node, of(&found)), SUCCESS);
        assert_eq!(get(node)[2..7], launch[..5]);

        // A copy of two rows of three bytes.
        let zero = Extent { width: 0, height: 0, depth: 0 };
        let rows = |start: u64| Pitched { start, pitch: 8, width: 3, height: 2 };
        let what = Copy3D {
            from_array: 0,
            from_at: Extent { width: 1, ..zero },
            from: rows(a),
            to_array: 0,
            to_at: zero,
            to: rows(out),
            extent: Extent { width: 3, height: 2, depth: 1 },
            kind: 3,
        };
        let copy =
            made(|to| call!(runtime, "cudaGraphAddMemcpyNode", to, graph, none(), number(0), of(&what)));
        let found = get(copy);
        let words: Vec<u64> =
            [1, 0, 0, 0, 0, 1, 0, 0, a, 8, 3, 2, 0, 0, 0, 0, out, 8, 3, 2, 3, 2, 1, 3].into();
        assert_eq!(found[..24], words);
        assert_eq!(found[24..32], [0; 8]);
        assert_eq!(call!(runtime, "cudaGraphNodeSetParams", copy, of(&found)), SUCCESS);

        // A fill of one element of four bytes.
        let fill = [out, 0, 4 << 32 | 7, 1, 1];
        let fill =
            made(|to| call!(runtime, "cudaGraphAddMemsetNode", to, graph, none(), number(0), of(&fill)));
        let found = get(fill);
        assert_eq!((found[0], found[2], found[4], found[5]), (2, out, 4 << 32 | 7, 1));
        assert_eq!(call!(runtime, "cudaGraphNodeGetParams", fill, none()), INVALID_VALUE);
        call!(runtime, "cudaGraphDestroy", graph);
    }
}
