"""Asynchronous copies, barriers in memory, clusters, boxes of tensors, and products of warpgroups."""

import itertools
import re
import struct

import matrices
from case import Case, HEAD, draw, kernel, words
from vectors import expansions, forms, value

# Waits on the barrier `b` for the phase of a parity, but not for ever.
WAIT = ("mov.u32 %r59, 0; W{n}: mbarrier.try_wait.parity.shared::cta.b64 %p9, [b], {parity}; add.u32 %r59, %r59, 1; setp.lt.and.u32 %p11, %r59, 1000, !%p9;"
        " @%p11 bra W{n};\n")
# A barrier of one arrival, 32 KiB of shared memory filled with the input, thread 0 in %p0.
START = (".shared .align 1024 .b8 s[32768]; .shared .align 8 .b8 b[8]; setp.eq.u32 %p0, %t, 0; mov.u32 %r60, s; mov.u32 %r61, %ntid.x; mul.lo.u32 %r61, %r61, 4;\n"
         "@%p0 mbarrier.init.shared::cta.b64 [b], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n")


def show(count, label="S"):
    """Shared memory from `s` on to the output of this CTA."""
    return (f"fence.proxy.async; bar.sync 0; mov.u32 %r50, %ctaid.x; mad.lo.u32 %r50, %r50, {count}, 0; cvt.u64.u32 %rd30, %r50; add.u64 %rd30, %out, %rd30;\n"
            f"shl.b32 %r51, %t, 2; {label}A: setp.ge.u32 %p10, %r51, {count}; @%p10 bra {label}B; add.u32 %r52, %r60, %r51; ld.shared.u32 %r53, [%r52];\n"
            f"cvt.u64.u32 %rd29, %r51; add.u64 %rd29, %rd30, %rd29; st.global.u32 [%rd29], %r53; add.u32 %r51, %r51, %r61; bra {label}A;\n{label}B: bar.sync 0;\n")


def bring(count, label="F"):
    """The input to shared memory."""
    return (f"shl.b32 %r51, %t, 2; {label}A: setp.ge.u32 %p10, %r51, {count}; @%p10 bra {label}B; add.u32 %r52, %r60, %r51; cvt.u64.u32 %rd29, %r51; add.u64 %rd29, %in, %rd29;\n"
            f"ld.global.u32 %r53, [%rd29]; st.shared.u32 [%r52], %r53; add.u32 %r51, %r51, %r61; bra {label}A;\n{label}B: fence.proxy.async; bar.sync 0;\n")


def noise(title, count):
    return draw(title).randbytes(count)


def small_copies():
    """`cp.async` by 32 threads, whole and in part."""
    body = START + "mov.u32 %r1, 0;\n"
    body += "".join(f"mad.lo.u32 %r2, %t, 4, %r60; st.shared.u32 [%r2+{128 * n}], 0x5a5a5a5a;\n" for n in range(16)) + "bar.sync 0;\n"
    body += ("mad.lo.u32 %r3, %t, 16, %r60; mad.wide.u32 %rd1, %t, 16, %in; rem.u32 %r4, %t, 17; rem.u32 %r5, %t, 5; rem.u32 %r6, %t, 9; and.b32 %r7, %t, 1; setp.ne.u32 %p1, %r7, 0;\n"
             "cp.async.ca.shared.global [%r3], [%rd1], 16; cp.async.cg.shared.global [%r3+512], [%rd1+512], 16, %r4; cp.async.ca.shared.global [%r3+1024], [%rd1+8], 8, %r6;\n"
             "cp.async.ca.shared.global [%r3+1028], [%rd1+4], 4; cp.async.commit_group; cp.async.ca.shared.global.L2::128B [%r3+1536], [%rd1+1024], 4, %r5;\n"
             "cp.async.cg.shared.global [%r3+1552], [%rd1+2048], 16, %p1; cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n")
    # The word at 1028 belongs to the copy of 8 bytes, too: leave the later one out.
    body = body.replace("cp.async.ca.shared.global [%r3+1028], [%rd1+4], 4; ", "cp.async.ca.shared.global [%r3+1036], [%rd1+4], 4; ").replace("[%r3+1552]", "[%r3+2560]")
    body += show(4096)
    return lambda title: Case(title, kernel(body), 4096, [noise(title, 4096)])


def arrivals():
    """`cp.async.mbarrier.arrive` of 32 threads."""
    body = (".shared .align 16 .b8 s[1024]; .shared .align 8 .b8 b[8]; mov.u32 %r60, s; mov.u32 %r61, 128; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [b], 32; bar.sync 0;\n"
            "mad.lo.u32 %r3, %t, 16, %r60; mad.wide.u32 %rd1, %t, 16, %in; cp.async.cg.shared.global [%r3], [%rd1], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n"
            + WAIT.format(n=0, parity=0) + "cp.async.ca.shared.global [%r3+512], [%rd1+512], 8; mov.u64 %rd3, b; cp.async.mbarrier.arrive.shared.b64 [%rd3]; mbarrier.arrive.shared.b64 _, [b];\n"
            + WAIT.format(n=1, parity=1) + show(1024))
    return lambda title: Case(title, kernel(body), 1024, [noise(title, 1024)])


