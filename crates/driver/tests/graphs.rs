//! Graphs made by hand and captured from streams: what they do, and when.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use std::sync::Mutex;

use support::*;

const CAPTURE_UNSUPPORTED: u32 = 900;
const CAPTURE_INVALIDATED: u32 = 901;
const CAPTURE_MERGE: u32 = 902;
const CAPTURE_UNMATCHED: u32 = 903;
const CAPTURE_UNJOINED: u32 = 904;
const CAPTURE_ISOLATION: u32 = 905;
const CAPTURE_IMPLICIT: u32 = 906;
const CAPTURED_EVENT: u32 = 907;
const UPDATE_FAILURE: u32 = 910;

/// Captures forbid calls of other threads, and each test has its thread.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn cuda() -> (&'static Cuda, impl Drop) {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let cuda = Cuda::with(&[("STRATA_MODE", "functional")]);
    context(cuda);
    (cuda, guard)
}

/// The result of a call that writes one number or handle.
fn made(call: impl FnOnce(Any) -> u32) -> Any {
    let mut place = none();
    assert_eq!(call(to(&mut place)), SUCCESS);
    place
}

fn stream(cuda: &Cuda) -> Any {
    made(|to| call!(cuda, "cuStreamCreate", to, number(0)))
}

fn event(cuda: &Cuda) -> Any {
    made(|to| call!(cuda, "cuEventCreate", to, number(0)))
}

fn begin(cuda: &Cuda, stream: Any) {
    assert_eq!(call!(cuda, "cuStreamBeginCapture_v2", stream, number(0)), SUCCESS);
}

fn end(cuda: &Cuda, stream: Any) -> Any {
    made(|to| call!(cuda, "cuStreamEndCapture", stream, to))
}

fn instantiate(cuda: &Cuda, graph: Any) -> Any {
    made(|to| call!(cuda, "cuGraphInstantiateWithFlags", to, graph, number(0)))
}

fn run(cuda: &Cuda, executable: Any) {
    assert_eq!(call!(cuda, "cuGraphLaunch", executable, number(0)), SUCCESS);
}

fn count_nodes(cuda: &Cuda, graph: Any) -> usize {
    made(|to| call!(cuda, "cuGraphGetNodes", graph, none(), to)) as usize
}

fn nodes(cuda: &Cuda, graph: Any) -> Vec<Any> {
    let mut count = count_nodes(cuda, graph);
    let mut nodes = vec![none(); count];
    assert_eq!(call!(cuda, "cuGraphGetNodes", graph, nodes.as_mut_ptr(), to(&mut count)), SUCCESS);
    nodes
}

/// Launches `out = a + b` for `n` elements in a stream.
fn add(cuda: &Cuda, function: Any, stream: Any, [out, a, b]: [u64; 3], n: u32) -> u32 {
    let arguments = [of(&out), of(&a), of(&b), of(&n)];
    let one = number(1);
    call!(
        cuda,
        "cuLaunchKernel",
        function,
        one,
        one,
        one,
        number(32),
        one,
        one,
        number(0),
        stream,
        arguments.as_ptr(),
        none()
    )
}

fn buffers(cuda: &Cuda) -> [u64; 3] {
    [buffer(cuda, &[0.0_f32; 32]), buffer(cuda, &[1.0_f32; 32]), buffer(cuda, &[2.0_f32; 32])]
}

fn first(cuda: &Cuda, address: u64) -> f32 {
    contents::<f32>(cuda, address, 32)[31]
}

