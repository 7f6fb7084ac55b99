//! Modules that ask for too much of a machine are refused when they are loaded.

use strata_engine::Cycle;
use strata_gpu::device::{ReferenceDevice, TimedDevice};
use strata_gpu::gpu::GpuOptions;
use strata_gpu::machine::Machine;
use strata_ptx::reference::Options;
use strata_workloads::{Device, DeviceError, Module, Shape};

/// A module with a variable of so many bytes, and a kernel with so much local memory.
fn text(global: u64, local: u64) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .b8 variable[{global}];\n\
         .entry k() {{ .local .b8 own[{local}]; .reg .b64 %rd<2>; mov.u64 %rd1, own; ret; }}\n"
    )
}

fn timed(text: &str, then: impl FnOnce(&mut TimedDevice<'_>)) -> Result<(), String> {
    let machine = Machine::load("gtx480", &["gpu.memory_mib=64".into()]).expect("a GTX 480 can be built");
    let options =
        GpuOptions { threads: 1, saves_threads: false, window: None, limit: Cycle::NEVER, interrupt: None };
    let silent = &mut |_: &_| {};
    let mut device = TimedDevice::new(&machine, Module { name: "m.ptx", text }, options, silent)?;
    then(&mut device);
    Ok(())
}

#[test]
fn variables_fit_device_memory_or_are_refused() {
    assert_eq!(timed(&text(60 << 20, 4), |_| {}), Ok(()));
    for bytes in [64 << 20, (64 << 20) - 4096, 1 << 40] {
        let error = timed(&text(bytes, 4), |_| {}).unwrap_err();
        assert!(error.contains("do not fit") || error.contains("no room"), "{bytes}: {error}");
    }
}

#[test]
fn local_memory_fits_device_memory_or_is_refused() {
    let accepted = timed(&text(4, 1 << 29), |device| {
        let error = device.launch("k", Shape::new([1; 3], [1; 3]), &[]).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error}");
    });
    assert_eq!(accepted, Ok(()));
}

#[test]
fn dynamic_shared_memory_is_bounded() {
    let accepted = timed(&text(4, 4), |device| {
        let error = device
            .launch("k", Shape::new([1; 3], [1; 3]).with_shared(u32::MAX), &[])
            .unwrap_err()
            .to_string();
        assert!(error.contains("limited by shared memory"), "{error}");
    });
    assert_eq!(accepted, Ok(()));
}

#[test]
fn the_reference_executor_refuses_what_no_host_holds() {
    let text = text(4, 1 << 29);
    let module = Module { name: "m.ptx", text: &text };
    let mut device = ReferenceDevice::new(module, Default::default(), 64 << 20, Options::default()).unwrap();
    for (threads, shared) in [(1, 0), (1, u32::MAX), (1024, 0)] {
        let error = device
            .launch("k", Shape::new([1; 3], [threads, 1, 1]).with_shared(shared), &[])
            .unwrap_err()
            .to_string();
        assert!(error.contains("shared and local memory a CTA"), "{error}");
    }
}