def blocks():
    """Blocks to shared memory, and back."""
    body = START + bring(32768) + ("@!%p0 bra L;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 8208; mov.u32 %r1, 4112;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r60+16], [%in+48], %r1, [b]; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r60+8192], [%in+16384], 4096, [b];\n"
        "L: " + WAIT.format(n=0, parity=0) + "fence.proxy.async; bar.sync 0; @!%p0 bra N; cp.async.bulk.prefetch.L2.global [%in], 4096; cp.async.bulk.global.shared::cta.bulk_group [%out+32768], [%r60+16], 8192; cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\nN: ") + show(32768)
    return lambda title: Case(title, kernel(body), 40960, [noise(title, 32768)], block=(128, 1, 1))


# Who is given a block by whom: CTAs of a cluster, the target's rank less one's own, and whether `mapa` makes its addresses.
WITHIN = {"a neighbour": (2, 1, True), "itself by mapa": (2, 0, True), "itself": (2, 0, False), "itself by mapa, alone": (1, 0, True),
          "itself, alone": (1, 0, False), "itself, without a cluster": (0, 0, False), "itself by mapa, without a cluster": (0, 0, True)}


def to_a_neighbour(words_, count, data, who="a neighbour"):
    """A block from the beginning of shared memory to 2064 bytes behind it, in another CTA or the same."""
    ctas, step, mapped = WITHIN[who]
    body = START.replace("s[32768]", "s[4096]") + bring(4096) + ("mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank; @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], " + f"{count};\n"
        + ("barrier.cluster.arrive; barrier.cluster.wait;" if ctas else "bar.sync 0;") + f" @!%p0 bra N; add.u32 %r4, %r4, {step}; rem.u32 %r4, %r4, %r5; add.u32 %r1, %r60, 2064; mov.u32 %r2, b;\n"
        + ("mapa.shared::cluster.u32 %r1, %r1, %r4; mapa.shared::cluster.u32 %r2, %r2, %r4;\n" if mapped else "")
        + f"fence.proxy.async; {words_} [%r1], [%r60], {count}, [%r2];\nN: " + WAIT.format(n=0, parity=0)
        + ("barrier.cluster.arrive; barrier.cluster.wait;\n" if ctas else "")) + show(4096)
    directives = f".reqnctapercluster {ctas}, 1, 1" if ctas else ""
    # Of each CTA something else.
    body = body.replace("add.u64 %rd29, %in, %rd29;", "add.u64 %rd29, %in, %rd29; mov.u32 %r54, %ctaid.x; mul.wide.u32 %rd28, %r54, 4096; add.u64 %rd29, %rd29, %rd28;", 1)
    n = max(ctas, 1)
    return lambda title: Case(title, kernel(body, directives=directives), 4096 * n, [data(title, n)], grid=(n, 1, 1), block=(128, 1, 1))


def noise_of_all(title, n):
    return noise(title, 4096 * n)


