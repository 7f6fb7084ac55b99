//! A kernel failure: the error sticks until the device is reset.

#![allow(unsafe_code, reason = "a client of C libraries")]

mod support;

use support::*;

#[test]
fn an_error_of_a_kernel_sticks_until_the_device_is_reset() {
    for runtime in runtimes(&[("STRATA_MODE", "functional"), ("STRATA_LOG", "quiet")]) {
        let kernel = shadow();
        let container = container(&[entry(1, 70, SCALE, Packing::Lz4)]);
        let wrapper = Wrapper::of(&container);
        let binary = runtime.register(&wrapper);
        runtime.register_function(binary, kernel, c"mul");
        let n = 4_u32;
        let a = runtime.buffer(&[1.0_f32; 4]);
        let nowhere = 0x7000_0000_0000_u64;
        assert_eq!(
            runtime.launch(kernel, line(1), line(4), &[of(&nowhere), of(&a), of(&n)]),
            ILLEGAL_ADDRESS
        );
        let mut address = 0_u64;
        assert_eq!(call!(runtime, "cudaMalloc", to(&mut address), number(4)), ILLEGAL_ADDRESS);
        assert_eq!(call!(runtime, "cudaDeviceSynchronize"), ILLEGAL_ADDRESS);
        for _ in 0..2 {
            assert_eq!(call!(runtime, "cudaGetLastError"), ILLEGAL_ADDRESS, "not forgotten");
        }
        std::thread::scope(|scope| {
            let other = scope.spawn(|| call!(runtime, "cudaGetLastError"));
            assert_eq!(other.join().unwrap(), ILLEGAL_ADDRESS, "in every thread");
        });
        assert_eq!(call!(runtime, "cudaDeviceReset"), SUCCESS);
        assert_eq!(call!(runtime, "cudaGetLastError"), SUCCESS);
        // The same kernel, whose module is loaded again.
        let (a, out) = (runtime.buffer(&[1.0_f32; 4]), runtime.buffer(&[5.0_f32; 4]));
        assert_eq!(runtime.launch(kernel, line(1), line(4), &[of(&out), of(&a), of(&n)]), SUCCESS);
        assert_eq!(runtime.contents::<f32>(out, 4), [0.0; 4], "the constant is as new, 0");
        call!(runtime, "__cudaUnregisterFatBinary", binary);
        // The next library finds its context destroyed.
        assert_eq!(call!(runtime, "cudaDeviceReset"), SUCCESS);
    }
}
