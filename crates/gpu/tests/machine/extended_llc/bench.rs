//! A bench for the extended-LLC kernel without a controller: its window is global memory, as in the authors' measurements on
//! a real GPU (5, "Methodology"). Even CTAs run the kernel; each warp of the odd CTA after it sends a list of requests to one of its
//! sets, one after the other, and keeps the answers. On two SMs, which get CTAs in turn, one is all sets.

use strata_gpu::extended_llc::{
    BLOCK_BYTES, Kernel, RESULT_WORD, ROW_BYTES, asked, atomic_kind, operation, status,
};
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Shape};

use super::model::{Action, Answer, Bytes, Request};

/// Name of the bench's kernel.
const ENTRY: &str = "bench";

/// Sets and their sizes.
#[derive(Clone, Copy, Debug)]
pub struct Sets {
    pub kernel: Kernel,
    pub register_sets: u32,
    pub shared_sets: u32,
    pub ways: u32,
    pub shared_ways: u32,
    /// Cycles of an epoch of compressed sets.
    pub epoch: u32,
}

/// What a run left behind.
pub struct Outcome {
    /// For each set, an answer to each request.
    pub answers: Vec<Vec<Answer>>,
    pub memory: Vec<Bytes>,
    /// For each set and request, cycles of the kernel from the arrival of the request to the store of the result; zeros
    /// unless the text measures.
    pub served: Vec<Vec<u32>>,
}

const BEFORE: &str =
    "\tmov.u32 %t, %ctaid.x;\n\tand.b32 %t, %t, 1;\n\tsetp.ne.u32 %p, %t, 0;\n\t@%p bra.uni REQUESTER;\n";

/// A warp of the requester: a record of its list is a row to be sent. Its word 0 becomes the result, its third line what the
/// kernel measured, its last the answer.
const REQUESTER: &str = "REQUESTER:
	.reg .b64 %record, %words;
	.reg .b32 %left, %place, %cta;
	mov.u32 %t, %tid.x;
	shr.u32 %u, %t, 5;
	and.b32 %t, %t, 31;
	mov.u32 %cta, %ctaid.x;
	sub.u32 %cta, %cta, 1;
	ld.param.u32 %left, [rows_per_cta];
	mad.lo.u32 %place, %cta, %left, %u;
	shr.u32 %cta, %cta, 1;
	mad.lo.u32 %u, %cta, %left, %u;
	mul.wide.u32 %row, %place, 512;
	mul.wide.u32 %words, %t, 4;
	add.u64 %row, %row, %words;
	ld.param.u64 %window, [window];
	add.u64 %row, %row, %window;
	ld.param.u32 %left, [count];
	mul.lo.u32 %u, %u, %left;
	mul.wide.u32 %record, %u, 512;
	add.u64 %record, %record, %words;
	ld.param.u64 %words, [list];
	add.u64 %record, %record, %words;
SEND:
	setp.eq.u32 %p, %left, 0;
	@%p bra.uni SENT;
	ld.global.u32 %value, [%record+128];
	st.relaxed.gpu.global.u32 [%row+128], %value;
	ld.global.u32 %value, [%record+256];
	st.relaxed.gpu.global.u32 [%row+256], %value;
	ld.global.u32 %value, [%record+384];
	st.relaxed.gpu.global.u32 [%row+384], %value;
	ld.global.u32 %status, [%record];
	fence.acq_rel.gpu;
	st.relaxed.gpu.global.u32 [%row], %status;
WAIT:
	ld.relaxed.gpu.global.u32 %status, [%row];
	shfl.sync.idx.b32 %u, %status, 0, 31, -1;
	setp.ge.u32 %p, %u, 0x08000000;
	@%p bra.uni WAIT;
	fence.acq_rel.gpu;
	setp.eq.u32 %p, %t, 0;
	@%p st.global.u32 [%record], %status;
	ld.relaxed.gpu.global.u32 %value, [%row+128];
	st.global.u32 [%record+384], %value;
	ld.relaxed.gpu.global.u32 %value, [%row+384];
	st.global.u32 [%record+256], %value;
	add.u64 %record, %record, 512;
	sub.u32 %left, %left, 1;
	bra.uni SEND;
SENT:
	exit;
";

impl Sets {
    /// The bench's module.
    pub fn text(&self) -> String {
        self.kernel.module(ENTRY, ", .param .u64 list, .param .u32 count", BEFORE, REQUESTER)
    }

    /// The same with the kernel's cycles for a request in a row's last line: the clock is read when a request is there, and
    /// again where the result is stored. The requester sleeps between its looks at the row, so that they delay nothing.
    pub fn measuring_text(&self) -> String {
        let text = self.text().replace("\t.reg .b64 %row,", "\t.reg .b32 %from, %until;\n\t.reg .b64 %row,");
        let text = ['R', 'M', 'L'].into_iter().fold(text, |text, set| {
            let waited = format!("0x08000000;\n\t@%p bra.uni {set}_POLL;\n");
            text.replace(&waited, &format!("{waited}\tmov.u32 %from, %clock;\n"))
        });
        let result = "\t@%first st.relaxed.gpu.global.u32 [%row], ";
        let ends = "\tmov.u32 %until, %clock;\n\tsub.u32 %until, %until, %from;\n\
                    \tst.relaxed.gpu.global.u32 [%row+384], %until;\n";
        let text = text.replace("WAIT:\n", "WAIT:\n\tnanosleep.u32 3000;\n");
        text.replace(result, &format!("{ends}{result}"))
    }

