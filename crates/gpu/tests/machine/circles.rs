//! Within a crate, imports between files go one way: there is no cycle.
//!
//! The root of a folder declares its parts, which does not count as an import; what the parts take from the
//! root does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemFn, ItemImpl, ItemMod, ItemUse, UseTree, Visibility};

/// Cycles that are allowed: crate, files, reason.
const ALLOWED: &[(&str, &[&str], &str)] = &[(
    "ptx",
    &["builder", "call", "dispatch", "function", "moves", "operand"],
    "the lowering builder: one type, its methods by subject",
)];

/// The path from the crate's root to a module or to an item in it.
type Names = Vec<String>;

/// What one file imports and exports.
#[derive(Default)]
struct File {
    /// Paths that the file names.
    uses: Vec<Names>,
    /// Names that the file re-exports: the name, or `*` for all, and where it comes from.
    exports: Vec<(String, Names)>,
    defines: BTreeSet<String>,
    /// Modules that exist only for tests.
    tests: BTreeSet<String>,
    /// Nesting of inline modules at the current position.
    depth: usize,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|what| what == "test")
    })
}

impl File {
    fn name(&mut self, mut path: Names) {
        // In an inline module, `super` is this file.
        for _ in 0..self.depth {
            match path.first().map(String::as_str) {
                Some("super") => drop(path.remove(0)),
                Some("crate") => break,
                _ => return,
            }
        }
        self.uses.push(path);
    }

    fn tree(&mut self, tree: &UseTree, mut before: Names, exported: bool) {
        let (name, path) = match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                return self.tree(&path.tree, before, exported);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|item| self.tree(item, before.clone(), exported));
            }
            UseTree::Glob(_) => ("*".to_owned(), before),
            UseTree::Name(name) if name.ident == "self" => {
                (before.last().cloned().unwrap_or_default(), before)
            }
            UseTree::Name(name) => {
                before.push(name.ident.to_string());
                (name.ident.to_string(), before)
            }
            UseTree::Rename(rename) => {
                before.push(rename.ident.to_string());
                (rename.rename.to_string(), before)
            }
        };
        if exported { self.exports.push((name, path)) } else { self.name(path) }
    }
}