def numbers(ty, width):
    kind = ty if ty[-3:] in ("f16", "f32", "f64") or ty[0] == "f" else str(8 * width)

    def make(title, n=1):
        random = draw(title)
        return b"".join(value(kind, random).to_bytes(width, "little") for _ in range(4096 * n // width))

    return make


def reduction(words_):
    """A block combined with what is there."""
    ty = re.findall(r"\.(bf16|f16|f32|f64|[usb](?:32|64))$", words_)[0]
    width = {"bf16": 2, "f16": 2}.get(ty) or int(ty[1:]) // 8
    count = 1024
    if ".global.shared" not in words_:
        return to_a_neighbour(words_, count, numbers(ty, width))
    body = START + bring(4096) + (f"@!%p0 bra N; add.u64 %rd1, %out, 16; {words_} [%rd1], [%r60], {count}; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nN: ")
    # What is there comes first.
    body = body.replace("@!%p0 bra N;", f"mad.wide.u32 %rd2, %t, 4, %out; mad.wide.u32 %rd3, %t, 4, %in;" + "".join(
        f" ld.global.u32 %r1, [%rd3+{2048 + 512 * n}]; st.global.u32 [%rd2+{512 * n}], %r1;" for n in range(4)) + " fence.proxy.async; bar.sync 0; @!%p0 bra N;", 1)
    return lambda title: Case(title, kernel(body), 2048, [numbers(ty, width)(title)], block=(128, 1, 1))


def states():
    """What a barrier says to one thread; phases, drops, counts that are ahead, and bytes to come."""
    steps, at = "", 0

    def say(text):
        nonlocal steps, at
        steps += text.replace("PUT", f"selp.u32 %r9, 1, 0, %p1; st.global.u32 [%out+{4 * at}], %r9;").replace("NUM", f"st.global.u32 [%out+{4 * at}], %r9;") + "\n"
        at += 1

    test = "mbarrier.test_wait.shared::cta.b64 %p1, [b], {}; PUT".format
    parity = "mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], {}; PUT".format
    pending = "mbarrier.pending_count.b64 %r9, {}; NUM".format
    steps = ".shared .align 8 .b64 b; setp.ne.u32 %p0, %t, 0; @%p0 bra Z; mbarrier.init.shared::cta.b64 [b], 4;\n"
    for arrive in ("mbarrier.arrive.shared::cta.b64 %rd1, [b]", "mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [b], 2", "mbarrier.arrive.noComplete.shared.b64 %rd3, [b], 0"):
        if arrive.endswith(" 0"):
            continue
        steps += arrive + ";\n"
        say(pending(arrive.split()[1].rstrip(",")))
        say(test("%rd1"))
        say(parity(0))
        say(parity(1))
    steps += "mbarrier.arrive.shared::cta.b64 %rd4, [b];\n"
    for token in ("%rd1", "%rd2", "%rd4"):
        say(test(token))
    say(pending("%rd4"))
    say(parity(0))
    say(parity(1))
    # One fewer from the phase after this on.
    steps += "mbarrier.arrive_drop.shared.b64 %rd5, [b]; mbarrier.arrive.noComplete.shared.b64 %rd6, [b], 2;\n"
    say(pending("%rd5"))
    say(pending("%rd6"))
    say(test("%rd5"))
    steps += "mbarrier.arrive.shared.b64 %rd7, [b];\n"
    say(test("%rd5"))
    steps += "mbarrier.arrive.shared.b64 %rd8, [b], 3;\n"
    say(pending("%rd8"))
    say(test("%rd8"))
    say(parity(0))
    say(parity(1))
    # Bytes.
    steps += "mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [b], 64; mbarrier.arrive.shared.b64 %rd10, [b], 2;\n"
    say(test("%rd9"))
    steps += "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 24;\n"
    say(test("%rd9"))
    steps += "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 8; mbarrier.complete_tx.shared::cta.b64 [b], 40;\n"
    say(test("%rd10"))
    steps += "mbarrier.complete_tx.shared::cta.b64 [b], 8;\n"
    say(test("%rd10"))
    say("mbarrier.try_wait.shared::cta.b64 %p1, [b], %rd9, 100; PUT")
    say("mbarrier.try_wait.parity.shared::cta.b64 %p1, [b], 1; PUT" if False else parity(1))
    steps += "mbarrier.arrive_drop.expect_tx.shared.b64 _, [b], 16; mbarrier.complete_tx.shared::cta.b64 [b], 16; mbarrier.arrive_drop.noComplete.shared.b64 %rd11, [b], 1; mbarrier.arrive.shared.b64 %rd12, [b];\n"
    for token in ("%rd11", "%rd12"):
        say(pending(token))
        say(test(token))
    steps += "mbarrier.arrive.shared.b64 %rd13, [b];\n"
    say(test("%rd13"))
    steps += "mbarrier.inval.shared.b64 [b]; mbarrier.init.shared.b64 [b], 1048575; mbarrier.arrive.shared.b64 %rd14, [b], 1048574;\n"
    say(pending("%rd14"))
    say(test("%rd14"))
    steps += "mbarrier.arrive.shared.b64 %rd15, [b];\n"
    say(pending("%rd15"))
    say(test("%rd14"))
    return lambda title: Case(title, kernel(steps + "Z:", inputs=0), 4 * at)


PLACE = ("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, %ntid.x; mad.lo.u32 %r6, %r4, %r5, %t;\n")


def places():
    names = ["clusterid.x", "clusterid.y", "nclusterid.x", "nclusterid.y", "cluster_ctaid.x", "cluster_ctaid.y", "cluster_nctaid.x", "cluster_nctaid.y", "cluster_ctarank", "cluster_nctarank"]
    body = PLACE + "mul.wide.u32 %rd1, %r6, 44; add.u64 %out, %out, %rd1;\n"
    body += "".join(f"mov.u32 %r8, %{name}; st.global.u32 [%out+{4 * n}], %r8;\n" for n, name in enumerate(names))
    body += "mov.pred %p1, %is_explicit_cluster; selp.u32 %r8, 1, 0, %p1; st.global.u32 [%out+40], %r8;"
    return lambda title: Case(title, kernel(body, inputs=0, directives=".explicitcluster .reqnctapercluster 2, 3, 1"), 44 * 24, grid=(4, 6, 1), block=(1, 1, 1))


def neighbours():
    """One another's shared memory, by both kinds of addresses, and atomics there."""
    body = PLACE + (".shared .align 16 .b8 s[512]; .shared .u32 sum; mul.wide.u32 %rd1, %r6, 24; add.u64 %out, %out, %rd1;\n"
        "mov.u32 %r7, s; shl.b32 %r8, %t, 2; add.u32 %r7, %r7, %r8; mad.lo.u32 %r9, %r1, 1000, %t; st.shared::cta.u32 [%r7], %r9; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [sum], 0;\n"
        "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; mov.u32 %r10, %cluster_ctarank; add.u32 %r11, %r10, 1; and.b32 %r11, %r11, 3;\n"
        "mapa.shared::cluster.u32 %r12, %r7, %r11; ld.shared::cluster.u32 %r13, [%r12]; st.global.u32 [%out], %r13; cvt.u64.u32 %rd2, %r7; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, %r11; ld.u32 %r14, [%rd3];\n"
        "st.global.u32 [%out+4], %r14; isspacep.shared::cluster %p1, %rd3; selp.u32 %r15, 1, 0, %p1; isspacep.shared::cta %p2, %rd3; selp.u32 %r16, 10, 0, %p2; add.u32 %r15, %r15, %r16; isspacep.shared %p2, %rd3; selp.u32 %r16, 100, 0, %p2; add.u32 %r15, %r15, %r16; st.global.u32 [%out+20], %r15;\n"
        "getctarank.u64 %r16, %rd3; getctarank.shared::cluster.u32 %r17, %r7; mad.lo.u32 %r16, %r16, 10, %r17; st.global.u32 [%out+8], %r16;\n"
        "mov.u32 %r18, 0; mov.u32 %r19, sum; mapa.shared::cluster.u32 %r20, %r19, %r18; atom.relaxed.cluster.shared::cluster.add.u32 %r21, [%r20], %r9; red.shared::cluster.add.u32 [%r20], 1;\n"
        "add.u32 %r22, %r10, 3; and.b32 %r22, %r22, 3; mapa.shared::cluster.u32 %r23, %r7, %r22; barrier.cluster.arrive; barrier.cluster.wait; not.b32 %r24, %r9; st.shared::cluster.u32 [%r23], %r24;\n"
        "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r25, [%r7]; st.global.u32 [%out+12], %r25; ld.shared.u32 %r26, [sum]; st.global.u32 [%out+16], %r26; barrier.cluster.arrive; barrier.cluster.wait;")
    return lambda title: Case(title, kernel(body, inputs=0, directives=".reqnctapercluster 4, 1, 1"), 24 * 12 * 64, grid=(12, 1, 1), block=(64, 1, 1))


def windows():
    """What `isspacep` says of a CTA's own shared memory, plain and by `mapa`, and of another's; and the ranks of all."""
    body = PLACE + ("mul.wide.u32 %rd1, %r6, 64; add.u64 %out, %out, %rd1; .shared .align 16 .b8 s[64]; mov.u32 %r7, s; cvt.u64.u32 %rd2, %r7; cvta.shared.u64 %rd2, %rd2; mov.u32 %r8, %cluster_ctarank; add.u32 %r9, %r8, 1; and.b32 %r9, %r9, 1;\n"
                    "mapa.u64 %rd3, %rd2, %r8; mapa.u64 %rd4, %rd2, %r9; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0;\n")
    for n, register in enumerate(("%rd2", "%rd3", "%rd4")):
        for bit, space in enumerate(("shared", "shared::cta", "shared::cluster", "global", "local", "const", "param")):
            body += f"isspacep.{space} %p1, {register}; selp.u32 %r10, {1 << bit}, 0, %p1; or.b32 %r{20 + n}, %r{20 + n}, %r10;\n"
        body += f"st.global.u32 [%out+{4 * n}], %r{20 + n}; getctarank.u64 %r11, {register}; st.global.u32 [%out+{16 + 4 * n}], %r11;\n"
    body += "setp.eq.u64 %p2, %rd2, %rd3; selp.u32 %r12, 1, 0, %p2; st.global.u32 [%out+32], %r12; barrier.cluster.arrive; barrier.cluster.wait;"
    return lambda title: Case(title, kernel(body, inputs=0, directives=".reqnctapercluster 2, 1, 1"), 64 * 4, grid=(4, 1, 1), block=(1, 1, 1))


def senders():
    """CTA 0 of a cluster of three waits for arrivals, words and sums of the others."""
    ops = [("add.u32", "%r15"), ("add.s32", "%r15"), ("min.u32", "%r15"), ("max.s32", "%r15"), ("inc.u32", "1000"), ("dec.u32", "1000"), ("and.b32", "%r15"), ("or.b32", "%r15"), ("xor.b32", "%r15")]
    count = 40 + 4 * len(ops) * 2 - 8 + 16
    body = PLACE + (".shared .align 8 .b8 b[8]; .shared .align 16 .b8 s[256]; mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %r7, 0;\n"
        "@%p0 mbarrier.init.shared::cta.b64 [b], 3; mov.u32 %r11, s; mad.lo.u32 %r12, %t, 4, %r11; st.shared.u32 [%r12], 5; st.shared.u32 [%r12+128], 0; fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; @!%p0 bra W;\n"
        "mov.u32 %r8, 0; mov.u32 %r9, b; mapa.shared::cluster.u32 %r10, %r9, %r8; shl.b32 %r12, %r7, 4; add.u32 %r11, %r11, %r12; mapa.shared::cluster.u32 %r13, %r11, %r8; mov.u32 %r14, s; mapa.shared::cluster.u32 %r14, %r14, %r8;\n"
        f"@%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r10], {2 * (16 + 8 + 4 + 8 + 4 * len(ops))}; add.u32 %r15, %r1, 100; add.u32 %r16, %r1, 200; cvt.u64.u32 %rd1, %r15; shl.b64 %rd1, %rd1, 30; @%p1 bra A;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r13], {%r15, %r16, %r15, %r16}, [%r10]; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r13+128], {%r16, %r15}, [%r10]; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r13+136], %r15, [%r10];\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r14+120], %rd1, [%r10];\n"
        + "".join(f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op} [%r14+{64 + 4 * n}], {x}, [%r10];\n" for n, (op, x) in enumerate(ops))
        + "A: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\nW: @!%p1 bra N;\nmov.u32 %r59, 0; T: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0, 100000; add.u32 %r59, %r59, 1; setp.lt.and.u32 %p3, %r59, 1000, !%p2; @%p3 bra T;\n"
        "mov.u32 %r17, s; mad.lo.u32 %r18, %t, 4, %r17; ld.shared.u32 %r19, [%r18]; ld.shared.u32 %r20, [%r18+128]; mul.wide.u32 %rd2, %r1, 256; add.u64 %out, %out, %rd2; mad.wide.u32 %rd3, %t, 4, %out; st.global.u32 [%rd3], %r19; st.global.u32 [%rd3+128], %r20;\n"
        "N: barrier.cluster.arrive; barrier.cluster.wait;")
    return lambda title: Case(title, kernel(body, inputs=0, directives=".reqnctapercluster 3, 1, 1"), 256 * 6, grid=(6, 1, 1))


def multicast():
    body = PLACE + (".shared .align 128 .b8 s[1024]; .shared .align 8 .b8 b[8]; mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %r7, 1; and.pred %p2, %p0, %p1; setp.ne.u32 %p3, %r7, 2;\n"
        "@%p0 mbarrier.init.shared::cta.b64 [b], 1; fence.mbarrier_init.release.cluster; shl.b32 %r8, %t, 2; mov.u32 %r9, s; add.u32 %r9, %r9, %r8; st.shared.u32 [%r9], 77; st.shared.u32 [%r9+512], 77;\n"
        "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 512; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait; mov.b16 %h0, 11; mov.u32 %r20, s; mov.u32 %r21, b;\n"
        "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r20], [%in], 512, [%r21], %h0; @!%p3 bra N;\n" + WAIT.format(n=0, parity=0)
        + "N: ld.shared.u32 %r10, [%r9]; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd1, %out, %rd2; st.global.u32 [%rd1], %r10; barrier.cluster.arrive; barrier.cluster.wait;")
    return lambda title: Case(title, kernel(body, directives=".reqnctapercluster 4, 1, 1"), 2048, [noise(title, 512)], grid=(4, 1, 1), block=(128, 1, 1))


# Products of warpgroups. Of a layout: bytes of a swizzled line (16: no swizzle), whether k comes first, bytes between groups of
# eight lines, the other distance, and where the matrix begins.
K_FIRST = [(128, True, 1024, 16, 0), (128, True, 2048, 16, 96), (64, True, 512, 16, 32), (32, True, 256, 16, 0), (16, True, 256, 128, 0)]
X_FIRST = [(128, False, 1024, 2048, 0), (64, False, 512, 1024, 0), (32, False, 256, 512, 0), (16, False, 256, 128, 0)]
AREA_A, IMAGE = 8192, 40960


def descriptor(layout, base):
    line, _, stride, leading, begin = layout
    return (base + begin) // 16 | leading // 16 << 16 | stride // 16 << 32 | {128: 1, 64: 2, 32: 3, 16: 0}[line] << 62


def warpgroup(types, n, a=K_FIRST[0], b=K_FIRST[0], signs=(1, 1), adds="1", op="", end="", how="whole"):
    d, ta, tb = types
    k = 256 // matrices.BITS[ta]
    code = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}{op}.{d}.{ta}.{tb}{end}"
    pieces = n // 4 if d == "f16" else n // 2
    letter = "f" if d == "f32" else "r"
    sums = [f"%{'x' if letter == 'f' else 'c'}{at}" for at in range(pieces)]
    flags = adds
    if ta not in ("s8", "u8", "b1"):
        flags += f", {signs[0]}, {signs[1]}"
    if ta in ("f16", "bf16"):
        flags += (f", {int(not a[1])}" if a else "") + f", {int(not b[1])}"
    of_a = "%rd10" if a else "{%a0, %a1, %a2, %a3}"
    text = (f"{HEAD}.visible .entry k(.param .u64 out, .param .u64 in0, .param .u64 in1, .param .u64 in2) {{\n"
            f".reg .pred %p<8>; .reg .b32 %r<16>, %a<4>, %c<{pieces}>; .reg .f32 %x<{pieces}>; .reg .b64 %rd<24>; .shared .align 1024 .b8 s[{IMAGE}];\n"
            "ld.param.u64 %rd0, [in0]; ld.param.u64 %rd1, [in1]; ld.param.u64 %rd2, [in2]; ld.param.u64 %rd3, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, s; shl.b32 %r2, %r0, 2;\n"
            f"L: cvt.u64.u32 %rd4, %r2; add.u64 %rd4, %rd0, %rd4; ld.global.b32 %r3, [%rd4]; add.u32 %r4, %r1, %r2; st.shared.b32 [%r4], %r3; add.u32 %r2, %r2, 512; setp.lt.u32 %p0, %r2, {IMAGE}; @%p0 bra L;\n"
            f"fence.proxy.async.shared::cta; bar.sync 0; mad.wide.u32 %rd5, %r0, 16, %rd1; ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%rd5]; mad.wide.u32 %rd6, %r0, {4 * pieces}, %rd2; mad.wide.u32 %rd7, %r0, {4 * pieces}, %rd3;\n"
            + "".join(f"ld.global.b32 {name}, [%rd6+{4 * at}];\n" for at, name in enumerate(sums))
            # The matrices' places count from where the window of shared memory begins.
            + f"shr.u32 %r5, %r1, 4; cvt.u64.u32 %rd8, %r5; add.u64 %rd10, %rd8, {descriptor(a, 0) if a else 0}; add.u64 %rd11, %rd8, {descriptor(b, AREA_A)}; setp.eq.u32 %p1, %r1, %r1; not.pred %p2, %p1;\n"
            + f"wgmma.fence.sync.aligned; {code} {{{', '.join(sums)}}}, {of_a}, %rd11, {flags}; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
            + "".join(f"st.global.b32 [%rd7+{4 * at}], {name};\n" for at, name in enumerate(sums)) + "ret; }\n")

    def make(title):
        random = draw(title)
        fill = lambda kind, count: b"".join(matrices.register(kind, random, how).to_bytes(4, "little") for _ in range(count // 4))
        return Case(title, text, 512 * pieces, [fill(ta, AREA_A) + fill(tb, IMAGE - AREA_A), fill(ta, 2048), fill(d, 512 * pieces)], block=(128, 1, 1))

    title = f"{code} {'registers' if not a else a} {b} {signs} {adds} {how}".replace(",", "")
    return title, make


def warpgroups():
    half = ("f32", "f16", "f16")
    for b in K_FIRST + X_FIRST:
        yield warpgroup(half, 64, None, b)
        yield warpgroup(("f32", "bf16", "bf16"), 136 if b[2] < 2048 else 128, None, b)
        yield warpgroup(half, 64, b, K_FIRST[0])
        yield warpgroup(("f16", "f16", "f16"), 64, b, X_FIRST[1])
    for n in (8, 16, 24, 32, 40, 96, 192, 256):
        yield warpgroup(half, n)
    for signs in ((1, -1), (-1, 1), (-1, -1)):
        yield warpgroup(half, 16, signs=signs)
    for adds in ("0", "%p1", "%p2"):
        yield warpgroup(half, 16, adds=adds)
    eights = ("e4m3", "e5m2")
    for types in [("f32", "tf32", "tf32")] + [(d, x, y) for d in ("f32", "f16") for x in eights for y in eights]:
        for a, b in ((K_FIRST[0], K_FIRST[4]), (None, K_FIRST[2]), (K_FIRST[3], K_FIRST[1])):
            yield warpgroup(types, 32, a, b)
    for x in ("s8", "u8"):
        for y in ("s8", "u8"):
            for op in ("", ".satfinite"):
                yield warpgroup(("s32", x, y), 32, op=op)
                yield warpgroup(("s32", x, y), 48, None, K_FIRST[4], op=op, how="edges")
    for b in K_FIRST:
        yield warpgroup(("s32", "b1", "b1"), 24, b, K_FIRST[0], op="", end=".and.popc")
    for types in (half, ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"), ("f32", "e4m3", "e5m2"), ("f16", "e5m2", "e4m3")):
        for how in ("any", "edges"):
            yield warpgroup(types, 16, how=how)


# Boxes of tensors.
LINE_BYTES = (0, 32, 64, 128)


def box(element, sizes, extent, steps, at, swizzle=0, nan=False, op=None, probe=None):
    """A box to shared memory, shown, and on to another tensor, combined with it if there is an operation.

    A probe brings it only one way (`load`, `store`), or asks whether the barrier is given the bytes of whole lines (`lines`)
    or of elements (`elements`); it begins with other bytes in shared memory and ends with what the barrier says.
    """
    rank = len(sizes)
    size = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2}[element]
    count = [extent[0], *(-(-e // s) for e, s in zip(extent[1:], steps[1:]))]
    bytes_ = size
    for x in count:
        bytes_ *= x
    shown = (bytes_ + 3) // 4 * 4
    if probe:
        lines_ = bytes_ // (count[0] * size) * max(count[0] * size, LINE_BYTES[swizzle])
        bytes_, shown = lines_ if probe == "lines" else bytes_, lines_
    strides, stride = [], (sizes[0] * size + 15) // 16 * 16
    for x in sizes[1:]:
        strides.append(stride)
        stride *= x
    coordinates = ", ".join(f"%r{20 + n}" for n in range(rank))
    back = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%rd2, {{{coordinates}}}], [%r60];" if not op else \
        f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.tile.bulk_group [%rd2, {{{coordinates}}}], [%r60];"
    there = (f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], {bytes_}; mov.u32 %r2, b;\n"
             f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r60], [%rd1, {{{coordinates}}}], [%r2];\nL: " + WAIT.format(n=0, parity=0))
    fill = ""
    if probe:
        fill = (f"mad.lo.u32 %r3, %t, 4, %r60; mov.u32 %r4, %t; V: mad.lo.u32 %r5, %r4, 66051, 67305985; st.shared.u32 [%r3], %r5; add.u32 %r3, %r3, %r61; shr.u32 %r6, %r61, 2; add.u32 %r4, %r4, %r6; setp.lt.u32 %p2, %r4, {shown // 4}; @%p2 bra V;\n"
                "fence.proxy.async; bar.sync 0;\n")
        back = back if probe == "store" else ""
        if probe == "store":
            there = "L: setp.eq.u32 %p9, 0, 0;\n"
    body = START + fill + "".join(f"mov.b32 %r{20 + n}, {x};\n" for n, x in enumerate(at)) + (
        "mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, o; cvta.param.u64 %rd2, %rd2; prefetch.tensormap [%rd1]; @!%p0 bra L;\n" + there
        + show(shown) + f"@!%p0 bra N; {back} cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nN:")
    if probe:
        body += f" selp.u32 %r6, 1, 0, %p9; @%p0 st.global.u32 [%out+{shown}], %r6;"

    def make(title):
        random = draw(title)
        kind = element if element[0] in "fb" else str(8 * size)
        tensor = lambda: b"".join(value("16" if kind == "8" else kind, random).to_bytes(8, "little")[:size] for _ in range(stride // size)) if op else random.randbytes(stride)
        more = lambda gpu, inputs: [gpu.tensor_map(element, inputs[n], sizes, strides, extent, steps, 0, swizzle, nan and n == 0) for n in (0, 1)]
        return Case(title, kernel(body, inputs=2, more=", .param .align 64 .b8 m[128], .param .align 64 .b8 o[128]"), shown + 4 * bool(probe), [tensor(), tensor()], more=more, reads=(1,))

    title = f"box {element} {sizes} of {extent} by {steps} at {at} swizzle {swizzle} {'nan' if nan else 'zero'} {op or ''}{' ' + probe if probe else ''}".replace(",", "")
    return title, make


MAPS = ", .param .align 64 .b8 m[128]"


def plane(gpu, inputs):
    return [gpu.tensor_map("u32", inputs[0], (64, 32), (256,), (32, 8), (1, 1), 0, 3)]


def shared_box():
    """A box from CTA 1 of four to three of them."""
    body = START.replace("s[32768]", "s[1024]") + ("mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p1, %r7, 1; and.pred %p2, %p0, %p1; setp.ne.u32 %p3, %r7, 2; mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1; mov.b16 %h0, 11; mov.u32 %r20, 16; mov.u32 %r21, 27; mov.u32 %r2, b;\n"
        "mad.lo.u32 %r3, %t, 4, %r60; st.shared.u32 [%r3], 9; st.shared.u32 [%r3+512], 9; @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 1024; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r60], [%rd1, {%r20, %r21}], [%r2], %h0; @!%p3 bra N;\n" + WAIT.format(n=0, parity=0) + "N: barrier.cluster.arrive; barrier.cluster.wait;\n") + show(1024)
    return lambda title: Case(title, kernel(body, more=MAPS, directives=".reqnctapercluster 4, 1, 1"), 4096, [noise(title, 8192)], grid=(4, 1, 1), block=(128, 1, 1), more=plane)


def mapped_later():
    """The map is copied to global memory, and read from there behind a fence."""
    body = START + ("mov.b64 %rd1, m; add.u64 %rd2, %out, 4096; mad.wide.u32 %rd3, %t, 4, %rd2; cvta.param.u64 %rd5, %rd1; mad.wide.u32 %rd6, %t, 4, %rd5; ld.u32 %r1, [%rd6]; st.global.u32 [%rd3], %r1; membar.gl; bar.sync 0;\n"
        "fence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128; mov.u32 %r20, -4; mov.u32 %r21, 3; mov.u32 %r2, b; @!%p0 bra L;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 1024; cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd2, {%r20, %r21}]; cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r60], [%rd2, {%r20, %r21}], [%r2];\nL: " + WAIT.format(n=0, parity=0)) + show(1024)
    # The map itself is opaque: it is not shown.
    body += "mad.wide.u32 %rd7, %t, 4, %rd2; st.global.u32 [%rd7], 0;"
    return lambda title: Case(title, kernel(body, more=MAPS), 4096 + 128, [noise(title, 8192)], more=plane)


def boxes():
    ones = [1] * 5
    # The innermost coordinate is at a multiple of 16 bytes.
    for swizzle, inner in ((0, 24), (0, 64), (1, 16), (1, 8), (2, 32), (3, 64), (3, 40)):
        for at in ((8, 3), (64, 30), (-8, -5), (200, 0)):
            yield box("f16", (100, 40), (inner, 24), ones[:2], at, swizzle, at[0] > 60)
    sizes = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2}
    for element, size in sizes.items():
        for nan in ((False, True) if element in ("f16", "f32", "f64", "bf16") else (False,)):
            yield box(element, (48, 9), (64 // size, 5), ones[:2], (32 if size == 1 else 40 - 16 // size, 6), 2, nan)
    yield box("u8", (333,), (176,), ones[:1], (208,))
    yield box("u16", (333,), (256,), ones[:1], (-8,))
    yield box("f32", (9, 5, 4, 7), (8, 3, 3, 5), (1, 2, 1, 2), (4, 1, -1, 3), 1, True)
    yield box("f32", (36, 15, 14), (32, 7, 6), (1, 3, 2), (-4, 1, 3), 3, False)
    yield box("f64", (6, 5, 4, 3, 3), (4, 3, 2, 2, 2), ones, (2, -1, 3, 1, 0), 1)
    yield box("bf16", (100, 40, 3), (16, 40, 2), ones[:3], (8, 3, 1), 1)
    for element, ops in (("u32", ("add", "min", "max", "inc", "dec", "and", "or", "xor")), ("s32", ("add", "min", "max", "and", "or", "xor")), ("u64", ("add", "min", "max", "and", "or", "xor")),
                         ("s64", ("min", "max")), ("f16", ("add", "min", "max")), ("bf16", ("add", "min", "max")), ("f32", ("add",)), ("f64", ("add",))):
        for op in ops:
            yield box(element, (32, 12), (64 // sizes[element], 6), ones[:2], (16 if sizes[element] == 2 else 20, 4), 0, False, op)
    # What a GPU refuses, and lines that a swizzle leaves in part.
    for probe in ("load", "store"):
        yield box("f16", (100, 40), (64, 24), ones[:2], (-3, -5), 0, probe=probe)
        yield box("f16", (100, 40), (64, 24), ones[:2], (12, 5), 0, probe=probe)
        yield box("u32", (100, 40), (32, 4), ones[:2], (2, 5), 0, probe=probe)
        yield box("u64", (100, 40), (16, 4), ones[:2], (3, 5), 3, probe=probe)
        yield box("u8", (333,), (176,), ones[:1], (200,), probe=probe)
        for at in ((-8, -5), (-8, 5), (8, -5), (64, 30), (200, 0), (8, 200)):
            yield box("f16", (100, 40), (64, 24), ones[:2], at, 0, probe=probe)
    for swizzle, inner in ((1, 8), (2, 8), (2, 24), (3, 8), (3, 40)):
        for probe in ("load", "lines", "store"):
            yield box("f16", (104, 40), (inner, 13), ones[:2], (16, 7), swizzle, probe=probe)
    yield box("u32", (32, 12, 3), (4, 3, 2), ones[:3], (8, 4, 1), 3, probe="lines")
    for op in ("add", "and"):
        yield box("s64", (32, 12), (8, 6), ones[:2], (20, 4), 0, False, op)
    for op in ("add", "min"):
        yield box("u32", (32, 12), (16, 6), ones[:2], (-4, 4), 0, False, op)


def cases():
    yield "cp.async", small_copies()
    yield "cp.async.mbarrier.arrive", arrivals()
    yield "cp.async.bulk", blocks()
    codes = [code for _, words_, _ in forms() if words_.startswith("cp.reduce.async.bulk.") and "tensor" not in words_ for code in expansions(words_)]
    # What the ISA has beside them.
    kinds = [f"{op}.{ty}" for op in ("min", "max") for ty in ("u32", "s32", "u64", "s64", "f16", "bf16")] + [f"{op}.{ty}" for op in ("and", "or", "xor") for ty in ("b32", "b64")]
    codes += [f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{kind}" for kind in kinds]
    for code in dict.fromkeys(codes):
        yield code, reduction(code)
    for who in WITHIN:
        yield f"cp.async.bulk to {who}", to_a_neighbour("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", 1024, noise_of_all, who)
    yield "a box for several CTAs", shared_box()
    yield "a tensor map in memory", mapped_later()
    yield "mbarrier states", states()
    yield "clusters: places", places()
    yield "clusters: shared memory", neighbours()
    yield "clusters: windows", windows()
    yield "clusters: arrivals", senders()
    yield "clusters: multicast", multicast()
    yield from warpgroups()
    yield from boxes()