    /// Number of sets.
    pub fn count(&self) -> usize {
        (self.kernel.warps * self.kernel.ctas) as usize
    }

    /// Sends each set its requests, all lists as long, and stops it.
    pub fn run(
        &self,
        device: &mut dyn Device,
        requests: &[Vec<Request>],
        memory: &[Bytes],
    ) -> Result<Outcome, DeviceError> {
        let sets = self.count();
        let count = requests[0].len() + 1;
        let blocks = device.alloc("blocks", memory.len() as u64 * BLOCK_BYTES)?;
        // Odd CTAs have no rows.
        let rows = 2 * sets as u64 * ROW_BYTES;
        let window = device.alloc("window", rows)?;
        let list = device.alloc("list", (sets * count) as u64 * ROW_BYTES)?;
        device.upload(blocks, memory.as_flattened())?;
        device.fill(window, 0, rows)?;
        let mut records: Vec<u8> = Vec::new();
        for of_set in requests {
            assert_eq!(of_set.len() + 1, count, "lists of one length");
            of_set.iter().for_each(|request| records.extend(record(request, blocks)));
            records.extend(row(operation::STOP, 0));
        }
        device.upload(list, &records)?;
        let shape = Shape::new([2 * self.kernel.ctas, 1, 1], [self.kernel.warps * 32, 1, 1]);
        let shape = shape.with_shared(self.shared_sets * self.shared_ways * BLOCK_BYTES as u32);
        let parameters = [
            Arg::Ptr(window),
            Arg::U32(self.kernel.warps),
            Arg::U32(self.register_sets),
            Arg::U32(self.shared_sets),
            Arg::U32(self.ways),
            Arg::U32(self.shared_ways),
            Arg::U32(self.epoch),
            Arg::Ptr(list),
            Arg::U32(count as u32),
        ];
        device.launch(ENTRY, shape, &parameters)?;
        device.download(list, &mut records)?;
        let mut left = vec![[0; 128]; memory.len()];
        device.download(blocks, left.as_flattened_mut())?;
        let mut answers: Vec<Vec<Answer>> = Vec::new();
        let mut served: Vec<Vec<u32>> = Vec::new();
        for (of_set, records) in requests.iter().zip(records.chunks(count * ROW_BYTES as usize)) {
            let records = || of_set.iter().zip(records.chunks(ROW_BYTES as usize));
            answers.push(records().map(|(request, record)| answer(request, record)).collect());
            served.push(records().map(|(_, record)| word(record, 64)).collect());
        }
        Ok(Outcome { answers, memory: left, served })
    }
}

fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record[at * 4..at * 4 + 4].try_into().expect("four bytes"))
}

fn answer(request: &Request, record: &[u8]) -> Answer {
    let result = word(record, RESULT_WORD);
    let answered = matches!(request.action, Action::Read | Action::Atomic(..)) && result & 1 == 1;
    Answer { result, payload: answered.then(|| record[384..].try_into().expect("a line")) }
}

/// A row with an operation on a block.
fn row(operation: u32, block: u32) -> [u8; ROW_BYTES as usize] {
    let mut row = [0; ROW_BYTES as usize];
    let status = status(operation, block);
    debug_assert_eq!(asked(status), (operation, block), "a block has 27 bits");
    fill(&mut row[..128], |_| status);
    row
}

/// Writes all words of a line.
fn fill(line: &mut [u8], word: impl Fn(usize) -> u32) {
    for (at, bytes) in line.chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&word(at).to_le_bytes());
    }
}

fn record(request: &Request, blocks: DevicePtr) -> [u8; ROW_BYTES as usize] {
    assert!(blocks.0.is_multiple_of(BLOCK_BYTES), "blocks are aligned");
    let operation = match request.action {
        Action::Read => operation::READ,
        Action::Write(_) => operation::WRITE,
        Action::Insert { dirty: false } => operation::INSERT,
        Action::Insert { dirty: true } => operation::INSERT_DIRTY,
        Action::Atomic(..) => operation::ATOMIC,
        Action::Flush => operation::FLUSH,
    };
    let mut row = row(operation, (blocks.0 / BLOCK_BYTES) as u32 + request.block as u32);
    row[128..256].copy_from_slice(&request.payload);
    row[256..384].copy_from_slice(&request.swap);
    match request.action {
        Action::Write(enables) => {
            let ones = |byte: usize| if enables >> byte & 1 == 1 { 0xff } else { 0 };
            (0..128).for_each(|byte| row[256 + byte] = ones(byte));
        }
        Action::Atomic(op, ty, words) => {
            // One that the kernel does not have: a number that it does not know.
            let kind = atomic_kind(op, ty).unwrap_or(0xff);
            fill(&mut row[384..], |word| kind | (words >> word & 1) << 31);
        }
        _ => {}
    }
    row
}