impl<'a> Visit<'a> for File {
    fn visit_item(&mut self, item: &'a Item) {
        let defined = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            Item::Static(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            _ => None,
        };
        self.defines.extend(defined.filter(|_| self.depth == 0).map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if is_test(&item.attrs) {
            self.tests.insert(item.ident.to_string());
        } else if item.content.is_some() {
            self.depth += 1;
            visit::visit_item_mod(self, item);
            self.depth -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if !is_test(&item.attrs) {
            let exported = !matches!(item.vis, Visibility::Inherited) && self.depth == 0;
            self.tree(&item.tree, Vec::new(), exported);
        }
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.segments.len() > 1 {
            self.name(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }
}

/// The files of a crate, by module path.
struct Modules(BTreeMap<Names, File>);

impl Modules {
    fn read(source: &Path) -> Modules {
        let mut files = BTreeMap::new();
        read(source, &mut Vec::new(), &mut files);
        let tests: BTreeSet<Names> = files
            .iter()
            .flat_map(|(module, file): (&Names, &File)| {
                file.tests.iter().map(|name| [module.clone(), vec![name.clone()]].concat())
            })
            .collect();
        files.retain(|module, _| !(0..=module.len()).any(|most| tests.contains(&module[..most])));
        Modules(files)
    }

    /// The module that defines what a path in `module` refers to; `None` if another crate does.
    fn owner(&self, module: &Names, path: &[String]) -> Option<Names> {
        let mut at = module.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                at.push(child.to_owned());
                rest = &rest[1..];
                if !self.0.contains_key(&at) {
                    return None;
                }
            }
        }
        while let Some(name) = rest.first() {
            at.push(name.clone());
            if !self.0.contains_key(&at) {
                at.pop();
                return Some(self.origin(at, name));
            }
            rest = &rest[1..];
        }
        Some(at)
    }

    /// The module in which a name that `module` exports is defined.
    fn origin(&self, module: Names, name: &str) -> Names {
        let Some(file) = self.0.get(&module) else { return module };
        if file.defines.contains(name) {
            return module;
        }
        for (exported, path) in &file.exports {
            let found = self.owner(&module, path).filter(|owner| *owner != module);
            match found {
                Some(owner) if exported == name => return owner,
                Some(owner) if exported == "*" => {
                    let origin = self.origin(owner, name);
                    if self.0.get(&origin).is_some_and(|file| file.defines.contains(name)) {
                        return origin;
                    }
                }
                _ => {}
            }
        }
        module
    }

    /// The files that each file imports from.
    fn arrows(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let known = |module: &Names, file: &File| {
            let owners = file.uses.iter().filter_map(|path| self.owner(module, path));
            owners.filter(|owner| !owner.starts_with(module) && self.0.contains_key(owner)).collect()
        };
        self.0.iter().map(|(module, file)| (module.clone(), known(module, file))).collect()
    }
}

fn read(folder: &Path, module: &mut Names, files: &mut BTreeMap<Names, File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_root = matches!(name.as_str(), "lib" | "main" | "mod");
        if path.is_dir() {
            module.push(name);
            read(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let place = if is_root { module.clone() } else { [module.clone(), vec![name]].concat() };
            visit::visit_file(files.entry(place).or_default(), &syntax);
        }
    }
}

/// Groups of files that reach each other by imports of any length.
fn circles(arrows: &BTreeMap<Names, BTreeSet<Names>>) -> BTreeSet<BTreeSet<Names>> {
    let reached = |from: &Names| {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(at) = work.pop() {
            work.extend(arrows[&at].iter().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<&Names, BTreeSet<Names>> =
        arrows.keys().map(|from| (from, reached(from))).collect();
    let circle = |from: &Names| {
        let comes_back = |to: &&Names| reached[to].contains(from);
        reached[from].iter().filter(comes_back).cloned().collect::<BTreeSet<_>>()
    };
    arrows.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn files_know_each_other_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = String::new();
    let mut unused: Vec<_> = ALLOWED.to_vec();
    let mut arrows_seen = 0;
    for entry in fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !path.join("src").is_dir() {
            continue;
        }
        let arrows = Modules::read(&path.join("src")).arrows();
        arrows_seen += arrows.values().map(BTreeSet::len).sum::<usize>();
        for circle in circles(&arrows) {
            let files: BTreeSet<&str> =
                circle.iter().map(|module| module.last().map_or("lib", String::as_str)).collect();
            let before = unused.len();
            let covers = |allowed: &[&str]| files.iter().all(|file| allowed.contains(file));
            unused.retain(|(of, allowed, _)| *of != name || !covers(allowed));
            if unused.len() < before {
                continue;
            }
            wrong += &format!("{name}: {} files in a circle\n", circle.len());
            for module in &circle {
                let known = arrows[module].intersection(&circle).map(|to| to.join("::"));
                wrong += &format!("  {} knows {}\n", module.join("::"), known.collect::<Vec<_>>().join(", "));
            }
        }
    }
    assert!(arrows_seen > 1000, "imports were found: {arrows_seen}");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(unused.is_empty(), "no circle any more, so no exception: {unused:?}");
}

#[test]
fn a_circle_is_found_through_names_that_are_handed_on() {
    let file = |text: &str| {
        let mut file = File::default();
        visit::visit_file(&mut file, &syn::parse_file(text).unwrap());
        file
    };
    let texts = [
        ("", "mod a; mod b; mod c; pub use a::*; pub use c::Third;"),
        ("a", "use crate::b; pub struct First; #[cfg(test)] mod tests { use crate::c::Third; }"),
        ("b", "fn f() -> crate::Third { todo!() }"),
        ("c", "use super::First; pub struct Third;"),
    ];
    let place = |name: &str| if name.is_empty() { Vec::new() } else { vec![name.to_owned()] };
    let modules = Modules(texts.map(|(name, text)| (place(name), file(text))).into());
    let circle = BTreeSet::from(["a", "b", "c"].map(place));
    assert_eq!(circles(&modules.arrows()), BTreeSet::from([circle]));
}
