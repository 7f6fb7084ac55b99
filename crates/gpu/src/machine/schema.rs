//! What the configuration's types say of a machine file.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use strata_designs::registry::registry;
use strata_engine::config::{Entry, SectionFacts, facts};

use super::doors::CPU_L1D;
use super::file::Sections;

/// What the types say of all sections of a machine file. Behind each door stands a section for each design.
pub(super) fn root() -> &'static Entry {
    static ROOT: LazyLock<Entry> = LazyLock::new(|| {
        let mut root = facts::<Sections>();
        let known = registry();
        put(&mut root, "sm.register_file", known.register_files.facts());
        put(&mut root, "lane_path", known.lane_paths.facts());
        put(&mut root, "scratchpad", known.scratchpads.facts());
        put(&mut root, "l1d", known.l1ds.facts());
        put(&mut root, CPU_L1D, known.l1ds.facts());
        put(&mut root, "network", known.networks.facts());
        put(&mut root, "llc", known.llcs.facts());
        root
    });
    &ROOT
}

/// Puts a section at a path whose other parts are there.
fn put(root: &mut Entry, path: &str, designs: SectionFacts) {
    let (parents, name) = path.rsplit_once('.').map_or(("", path), |(parents, name)| (parents, name));
    let mut at = root;
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        let Entry::Section(section) = at else { unreachable!("{path}: {part} is in a section") };
        at = section.entries.get_mut(part).unwrap_or_else(|| unreachable!("{path}: there is {part}"));
    }
    let Entry::Section(section) = at else { unreachable!("{path} is in a section") };
    section.entries.insert(name.to_owned(), Entry::Section(designs));
}

/// What the types say of a path from an entry on.
pub(super) fn find<'a>(entry: &'a Entry, path: &str) -> Option<&'a Entry> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(entry, |entry, part| step(entry, part))
}

/// What stands under a name in a section.
pub(super) fn step<'a>(entry: &'a Entry, name: &str) -> Option<&'a Entry> {
    match entry {
        Entry::Section(section) => section.entries.get(name),
        Entry::Names(each) => Some(each),
        Entry::Key(_) => None,
    }
}

/// The entries of a section; none elsewhere.
pub(super) fn entries(entry: &Entry) -> Option<&BTreeMap<String, Entry>> {
    match entry {
        Entry::Section(section) => Some(&section.entries),
        _ => None,
    }
}
