//! PTX programs with calls.

#![allow(dead_code, reason = "each test uses its part")]

/// A text around the directives of a module.
pub fn module(text: &str) -> String {
    format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}")
}

/// The n-th Fibonacci number by its definition; thread t wants number t % 12.
pub const FIBONACCI: &str = "
.func (.param .b32 r) fib(.param .b32 n) {
    .reg .b32 %r<8>; .reg .pred %p;
    ld.param.u32 %r1, [n];
    setp.lt.u32 %p, %r1, 2;
    @%p bra small;
    sub.u32 %r2, %r1, 1;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r2;
    call (b), fib, (a);
    ld.param.b32 %r3, [b]; }
    sub.u32 %r4, %r1, 2;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r4;
    call (b), fib, (a);
    ld.param.b32 %r5, [b]; }
    add.u32 %r6, %r3, %r5;
    st.param.b32 [r], %r6;
    ret;
small:
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    rem.u32 %r1, %r0, 12;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), fib, (a);
    ld.param.b32 %r2, [b]; }
    st.global.u32 [%rd0], %r2;
    ret;
}";

/// Each thread sorts 16 words of its own.
pub const QUICKSORT: &str = "
.func sort(.param .b64 first, .param .b64 last) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;
    ld.param.u64 %rd0, [first];
    ld.param.u64 %rd1, [last];
    setp.ge.s64 %p0, %rd0, %rd1;
    @%p0 ret;
    ld.global.u32 %r0, [%rd1];
    mov.u64 %rd2, %rd0;
    mov.u64 %rd3, %rd0;
scan:
    ld.global.u32 %r1, [%rd3];
    setp.ge.u32 %p1, %r1, %r0;
    @%p1 bra next;
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd2], %r1;
    st.global.u32 [%rd3], %r2;
    add.u64 %rd2, %rd2, 4;
next:
    add.u64 %rd3, %rd3, 4;
    setp.lt.u64 %p2, %rd3, %rd1;
    @%p2 bra scan;
    ld.global.u32 %r3, [%rd2];
    st.global.u32 [%rd1], %r3;
    st.global.u32 [%rd2], %r0;
    sub.u64 %rd4, %rd2, 4;
    add.u64 %rd5, %rd2, 4;
    { .param .b64 a; .param .b64 b;
    st.param.b64 [a], %rd0; st.param.b64 [b], %rd4;
    call sort, (a, b); }
    { .param .b64 a; .param .b64 b;
    st.param.b64 [a], %rd5; st.param.b64 [b], %rd1;
    call sort, (a, b); }
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 64;
    add.u64 %rd0, %rd0, %rd1;
    add.u64 %rd1, %rd0, 60;
    { .param .b64 a; .param .b64 b;
    st.param.b64 [a], %rd0; st.param.b64 [b], %rd1;
    call sort, (a, b); }
    ret;
}";

/// Whether a thread's number is even, by functions that only know the number before.
pub const MUTUAL: &str = "
.func (.reg .b32 r) odd(.reg .b32 n);
.func (.reg .b32 r) even(.reg .b32 n) {
    .reg .pred %p; .reg .b32 %m;
    setp.eq.u32 %p, n, 0;
    mov.u32 r, 1;
    @%p ret;
    sub.u32 %m, n, 1;
    call (r), odd, (%m);
    ret;
}
.func (.reg .b32 r) odd(.reg .b32 n) {
    .reg .pred %p; .reg .b32 %m;
    setp.eq.u32 %p, n, 0;
    mov.u32 r, 0;
    @%p ret;
    sub.u32 %m, n, 1;
    call (r), even, (%m);
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    call (%r1), even, (%r0);
    st.global.u32 [%rd0], %r1;
    ret;
}";

/// Ackermann's function of (m, number of the thread).
pub const ACKERMANN: &str = "
.func (.param .b32 r) ackermann(.param .b32 m, .param .b32 n) {
    .reg .b32 %r<8>; .reg .pred %p<2>;
    .param .b32 a0; .param .b32 a1; .param .b32 b;
    ld.param.u32 %r0, [m];
    ld.param.u32 %r1, [n];
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra more;
    add.u32 %r2, %r1, 1;
    st.param.b32 [r], %r2;
    ret;
more:
    sub.u32 %r3, %r0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra both;
    mov.u32 %r4, 1;
    bra last;
both:
    sub.u32 %r5, %r1, 1;
    st.param.b32 [a0], %r0; st.param.b32 [a1], %r5;
    call (b), ackermann, (a0, a1);
    ld.param.b32 %r4, [b];
last:
    st.param.b32 [a0], %r3; st.param.b32 [a1], %r4;
    call (b), ackermann, (a0, a1);
    ld.param.b32 %r6, [b];
    st.param.b32 [r], %r6;
    ret;
}
.visible .entry k(.param .u64 out, .param .u32 m) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    .param .b32 a0; .param .b32 a1; .param .b32 b;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r1, [m];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    st.param.b32 [a0], %r1; st.param.b32 [a1], %r0;
    call (b), ackermann, (a0, a1);
    ld.param.b32 %r2, [b];
    st.global.u32 [%rd0], %r2;
    ret;
}";

