//! Uses cudarc as its documentation shows it, and checks every value on the host.

use std::error::Error;

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;

const N: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    println!("{}, {:?}", context.name()?, context.compute_capability()?);
    assert!(context.name()?.starts_with("Strata "));
    assert!(context.has_async_alloc());
    let module = context.load_module(Ptx::from_src(include_str!("../../programs/kernels.ptx")))?;
    let stream = context.default_stream();

    // Arguments by value and by pointer, and a variable of the module.
    let saxpy = module.load_function("saxpy")?;
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let x_there = stream.clone_htod(&x)?;
    let mut y_there = stream.alloc_zeros::<f32>(N)?;
    let (a, n) = (2.5_f32, N as u32);
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&a).arg(&x_there).arg(&mut y_there).arg(&n);
    let start = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))?;
    // SAFETY: the arguments are the kernel's, and the buffers hold n elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
    let end = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))?;
    let y = stream.clone_dtoh(&y_there)?;
    assert!(x.iter().zip(&y).all(|(x, y)| *y == a * x + 0.5));
    let milliseconds = start.elapsed_ms(&end)?;
    println!("saxpy of {N}: {milliseconds} ms of the machine's clock");
    let functional = std::env::var("STRATA_MODE").is_ok_and(|mode| mode == "functional");
    assert!(functional || (1e-4..1.0).contains(&milliseconds));

    // Two streams that wait for each other.
    let (other, sum) = (context.new_stream()?, module.load_function("sum")?);
    let words: Vec<u32> = (0..N as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let words_there = stream.clone_htod(&words)?;
    other.join(&stream)?;
    let mut total_there = other.alloc_zeros::<u32>(1)?;
    let mut launch = other.launch_builder(&sum);
    launch.arg(&mut total_there).arg(&words_there).arg(&n);
    let shape =
        LaunchConfig { grid_dim: (n.div_ceil(128), 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: as above.
    unsafe { launch.launch(shape) }?;
    let expected = words.iter().fold(0_u32, |sum, word| sum.wrapping_add(*word));
    assert_eq!(other.clone_dtoh(&total_there)?, [expected]);

    // Dynamic shared memory; parts of buffers.
    let turn = module.load_function("turn")?;
    let mut turned = stream.alloc_zeros::<u32>(256)?;
    let half = words_there.slice(128..384);
    let shape = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 512 };
    let mut launch = stream.launch_builder(&turn);
    launch.arg(&mut turned).arg(&half);
    // SAFETY: as above.
    unsafe { launch.launch(shape) }?;
    let expected: Vec<u32> =
        words[128..384].chunks(128).flat_map(|block| block.iter().rev().copied()).collect();
    assert_eq!(stream.clone_dtoh(&turned)?, expected);

    // Attributes and occupancy.
    assert_eq!(sum.shared_size_bytes()?, 16);
    assert!(sum.num_regs()? > 0);
    assert!(sum.occupancy_max_active_blocks_per_multiprocessor(128, 0, None)? > 0);

    // Pinned memory, and copies between buffers.
    // SAFETY: written before it is read.
    let mut pinned = unsafe { context.alloc_pinned::<f32>(N) }?;
    pinned.as_mut_slice()?.copy_from_slice(&y);
    stream.memcpy_htod(&pinned, &mut y_there)?;
    assert_eq!(stream.clone_dtoh(&stream.clone_dtod(&y_there)?)?, y);

    // What is wrong is told, and all goes on.
    let broken = context.load_module(Ptx::from_src(".version 7.0\n.target sm_70\n.entry k( { ret; }"));
    assert!(matches!(broken, Err(DriverError(sys::CUresult::CUDA_ERROR_INVALID_PTX))));
    assert!(matches!(module.load_function("nothing"), Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND))));
    let shape = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (2048, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&a).arg(&x_there).arg(&mut y_there).arg(&n);
    // SAFETY: as above; it never runs.
    let refused = unsafe { launch.launch(shape) };
    assert!(matches!(refused, Err(DriverError(sys::CUresult::CUDA_ERROR_INVALID_VALUE))), "{refused:?}");
    assert_eq!(stream.clone_dtoh(&y_there)?, y);
    context.synchronize()?;
    println!("cudarc: all well");
    Ok(())
}