fn fill(cuda: &Cuda, address: u64, value: f32) {
    let bits = u64::from(value.to_bits());
    assert_eq!(call!(cuda, "cuMemsetD32_v2", number(address), number(bits), number(32)), SUCCESS);
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
struct KernelNode(Any, [u32; 7], *const Any, Any, Any, Any);

fn kernel_node(function: Any, arguments: &[Any]) -> KernelNode {
    KernelNode(function, [1, 1, 1, 32, 1, 1, 0], arguments.as_ptr(), none(), none(), none())
}

#[test]
fn a_captured_graph_runs_nothing_before_it_is_launched_and_then_with_the_bytes_of_that_time() {
    let (cuda, _guard) = cuda();
    let (_, function) = function(cuda, ADD, "add");
    let [out, a, b] = buffers(cuda);
    let mut host = [0.0_f32; 32];
    let stream = stream(cuda);
    begin(cuda, stream);
    assert_eq!(add(cuda, function, stream, [out, a, b], 32), SUCCESS);
    let copied = call!(cuda, "cuMemcpyDtoHAsync_v2", host.as_mut_ptr(), number(out), number(128), stream);
    assert_eq!(copied, SUCCESS);
    let graph = end(cuda, stream);
    assert_eq!((first(cuda, out), host[31]), (0.0, 0.0), "a capture does nothing");
    let executable = instantiate(cuda, graph);
    assert_eq!(first(cuda, out), 0.0, "an instantiation does nothing");
    fill(cuda, a, 40.0);
    run(cuda, executable);
    assert_eq!((first(cuda, out), host[31]), (42.0, 42.0), "inputs changed in between");
    fill(cuda, b, 5.0);
    run(cuda, executable);
    assert_eq!(host[31], 45.0);
    assert_eq!(call!(cuda, "cuGraphDestroy", graph), SUCCESS);
    fill(cuda, a, 1.0);
    run(cuda, executable);
    assert_eq!(host[31], 6.0, "an executable graph outlives its graph");
    assert_eq!(call!(cuda, "cuGraphExecDestroy", executable), SUCCESS);
    assert_eq!(call!(cuda, "cuGraphLaunch", executable, number(0)), INVALID_VALUE);
}

#[test]
fn a_fork_and_join_through_events_makes_the_edges_of_the_graph() {
    let (cuda, _guard) = cuda();
    let (_, function) = function(cuda, ADD, "add");
    let [out, a, b] = buffers(cuda);
    let (one, two) = (stream(cuda), stream(cuda));
    let (fork, join) = (event(cuda), event(cuda));
    begin(cuda, one);
    assert_eq!(add(cuda, function, one, [a, a, b], 32), SUCCESS);
    assert_eq!(call!(cuda, "cuEventRecord", fork, one), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", two, fork, number(0)), SUCCESS);
    assert_eq!(made(|to| call!(cuda, "cuStreamIsCapturing", two, to)) as u32, 1);
    assert_eq!(add(cuda, function, one, [a, a, b], 32), SUCCESS);
    assert_eq!(add(cuda, function, two, [b, b, b], 32), SUCCESS);
    assert_eq!(call!(cuda, "cuEventRecord", join, two), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", one, join, number(0)), SUCCESS);
    assert_eq!(add(cuda, function, one, [out, a, b], 32), SUCCESS);
    assert_eq!(call!(cuda, "cuEventQuery", join), CAPTURED_EVENT);
    // The query ended the capture.
    let mut graph = of(&0);
    assert_eq!(call!(cuda, "cuStreamEndCapture", one, to(&mut graph)), CAPTURE_INVALIDATED);
    assert!(graph.is_null());

    begin(cuda, one);
    assert_eq!(add(cuda, function, one, [a, a, b], 32), SUCCESS);
    assert_eq!(call!(cuda, "cuEventRecord", fork, one), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", two, fork, number(0)), SUCCESS);
    assert_eq!(add(cuda, function, one, [a, a, b], 32), SUCCESS);
    assert_eq!(add(cuda, function, two, [b, b, b], 32), SUCCESS);
    assert_eq!(call!(cuda, "cuEventRecord", join, two), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", one, join, number(0)), SUCCESS);
    assert_eq!(add(cuda, function, one, [out, a, b], 32), SUCCESS);
    let graph = end(cuda, one);
    let nodes = nodes(cuda, graph);
    let (mut from, mut to_, mut count) = ([none(); 8], [none(); 8], 8_usize);
    let edges = call!(cuda, "cuGraphGetEdges", graph, from.as_mut_ptr(), to_.as_mut_ptr(), to(&mut count));
    assert_eq!((edges, count), (SUCCESS, 4));
    let place = |node| nodes.iter().position(|other| *other == node).unwrap();
    let mut edges: Vec<_> =
        from.iter().zip(&to_).take(4).map(|(from, to)| (place(*from), place(*to))).collect();
    edges.sort_unstable();
    assert_eq!(edges, [(0, 1), (0, 2), (1, 3), (2, 3)]);
    assert_eq!((from[4], to_[4]), (none(), none()), "places beyond the list are null");
    let roots = made(|to| call!(cuda, "cuGraphGetRootNodes", graph, none(), to)) as usize;
    assert_eq!(roots, 1);
    run(cuda, instantiate(cuda, graph));
    // a = 1 + 2 + 2, b = 2 + 2.
    assert_eq!(first(cuda, out), 9.0);
}

#[test]
fn what_cannot_be_captured_ends_the_capture() {
    let (cuda, _guard) = cuda();
    let (_, function) = function(cuda, ADD, "add");
    let buffers = buffers(cuda);
    let (one, two, apart) =
        (stream(cuda), stream(cuda), made(|to| call!(cuda, "cuStreamCreate", to, number(1))));
    let mut graph = none();
    let mut ends = |what: &str, stream: Any, expected: u32| {
        assert_eq!(call!(cuda, "cuStreamEndCapture", stream, to(&mut graph)), expected, "{what}");
    };
    assert_eq!(call!(cuda, "cuStreamBeginCapture_v2", number(0), number(0)), CAPTURE_UNSUPPORTED);
    let mut place = 0_u64;
    for (call, status) in [
        ("synchronize", CAPTURE_UNSUPPORTED),
        ("allocate", CAPTURE_UNSUPPORTED),
        ("context", CAPTURE_UNSUPPORTED),
        ("legacy", CAPTURE_IMPLICIT),
        ("copy", CAPTURE_IMPLICIT),
    ] {
        begin(cuda, one);
        let found = match call {
            "synchronize" => call!(cuda, "cuStreamSynchronize", one),
            "allocate" => call!(cuda, "cuMemAlloc_v2", to(&mut place), number(16)),
            "context" => call!(cuda, "cuCtxSynchronize"),
            "legacy" => add(cuda, function, number(0), buffers, 1),
            _ => call!(cuda, "cuMemsetD8_v2", number(buffers[0]), number(0), number(1)),
        };
        assert_eq!(found, status, "{call}");
        assert_eq!(made(|to| call!(cuda, "cuStreamIsCapturing", one, to)) as u32, 2, "{call}");
        assert_eq!(add(cuda, function, one, buffers, 1), CAPTURE_INVALIDATED, "{call}");
        ends(call, one, CAPTURE_INVALIDATED);
        assert_eq!(add(cuda, function, one, buffers, 1), SUCCESS, "the stream is as before");
    }
    // A question about the legacy default stream has no answer, and ends nothing.
    begin(cuda, one);
    assert_eq!(call!(cuda, "cuStreamIsCapturing", number(0), to(&mut place)), CAPTURE_IMPLICIT);
    ends("a question", one, SUCCESS);
    // A relaxed capture forbids nothing; a stream that waits for nobody does not end one.
    assert_eq!(call!(cuda, "cuStreamBeginCapture_v2", apart, number(2)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemAlloc_v2", to(&mut place), number(16)), SUCCESS);
    assert_eq!(add(cuda, function, number(0), buffers, 1), SUCCESS);
    ends("relaxed", apart, SUCCESS);

    let (inside, outside) = (event(cuda), event(cuda));
    assert_eq!(call!(cuda, "cuEventRecord", outside, two), SUCCESS);
    begin(cuda, one);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", one, outside, number(0)), CAPTURE_ISOLATION);
    ends("isolation", one, CAPTURE_INVALIDATED);

    begin(cuda, one);
    assert_eq!(call!(cuda, "cuEventRecord", inside, one), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", two, inside, number(0)), SUCCESS);
    ends("another stream's", two, CAPTURE_UNMATCHED);
    ends("unmatched", one, CAPTURE_INVALIDATED);

    begin(cuda, one);
    assert_eq!(call!(cuda, "cuEventRecord", inside, one), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", two, inside, number(0)), SUCCESS);
    assert_eq!(add(cuda, function, two, buffers, 1), SUCCESS);
    ends("unjoined", one, CAPTURE_UNJOINED);

    begin(cuda, one);
    begin(cuda, two);
    assert_eq!(call!(cuda, "cuEventRecord", inside, one), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamWaitEvent", two, inside, number(0)), CAPTURE_MERGE);
    ends("merge", one, CAPTURE_INVALIDATED);
    ends("merge", two, CAPTURE_INVALIDATED);
}

#[test]
fn the_per_thread_default_stream_can_be_captured() {
    let (cuda, _guard) = cuda();
    let (_, function) = function(cuda, ADD, "add");
    let [out, a, b] = buffers(cuda);
    assert_eq!(call!(cuda, "cuStreamBeginCapture_v2_ptsz", none(), number(0)), SUCCESS);
    assert_eq!(made(|to| call!(cuda, "cuStreamIsCapturing_ptsz", none(), to)) as u32, 1);
    assert_eq!(add(cuda, function, number(2), [out, a, b], 32), SUCCESS);
    let graph = made(|to| call!(cuda, "cuStreamEndCapture_ptsz", none(), to));
    assert_eq!((count_nodes(cuda, graph), first(cuda, out)), (1, 0.0));
}

#[test]
fn a_graph_made_by_hand_runs_in_the_order_of_its_edges() {
    let (cuda, _guard) = cuda();
    let (_, function) = function(cuda, ADD, "add");
    let [out, a, b] = buffers(cuda);
    let graph = made(|to| call!(cuda, "cuGraphCreate", to, number(0)));
    let n = 32_u32;
    // The launch is added first, and waits for the fill that is added second.
    let arguments = [of(&out), of(&a), of(&b), of(&n)];
    let params = kernel_node(function, &arguments);
    let launch = made(|to| call!(cuda, "cuGraphAddKernelNode_v2", to, graph, none(), number(0), of(&params)));
    let context = made(|to| call!(cuda, "cuCtxGetCurrent", to));
    // Address, pitch; value and size of an element; width and height.
    let params = [a, 0, u64::from(7.0_f32.to_bits()) | 4 << 32, 32, 1];
    let fill_node =
        made(|to| call!(cuda, "cuGraphAddMemsetNode", to, graph, none(), number(0), of(&params), context));
    let edge =
        |from: Any, to: Any| call!(cuda, "cuGraphAddDependencies", graph, of(&from), of(&to), number(1));
    assert_eq!(edge(fill_node, launch), SUCCESS);
    assert_eq!(edge(fill_node, launch), INVALID_VALUE, "the edge is there");
    let executable = instantiate(cuda, graph);
    run(cuda, executable);
    assert_eq!(first(cuda, out), 9.0);

    // Another value, in the executable graph only.
    let params = [a, 0, u64::from(1.5_f32.to_bits()) | 4 << 32, 32, 1];
    let set = call!(cuda, "cuGraphExecMemsetNodeSetParams", executable, fill_node, of(&params), context);
    assert_eq!(set, SUCCESS);
    run(cuda, executable);
    assert_eq!(first(cuda, out), 3.5);
    assert_eq!(call!(cuda, "cuGraphNodeSetEnabled", executable, fill_node, number(0)), SUCCESS);
    fill(cuda, a, 10.0);
    run(cuda, executable);
    assert_eq!(first(cuda, out), 12.0, "a disabled node does nothing");

    // The launch's arguments are shown as they were given.
    let mut shown = kernel_node(none(), &[]);
    assert_eq!(call!(cuda, "cuGraphKernelNodeGetParams_v2", launch, to(&mut shown)), SUCCESS);
    assert_eq!((shown.0, shown.1), (function, [1, 1, 1, 32, 1, 1, 0]));
    // SAFETY: pointers to the four arguments, which stay as long as the node.
    let first_argument = unsafe { **shown.2.cast::<*const u64>() };
    assert_eq!(first_argument, out);

    // Type, three reserved words, then as above.
    let mut described = [1_u64; 32];
    assert_eq!(call!(cuda, "cuGraphNodeGetParams", fill_node, described.as_mut_ptr()), SUCCESS);
    assert_eq!((described[0], described[2], described[5]), (2, a, 32));
    described[5] = 1;
    assert_eq!(call!(cuda, "cuGraphNodeSetParams_v2", fill_node, described.as_mut_ptr()), SUCCESS);
    let mut narrow = [0_u64; 5];
    assert_eq!(call!(cuda, "cuGraphMemsetNodeGetParams", fill_node, narrow.as_mut_ptr()), SUCCESS);
    assert_eq!(narrow[3], 1, "one element");

    assert_eq!(edge(launch, fill_node), SUCCESS, "edges may make a cycle");
    let mut place = none();
    let refused = call!(cuda, "cuGraphInstantiateWithFlags", to(&mut place), graph, number(0));
    assert_eq!(refused, INVALID_VALUE, "but not to launch");
}

extern "C" fn count(at: *mut u32) {
    // SAFETY: the test's counter, which only one thread uses.
    unsafe { *at += 1 }
}

#[test]
fn host_functions_events_children_and_clones() {
    let (cuda, _guard) = cuda();
    let mut calls = 0_u32;
    let child = made(|to| call!(cuda, "cuGraphCreate", to, number(0)));
    let call = [count as *const () as Any, to(&mut calls)];
    let host = made(|to| call!(cuda, "cuGraphAddHostNode", to, child, none(), number(0), of(&call)));
    let parent = made(|to| call!(cuda, "cuGraphCreate", to, number(0)));
    let held = made(|to| call!(cuda, "cuGraphAddChildGraphNode", to, parent, none(), number(0), child));
    let again = made(|to| call!(cuda, "cuGraphAddChildGraphNode", to, parent, of(&held), number(1), child));
    let record = event(cuda);
    let last = made(|to| call!(cuda, "cuGraphAddEventRecordNode", to, parent, of(&again), number(1), record));
    made(|to| call!(cuda, "cuGraphAddEmptyNode", to, parent, of(&last), number(1)));
    let kinds: Vec<u32> = nodes(cuda, parent)
        .into_iter()
        .map(|node| made(|to| call!(cuda, "cuGraphNodeGetType", node, to)) as u32)
        .collect();
    assert_eq!(kinds, [4, 4, 7, 5]);
    let copy = made(|to| call!(cuda, "cuGraphClone", to, parent));
    assert_eq!(call!(cuda, "cuGraphDestroy", child), SUCCESS, "nodes have copies of their own");
    let found = made(|to| call!(cuda, "cuGraphNodeFindInClone", to, last, copy));
    let of_copy = made(|to| call!(cuda, "cuGraphEventRecordNodeGetEvent", found, to));
    assert_eq!(of_copy, record);
    let executable = instantiate(cuda, copy);
    assert_eq!(calls, 0);
    run(cuda, executable);
    assert_eq!(calls, 2);
    let mut milliseconds = -1.0_f32;
    assert_eq!(call!(cuda, "cuEventElapsedTime", to(&mut milliseconds), record, record), SUCCESS, "recorded");
    let mut place = none();
    assert_eq!(
        call!(cuda, "cuGraphNodeGetType", host, to(&mut place)),
        INVALID_VALUE,
        "it went with its graph"
    );

    // A launch in a captured stream becomes a node.
    let stream = stream(cuda);
    begin(cuda, stream);
    assert_eq!(call!(cuda, "cuGraphLaunch", executable, stream), SUCCESS);
    let outer = end(cuda, stream);
    assert_eq!((calls, count_nodes(cuda, outer)), (2, 1));
    run(cuda, instantiate(cuda, outer));
    assert_eq!(calls, 4);
}

#[test]
fn an_update_takes_over_operations_and_refuses_another_form() {
    let (cuda, _guard) = cuda();
    let (_, function) = function(cuda, ADD, "add");
    let [out, a, b] = buffers(cuda);
    let stream = stream(cuda);
    let capture = |arguments: [u64; 3], times: u32| {
        begin(cuda, stream);
        for _ in 0..times {
            assert_eq!(add(cuda, function, stream, arguments, 32), SUCCESS);
        }
        end(cuda, stream)
    };
    let executable = instantiate(cuda, capture([out, a, b], 1));
    let mut result = [u64::MAX; 3];
    let mut update =
        |graph: Any| (call!(cuda, "cuGraphExecUpdate_v2", executable, graph, result.as_mut_ptr()), result[0]);
    assert_eq!(update(capture([out, b, b], 1)), (SUCCESS, 0));
    run(cuda, executable);
    assert_eq!(first(cuda, out), 4.0);
    assert_eq!(update(capture([out, a, a], 2)), (UPDATE_FAILURE, 2), "the topology changed");
    begin(cuda, stream);
    let filled = call!(cuda, "cuMemsetD8Async", number(out), number(0), number(4), stream);
    assert_eq!(filled, SUCCESS);
    assert_eq!(update(end(cuda, stream)), (UPDATE_FAILURE, 3), "the type of a node changed");
    fill(cuda, out, 0.0);
    run(cuda, executable);
    assert_eq!(first(cuda, out), 4.0, "a refused update changes nothing");
}

#[test]
fn memory_of_a_graph_has_its_address_before_the_launch_and_is_the_clients_after_it() {
    let (cuda, _guard) = cuda();
    let stream = stream(cuda);
    let mut address = 0_u64;
    begin(cuda, stream);
    assert_eq!(call!(cuda, "cuMemAllocAsync", to(&mut address), number(128), stream), SUCCESS);
    let one = u64::from(1.0_f32.to_bits());
    assert_eq!(call!(cuda, "cuMemsetD32Async", number(address), number(one), number(32), stream), SUCCESS);
    let graph = end(cuda, stream);
    let executable = instantiate(cuda, graph);
    assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), INVALID_VALUE, "not allocated yet");
    run(cuda, executable);
    assert_eq!(first(cuda, address), 1.0);
    let second = call!(cuda, "cuGraphLaunch", executable, number(0));
    assert_eq!(second, INVALID_VALUE, "its memory is in use");
    assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), SUCCESS);
    run(cuda, executable);
    assert_eq!(call!(cuda, "cuGraphExecDestroy", executable), SUCCESS);
    assert_eq!(call!(cuda, "cuGraphDestroy", graph), SUCCESS);
    assert_eq!(first(cuda, address), 1.0, "live memory outlives the graph");
    assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), SUCCESS);
    assert_eq!(call!(cuda, "cuMemFree_v2", number(address)), INVALID_VALUE);
}

#[test]
fn an_object_is_destroyed_with_the_last_graph_that_refers_to_it() {
    let (cuda, _guard) = cuda();
    let mut destroyed = 0_u32;
    let destroy = count as *const () as Any;
    let object =
        made(|to_| call!(cuda, "cuUserObjectCreate", to_, to(&mut destroyed), destroy, number(1), number(1)));
    let graph = made(|to| call!(cuda, "cuGraphCreate", to, number(0)));
    assert_eq!(call!(cuda, "cuGraphRetainUserObject", graph, object, number(1), number(1)), SUCCESS, "moved");
    let executable = instantiate(cuda, graph);
    assert_eq!(call!(cuda, "cuGraphDestroy", graph), SUCCESS);
    assert_eq!(destroyed, 0);
    assert_eq!(call!(cuda, "cuGraphExecDestroy", executable), SUCCESS);
    assert_eq!(destroyed, 1);
    assert_eq!(call!(cuda, "cuUserObjectRelease", object, number(1)), INVALID_VALUE, "it is gone");
}

#[test]
fn a_drawing_names_nodes_and_edges() {
    let (cuda, _guard) = cuda();
    let graph = made(|to| call!(cuda, "cuGraphCreate", to, number(0)));
    let node = made(|to| call!(cuda, "cuGraphAddEmptyNode", to, graph, none(), number(0)));
    made(|to| call!(cuda, "cuGraphAddEmptyNode", to, graph, of(&node), number(1)));
    let path = std::env::temp_dir().join(format!("strata-graph-{}.dot", std::process::id()));
    let name = text(path.to_str().unwrap());
    assert_eq!(call!(cuda, "cuGraphDebugDotPrint", graph, name.as_ptr(), number(0)), SUCCESS);
    let drawn = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert!(drawn.starts_with("digraph") && drawn.contains("_node_0\" -> \"graph_"), "{drawn}");
    assert_eq!(call!(cuda, "cuGraphDebugDotPrint", graph, c"/nowhere/a.dot".as_ptr(), number(0)), 304);
}

#[test]
fn attributes_of_streams_are_kept_and_copied() {
    let (cuda, _guard) = cuda();
    let (one, two) = (stream(cuda), stream(cuda));
    let mut value = [0_u32; 16];
    let get = |stream: Any, value: &mut [u32; 16]| {
        call!(cuda, "cuStreamGetAttribute", stream, number(3), to(value))
    };
    assert_eq!((get(one, &mut value), value[0]), (SUCCESS, 1), "the default policy");
    value[0] = 4;
    assert_eq!(call!(cuda, "cuStreamSetAttribute", one, number(3), of(&value)), SUCCESS);
    assert_eq!(call!(cuda, "cuStreamCopyAttributes", two, one), SUCCESS);
    value[0] = 0;
    assert_eq!((get(two, &mut value), value[0]), (SUCCESS, 4));
    value[0] = 9;
    assert_eq!(call!(cuda, "cuStreamSetAttribute", one, number(3), of(&value)), INVALID_VALUE);
    assert_eq!(
        call!(cuda, "cuStreamSetAttribute", one, number(4), of(&value)),
        INVALID_VALUE,
        "not of streams"
    );
}