/// Virtual functions: thread t calls entry t % 3 of a table with t + 1, and then asks who runs with it.
pub const SHAPES: &str = "
.visible .func (.param .b32 r) square(.param .b32 n);
.visible .func (.param .b32 r) rectangle(.param .b32 n);
.visible .func (.param .b32 r) triangle(.param .b32 n);
.global .align 8 .u64 shapes[3] = {square, rectangle, generic(triangle)};
.func (.param .b32 r) square(.param .b32 n) {
    .reg .b32 %r<4>;
    ld.param.u32 %r0, [n];
    mul.lo.u32 %r1, %r0, %r0;
    st.param.b32 [r], %r1;
    ret;
}
.func (.param .b32 r) rectangle(.param .b32 n) {
    .reg .b32 %r<4>;
    ld.param.u32 %r0, [n];
    add.u32 %r1, %r0, 1;
    mul.lo.u32 %r1, %r0, %r1;
    st.param.b32 [r], %r1;
    ret;
}
.func (.param .b32 r) triangle(.param .b32 n) {
    .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u32 %r0, [n];
    mov.u32 %r1, 0;
again:
    add.u32 %r1, %r1, %r0;
    sub.u32 %r0, %r0, 1;
    setp.ne.u32 %p, %r0, 0;
    @%p bra again;
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    rem.u32 %r1, %r0, 3;
    mul.wide.u32 %rd2, %r1, 8;
    mov.u64 %rd3, shapes;
    add.u64 %rd3, %rd3, %rd2;
    ld.global.u64 %rd4, [%rd3];
    add.u32 %r2, %r0, 1;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r2;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (b), %rd4, (a), proto;
    ld.param.b32 %r3, [b]; }
    st.global.u32 [%rd0], %r3;
    activemask.b32 %r4;
    st.global.u32 [%rd0+128], %r4;
    ret;
}";

/// Each activation writes into an array of its own, goes deeper, and reads the array again through a pointer; structures
/// are passed and returned in memory.
pub const LOCALS: &str = "
.func (.param .align 4 .b8 r[8]) visit(.param .align 4 .b8 s[8]) {
    .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    .local .align 8 .b8 own[8];
    .param .align 4 .b8 a[8]; .param .align 4 .b8 b[8];
    ld.param.u32 %r0, [s];
    ld.param.u32 %r1, [s+4];
    setp.eq.u32 %p0, %r0, 0;
    st.param.b32 [r], 0;
    st.param.b32 [r+4], 0;
    @%p0 ret;
    mul.lo.u32 %r2, %r0, 10;
    mov.u64 %rd0, own;
    cvta.local.u64 %rd1, %rd0;
    st.u32 [%rd1], %r2;
    mul.lo.u32 %r3, %r0, %r1;
    st.local.u32 [own+4], %r3;
    sub.u32 %r4, %r0, 1;
    st.param.b32 [a], %r4;
    st.param.b32 [a+4], %r1;
    call (b), visit, (a);
    ld.param.b32 %r5, [b];
    ld.u32 %r6, [%rd1];
    ld.local.u32 %r7, [%rd0+4];
    add.u32 %r8, %r5, %r6;
    add.u32 %r8, %r8, %r7;
    st.param.b32 [r], %r8;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    .param .align 4 .b8 a[8]; .param .align 4 .b8 b[8];
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    rem.u32 %r1, %r0, 7;
    st.param.b32 [a], %r1;
    st.param.b32 [a+4], 20;
    call (b), visit, (a);
    ld.param.b32 %r2, [b];
    st.global.u32 [%rd0], %r2;
    ret;
}";

/// Forty times a function that takes as many words of stack as the thread's number, fills and adds them.
pub const VARIABLE_STACK: &str = "
.func (.param .b32 r) fill(.param .b32 n) {
    .reg .b32 %r<12>; .reg .b64 %rd<2>; .reg .pred %p<2>;
    ld.param.u32 %r0, [n];
    shl.b32 %r1, %r0, 2;
    stacksave.u32 %r10;
    alloca.u32 %r2, %r1, 16;
    mov.u32 %r3, 0;
    mov.u32 %r5, 0;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra done;
write:
    add.u32 %r3, %r3, 1;
    shl.b32 %r4, %r3, 2;
    add.u32 %r4, %r4, %r2;
    st.local.u32 [%r4-4], %r3;
    setp.lt.u32 %p1, %r3, %r0;
    @%p1 bra write;
read:
    shl.b32 %r4, %r3, 2;
    add.u32 %r4, %r4, %r2;
    ld.local.u32 %r6, [%r4-4];
    add.u32 %r5, %r5, %r6;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra read;
done:
    stackrestore.u32 %r10;
    alloca.u32 %r11, 8;
    st.param.b32 [r], %r5;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
again:
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r0;
    call (b), fill, (a);
    ld.param.b32 %r3, [b]; }
    add.u32 %r2, %r2, %r3;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, 40;
    @%p bra again;
    st.global.u32 [%rd0], %r2;
    ret;
}";

