//! Barriers whose results the register file takes late.

use crate::support::{PLAIN, gtx480, module, on_device};
use strata_workloads::{Arg, Device, Shape};

#[test]
fn a_barrier_right_behind_a_reduction_loses_no_result() {
    // All warps of a CTA are released at once, and a single bank takes one of their results a cycle. Meanwhile the others
    // come to the next barrier.
    let text = module(
        ".visible .entry k(.param .u64 out) {\n.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 30;\nbar.sync 0;\n\
         bar.red.popc.u32 %r1, 0, %p0;\nbar.sync 0;\nbar.red.popc.u32 %r2, 0, !%p0;\nbar.sync 0;\n\
         shl.b32 %r2, %r2, 16;\nor.b32 %r1, %r1, %r2;\nmul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd0, %rd0, %rd1;\n\
         st.global.u32 [%rd0], %r1;\nret;\n}\n",
    );
    let machine = gtx480(&["gpu.sms=1", "sm.register_file.banks=1"]);
    let words = on_device(&machine, PLAIN, &text, |device| {
        let out = device.alloc("out", 4 * 256).unwrap();
        device.launch("k", Shape::new([1; 3], [256, 1, 1]), &[Arg::Ptr(out)]).unwrap();
        let mut bytes = vec![0; 4 * 256];
        device.download(out, &mut bytes).unwrap();
        bytes
    });
    let expected: Vec<u8> = (30u32 | 226 << 16).to_le_bytes().repeat(256);
    assert_eq!(words, expected);
}
