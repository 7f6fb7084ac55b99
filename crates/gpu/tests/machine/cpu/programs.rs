//! Programs whose data go back and forth between the GPU and CPU cores.

use strata_workloads::{Arg, Comparison, Device, DeviceError, HostProgram, Module, Outcome, Shape};

/// Numbers in the array.
pub const COUNT: u32 = 3000;

/// `x[i] = x[i] * 3 + i`; then threads on CPU cores add a constant to a share of it and sum it up; and again. The shares do
/// not end where lines end.
#[derive(Debug)]
pub struct PingPong {
    pub threads: u32,
    pub rounds: u32,
}

const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry gpu(.param .u64 x, .param .u32 n)\n{\n.reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %p;\n\
    ld.param.u64 %d0, [x]; ld.param.u32 %r4, [n];\nmov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n\
    mad.lo.u32 %r0, %r0, %r1, %r2; setp.ge.u32 %p, %r0, %r4; @%p ret;\n\
    mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;\n\
    ld.global.u32 %r3, [%d0]; mad.lo.u32 %r3, %r3, 3, %r0; st.global.u32 [%d0], %r3; ret;\n}\n\
    .visible .entry cpu(.param .u64 x, .param .u32 n, .param .u32 add, .param .u64 sums)\n{\n\
    .reg .b32 %r<12>; .reg .b64 %d<5>; .reg .pred %p;\n\
    ld.param.u64 %d0, [x]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [add]; ld.param.u64 %d1, [sums];\n\
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r10, %tid.x; mov.u32 %r11, %ntid.x;\n\
    div.u32 %r4, %r0, %r3; mul.lo.u32 %r5, %r4, %r2; add.u32 %r6, %r5, %r4;\n\
    add.u32 %r9, %r2, 1; setp.eq.u32 %p, %r9, %r3; selp.u32 %r6, %r0, %r6, %p;\n\
    mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d0, %d2; mov.u32 %r7, %r10; sub.u32 %r11, %r11, 1;\nNEXT:\n\
    setp.ge.u32 %p, %r5, %r6; @%p bra DONE;\n\
    ld.global.u32 %r8, [%d2]; add.u32 %r8, %r8, %r1; st.global.u32 [%d2], %r8; add.u32 %r7, %r7, %r8;\n\
    add.u64 %d2, %d2, 4; add.u32 %r5, %r5, 1; bra NEXT;\nDONE:\n\
    add.u32 %r7, %r7, %r11; mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; st.global.u32 [%d1], %r7; ret;\n}\n";

impl HostProgram for PingPong {
    fn name(&self) -> &str {
        "ping-pong"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "ping_pong.ptx", text: TEXT }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let threads = self.threads as usize;
        let mut x: Vec<u32> = (0..COUNT).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let mut sums = vec![0_u32; threads];
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let (array, out) =
            (device.alloc("x", 4 * u64::from(COUNT))?, device.alloc("sums", 4 * threads as u64)?);
        device.upload(array, &bytes(&x))?;
        for round in 0..self.rounds {
            let shape = Shape::new([COUNT.div_ceil(128), 1, 1], [128, 1, 1]);
            device.launch("gpu", shape, &[Arg::Ptr(array), Arg::U32(COUNT)])?;
            let add = 7 * round + 1;
            let args = [Arg::Ptr(array), Arg::U32(COUNT), Arg::U32(add), Arg::Ptr(out)];
            device.on_cpu("cpu", self.threads, &args)?;
            for (i, x) in (0..).zip(&mut x) {
                *x = x.wrapping_mul(3).wrapping_add(i).wrapping_add(add);
            }
            let share = COUNT as usize / threads;
            for (thread, sum) in sums.iter_mut().enumerate() {
                let end = if thread + 1 == threads { x.len() } else { (thread + 1) * share };
                *sum = x[thread * share..end].iter().fold(0, |sum, x| sum.wrapping_add(*x));
            }
        }
        let mut comparisons = Vec::new();
        for (name, ptr, expected) in [("x", array, &x), ("sums", out, &sums)] {
            let mut found = vec![0; 4 * expected.len()];
            device.download(ptr, &mut found)?;
            let found: Vec<u32> = found
                .chunks(4)
                .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
                .collect();
            comparisons.push(Comparison::exact(name, &found, expected));
        }
        Ok(Outcome { comparisons, ..Outcome::default() })
    }
}
