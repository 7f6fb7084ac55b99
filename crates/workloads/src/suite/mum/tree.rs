//! A suffix tree, built from left to right (Ukkonen, "On-line construction of suffix trees", Algorithmica 1995).
//!
//! Without a letter for the end, so that suffixes which occur elsewhere end within the tree.

/// No node.
pub(super) const NONE: usize = 0;
/// The root.
pub(super) const ROOT: usize = 1;

/// A node and the edge to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Where in the text the letters on the edge begin, and where they end, exclusive.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// The node whose letters are the same but for the first; none of the root and of leaves.
    pub(super) link: usize,
    /// One for each of A, C, G and T.
    pub(super) children: [usize; 4],
}

/// The suffix tree of a text.
#[derive(Debug)]
pub(super) struct Tree {
    /// Nodes in order of their depth; the first stands for none.
    pub(super) nodes: Vec<Node>,
}

/// Which child a letter leads to.
pub(super) fn code(letter: u8) -> usize {
    match letter {
        b'A' => 0,
        b'C' => 1,
        b'G' => 2,
        _ => 3,
    }
}

impl Tree {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut builder = Builder { text, nodes: vec![], node: ROOT, edge: 0, length: 0, waiting: 0 };
        builder.node_at(0, 0);
        builder.node_at(0, 0);
        (0..text.len()).for_each(|at| builder.extend(at));
        Self { nodes: by_depth(&builder.nodes) }
    }
}

/// The tree of the text so far, and the place where its longest suffix that has no leaf of its own ends.
struct Builder<'a> {
    text: &'a [u8],
    nodes: Vec<Node>,
    /// The place: below this node, on the edge that begins with the letter at `edge`, `length` letters down.
    node: usize,
    edge: usize,
    length: usize,
    /// Suffixes without a leaf.
    waiting: usize,
}

impl Builder<'_> {
    fn node_at(&mut self, begin: usize, end: usize) -> usize {
        self.nodes.push(Node { begin, end, link: NONE, children: [NONE; 4] });
        self.nodes.len() - 1
    }

    fn leaf_at(&mut self, begin: usize) -> usize {
        self.node_at(begin, self.text.len())
    }

    /// Appends the letter at `at`.
    fn extend(&mut self, at: usize) {
        let letter = code(self.text[at]);
        // The inner node made last, whose link leads to the node of the next shorter suffix.
        let mut unlinked = NONE;
        let mut link = |nodes: &mut Vec<Node>, to: usize| {
            if unlinked != NONE {
                nodes[unlinked].link = to;
            }
            unlinked = to;
        };
        self.waiting += 1;
        while self.waiting > 0 {
            if self.length == 0 {
                self.edge = at;
            }
            let first = code(self.text[self.edge]);
            let child = self.nodes[self.node].children[first];
            if child == NONE {
                let leaf = self.leaf_at(at);
                self.nodes[self.node].children[first] = leaf;
                link(&mut self.nodes, self.node);
            } else {
                let Node { begin, end, .. } = self.nodes[child];
                let letters = end.min(at + 1) - begin;
                if self.length >= letters {
                    (self.node, self.edge, self.length) = (child, self.edge + letters, self.length - letters);
                    continue;
                }
                let next = code(self.text[begin + self.length]);
                if next == letter {
                    self.length += 1;
                    link(&mut self.nodes, self.node);
                    break;
                }
                let inner = self.node_at(begin, begin + self.length);
                let leaf = self.leaf_at(at);
                self.nodes[self.node].children[first] = inner;
                self.nodes[inner].children[letter] = leaf;
                self.nodes[inner].children[next] = child;
                self.nodes[child].begin = begin + self.length;
                link(&mut self.nodes, inner);
            }
            self.waiting -= 1;
            if self.node == ROOT && self.length > 0 {
                self.length -= 1;
                self.edge = at + 1 - self.waiting;
            } else if self.nodes[self.node].link != NONE {
                self.node = self.nodes[self.node].link;
            } else {
                self.node = ROOT;
            }
        }
    }
}

/// The same tree, its nodes numbered level by level, so that what all searches begin with lies together.
fn by_depth(nodes: &[Node]) -> Vec<Node> {
    let mut order = vec![NONE, ROOT];
    let mut number = vec![NONE; nodes.len()];
    number[ROOT] = ROOT;
    let mut next = ROOT;
    while next < order.len() {
        for child in nodes[order[next]].children.into_iter().filter(|&child| child != NONE) {
            number[child] = order.len();
            order.push(child);
        }
        next += 1;
    }
    let renumbered = |old: &usize| {
        let node = nodes[*old];
        Node { link: number[node.link], children: node.children.map(|child| number[child]), ..node }
    };
    order.iter().map(renumbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The letters from the root to every node.
    fn words(tree: &Tree, text: &[u8]) -> Vec<Vec<u8>> {
        let mut words = vec![vec![]; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate() {
            for child in node.children.into_iter().filter(|&child| child != NONE) {
                let Node { begin, end, .. } = tree.nodes[child];
                words[child] = [&words[at], &text[begin..end]].concat();
            }
        }
        words
    }

    #[test]
    fn a_small_tree_by_hand() {
        // ACAC: AC and C occur twice and are followed by A once: no inner node but the root.
        let tree = Tree::new(b"ACAC");
        assert_eq!(words(&tree, b"ACAC"), [&b""[..], b"", b"ACAC", b"CAC"]);
        // ACAT: A is followed by C and T.
        let tree = Tree::new(b"ACAT");
        assert_eq!(words(&tree, b"ACAT"), [&b""[..], b"", b"A", b"CAT", b"T", b"ACAT", b"AT"]);
        assert_eq!(tree.nodes[2].link, ROOT);
    }

    #[test]
    fn inner_nodes_branch_and_links_drop_the_first_letter() {
        let mut random = Random::new(5);
        for alphabet in [2, 4] {
            let text: Vec<u8> = (0..500).map(|_| b"ACGT"[random.below(alphabet) as usize]).collect();
            let tree = Tree::new(&text);
            let words = words(&tree, &text);
            for (at, node) in tree.nodes.iter().enumerate().skip(ROOT + 1) {
                let children = node.children.iter().filter(|&&child| child != NONE).count();
                assert_eq!(children > 0, node.link != NONE);
                assert_ne!(children, 1);
                if children > 0 {
                    assert_eq!(words[node.link], words[at][1..]);
                } else {
                    assert!(text.ends_with(&words[at]));
                }
            }
        }
    }
}
