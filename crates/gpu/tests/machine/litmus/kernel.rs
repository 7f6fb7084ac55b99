//! A litmus test as a kernel.

use std::fmt::Write;

use super::tests::{DELAY, Litmus, WARM};

/// Groups of CTAs that play a test side by side.
pub const GROUPS: u32 = 2;
/// Instances of a group: one for each lane.
pub const LANES: u32 = 32;

/// Where the variables of an instance lie: apart from the next instance's by a stride in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub stride: u32,
}

const WARM_TEXT: &str = "ld.global.u32 %w, [%x];\nld.global.u32 %w, [%y];\n";

/// The kernel `litmus(x, y, z, delays, out, stamps, stride)`.
pub fn text(test: &Litmus) -> String {
    let roles = test.roles.len();
    let who = if test.one_cta {
        "mov.u32 %group, %ctaid.x;\nmov.u32 %t, %tid.x;\nshr.u32 %role, %t, 5;\n".to_owned()
    } else {
        format!("mov.u32 %t, %ctaid.x;\ndiv.u32 %group, %t, {roles};\nrem.u32 %role, %t, {roles};\n")
    };
    let mut text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n\
         .visible .entry litmus(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 delays, .param .u64 out,\n\
         .param .u64 stamps, .param .u32 stride)\n{{\n\
         .reg .b64 %x, %y, %z, %out, %stamps, %at, %wide, %start, %end;\n.reg .pred %p, %q;\n\
         .reg .b32 %r0, %r1, %w, %group, %role, %t, %lane, %instance, %stride, %delay, %who;\n\
         ld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nld.param.u64 %z, [z];\nld.param.u64 %out, [out];\n\
         ld.param.u64 %stamps, [stamps];\nld.param.u32 %stride, [stride];\n{who}\
         mov.u32 %t, %tid.x;\nand.b32 %lane, %t, 31;\nmad.lo.u32 %instance, %group, {LANES}, %lane;\n\
         mul.wide.u32 %wide, %instance, %stride;\nadd.u64 %x, %x, %wide;\nadd.u64 %y, %y, %wide;\n\
         add.u64 %z, %z, %wide;\nmad.lo.u32 %who, %group, {roles}, %role;\n\
         ld.param.u64 %at, [delays];\nmul.wide.u32 %wide, %who, 4;\nadd.u64 %at, %at, %wide;\n\
         ld.global.u32 %delay, [%at];\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\nmov.u64 %start, %globaltimer;\n"
    );
    for (role, body) in test.roles.iter().enumerate() {
        let delay = format!(
            "\nDELAY{role}:\nsetp.eq.u32 %q, %delay, 0;\n@%q bra GO{role};\nsub.u32 %delay, %delay, 1;\n\
             bra DELAY{role};\nGO{role}:\n"
        );
        let body =
            body.replace(WARM, WARM_TEXT).replace(DELAY, &delay).replace("SPIN", &format!("SPIN{role}"));
        write!(text, "setp.ne.u32 %p, %role, {role};\n@%p bra NOT{role};\n{body}\nbra DONE;\nNOT{role}:\n")
            .expect("a string grows");
    }
    write!(
        text,
        "DONE:\nmov.u64 %end, %globaltimer;\nmad.lo.u32 %t, %instance, {roles}, %role;\nmul.wide.u32 %wide, %t, 8;\n\
         add.u64 %at, %out, %wide;\nst.global.v2.u32 [%at], {{%r0, %r1}};\nsetp.ne.u32 %p, %lane, 0;\n\
         @%p bra END;\nmul.wide.u32 %wide, %who, 24;\nadd.u64 %at, %stamps, %wide;\nmov.u32 %t, %smid;\n\
         cvt.u64.u32 %wide, %t;\nst.global.u64 [%at], %wide;\nst.global.u64 [%at+8], %start;\n\
         st.global.u64 [%at+16], %end;\nEND:\nret;\n}}\n"
    )
    .expect("a string grows");
    text
}
