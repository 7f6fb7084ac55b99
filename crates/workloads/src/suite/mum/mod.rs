//! ISPASS 2009's MUM (MUMmerGPU): reads of DNA are matched with a suffix tree of a reference.

mod dna;
mod expected;
mod tree;

use self::expected::expected;
use self::tree::Tree;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "mum",
    suite: "ISPASS",
    papers: &["hi-end"],
    description: "Longest matches of reads in a suffix tree, a thread per read: chains of loads at unrelated \
                  addresses, each of which decides the next, and loops that differ in every lane.",
    kernels: &[kernel("mum_match", "mummergpuKernel"), kernel("mum_match_opposite", "mummergpuRCKernel")],
    differences: &[
        "nodes, children and the reference are linear arrays read through the read-only path, not textures laid \
         out in two dimensions",
        "nodes are numbered level by level; MUMmerGPU's own order is so in the upper levels only",
        "genome and reads are made up: letters as frequent as in Bacillus anthracis, a fifth of the genome repeats \
         other parts with changes, one letter in 64 of a read is random; the genome is no longer than 2 million",
        "a match that ends at a node is recorded as that node with 0 letters, whether the read ends there or not",
        "the suffix after one that ends at a node goes on from that node's link, not from its parent's",
        "both strands are matched",
    ],
    inputs: &[
        input(Size::Test, "reference 2,000 letters, 530 reads of 22", || {
            Box::new(Mum { genome: 3000, reference: 2000, reads: 530, read_length: 22 })
        }),
        input(Size::Small, "reference 20,000 letters, 8,000 reads of 25", || {
            Box::new(Mum { genome: 60_000, reference: 20_000, reads: 8000, read_length: 25 })
        }),
        input(Size::Paper, "reference 140,000 letters, 50,000 reads of 25", || {
            Box::new(Mum { genome: 2_000_000, reference: 140_000, reads: 50_000, read_length: 25 })
        }),
        suite_input(
            "reference 140,000 letters, 50,000 reads of 25",
            "ispass2009-benchmarks, MUM/README.GPGPU-Sim: MUM NC_003997.20k.fna NC_003997_q25bp.50k.fna",
            Piece::All,
            || Box::new(Mum { genome: 2_000_000, reference: 140_000, reads: 50_000, read_length: 25 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// MUMmerGPU's block.
const BLOCK: u32 = 256;
/// Matches of fewer letters are not recorded, MUMmer's default.
const SHORTEST: usize = 20;

#[derive(Debug)]
struct Mum {
    /// Letters of the genome that reads come from.
    genome: usize,
    /// Letters of its beginning, which they are matched with.
    reference: usize,
    reads: usize,
    read_length: usize,
}

impl Body for Mum {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let genome = dna::genome(self.genome, 0x303);
        let reads = dna::reads(&genome, self.reads, self.read_length, 0x304);
        let reference = &genome[..self.reference];
        let tree = Tree::new(reference);

        let letters = reads.concat();
        let begins: Vec<i32> = (0..self.reads).map(|read| int(read * self.read_length)).collect();
        let lengths = vec![int(self.read_length); self.reads];
        let nodes: Vec<i32> =
            tree.nodes.iter().flat_map(|node| [node.begin, node.end, node.link, 0].map(int)).collect();
        let children: Vec<i32> = tree.nodes.iter().flat_map(|node| node.children.map(int)).collect();
        let d_letters = host.buffer("letters", &letters)?;
        let begins = host.buffer("begins", &begins)?;
        let lengths = host.buffer("lengths", &lengths)?;
        let nodes = host.buffer("nodes", &nodes)?;
        let children = host.buffer("children", &children)?;
        let d_reference = host.buffer("reference", reference)?;

        let [count, shortest] = [self.reads, SHORTEST].map(int);
        let (grid, block) = ([ctas(self.reads, BLOCK), 1, 1], [BLOCK, 1, 1]);
        for (entry, name, opposite) in
            [("mum_match", "matches", false), ("mum_match_opposite", "matches_opposite", true)]
        {
            let expected = expected(&tree, reference, &reads, SHORTEST, opposite);
            let matches = host.zeros::<i32>(name, expected.len())?;
            let args =
                args![count, shortest, d_letters, begins, lengths, nodes, children, d_reference, matches];
            host.launch(entry, grid, block, args)?;
            host.exact(name, matches, &expected)?;
        }
        Ok(())
    }
}