/// Thread 37 breaks its word: the texts are `n != 37`, `list.cu` and `visit`.
pub const ASSERTION: &str = "
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.global .align 1 .b8 what[8] = {110, 32, 33, 61, 32, 51, 55, 0};
.global .align 1 .b8 file[8] = {108, 105, 115, 116, 46, 99, 117, 0};
.global .align 1 .b8 name[6] = {118, 105, 115, 105, 116, 0};
.visible .entry k() {
    .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .pred %p;
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p, %r0, 37;
    @%p bra good;
    mov.u64 %rd0, what;
    cvta.global.u64 %rd1, %rd0;
    mov.u64 %rd2, file;
    cvta.global.u64 %rd3, %rd2;
    mov.u64 %rd4, name;
    cvta.global.u64 %rd5, %rd4;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
    st.param.b64 [m], %rd1; st.param.b64 [f], %rd3; st.param.b32 [l], 12; st.param.b64 [n], %rd5;
    st.param.b64 [c], 1;
    call.uni __assertfail, (m, f, l, n, c); }
good:
    ret;
}";

/// Each thread links a list of `tid % 8` nodes and adds up its values, then frees it.
pub const LISTS: &str = "
.extern .func (.param .b64 p) malloc(.param .b64 size);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .pred %p<4>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %r0;
    mul.wide.u32 %rd1, %r1, 4;
    add.u64 %rd0, %rd0, %rd1;
    rem.u32 %r3, %r1, 8;
    mov.u64 %rd2, 0;
    mov.u32 %r4, 0;
grow:
    setp.ge.u32 %p0, %r4, %r3;
    @%p0 bra walk;
    { .param .b64 s; .param .b64 p;
    st.param.b64 [s], 24;
    call (p), malloc, (s);
    ld.param.b64 %rd3, [p]; }
    mad.lo.u32 %r5, %r1, 100, %r4;
    st.u64 [%rd3], %rd2;
    st.u32 [%rd3+16], %r5;
    mov.u64 %rd2, %rd3;
    add.u32 %r4, %r4, 1;
    bra grow;
walk:
    mov.u32 %r6, 0;
next:
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 bra done;
    ld.u32 %r7, [%rd2+16];
    add.u32 %r6, %r6, %r7;
    ld.u64 %rd4, [%rd2];
    { .param .b64 p;
    st.param.b64 [p], %rd2;
    call free, (p); }
    mov.u64 %rd2, %rd4;
    bra next;
done:
    st.global.u32 [%rd0], %r6;
    ret;
}";

/// Vectors of registers as parameters and results, of functions that are expanded, that recurse and that are called through
/// their address. Thread t gets four words: the greatest common divisor of t + 1 and 36 by itself; t and 36 exchanged and one
/// added; the first of them found through an address; and a sum of four products.
pub const VECTORS: &str = "
.func (.reg .v2 .b32 r) exchange(.reg .v2 .b32 a) {
    mov.b32 r.x, a.y;
    add.u32 r.y, a.x, 1;
    ret;
}
.func (.reg .v2 .b32 r) divisor(.reg .v2 .b32 a) {
    .reg .v2 .b32 %b; .reg .pred %p;
    setp.eq.u32 %p, a.y, 0;
    @%p bra found;
    mov.u32 %b.x, a.y;
    rem.u32 %b.y, a.x, a.y;
    call (r), divisor, (%b);
    ret;
found:
    mov.v2.b32 r, a;
    ret;
}
.func (.reg .f32 r) products(.reg .v4 .f32 a, .reg .f32 f) {
    mul.f32 r, a.x, f;
    fma.rn.f32 r, a.y, f, r;
    fma.rn.f32 r, a.z, f, r;
    fma.rn.f32 r, a.w, f, r;
    ret;
}
.global .align 8 .u64 table[2] = {exchange, divisor};
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .v2 .b32 %v; .reg .f32 %f<4>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 16;
    add.u64 %rd0, %rd0, %rd1;
    add.u32 %r1, %r0, 1;
    mov.u32 %r2, 36;
    call (%v), divisor, ({%r1, %r2});
    mov.u32 %r3, %v.x;
    mov.u32 %v.x, %r0; mov.u32 %v.y, 36;
    call ({%r4, %r5}), exchange, (%v);
    add.u32 %r4, %r4, %r5;
    and.b32 %r6, %r0, 1;
    mul.wide.u32 %rd2, %r6, 8;
    mov.u64 %rd3, table;
    add.u64 %rd3, %rd3, %rd2;
    ld.global.u64 %rd4, [%rd3];
    prototype: .callprototype (.reg .v2 .b32 _) _ (.reg .v2 .b32 _);
    call ({%r7, _}), %rd4, ({%r1, %r2}), prototype;
    cvt.rn.f32.u32 %f0, %r0;
    call (%f1), products, ({%f0, 0f3f800000, 0f40000000, %f0}, 0f40800000);
    cvt.rzi.u32.f32 %r8, %f1;
    st.global.v4.u32 [%rd0], {%r3, %r4, %r7, %r8};
    ret;
}";
