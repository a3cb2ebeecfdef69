//! Files that import each other in a loop: none of them can be understood before the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::imports::{Crate, Imports, ModulePath};
use crate::tidy::tree::{Breach, Tree};

/// How many files may import each other in a loop, by where they are: the machines of a service are made of parts that
/// act on the whole. Nowhere else may any.
const MAY: &[(&str, usize)] = &[("sim/services/zookeeper/", 5)];

/// Circles that are larger than they may be.
pub fn imports_run_one_way(tree: &Tree) -> Vec<Breach> {
    let roots = tree.files.iter().filter(|file| {
        let is_root = |name: &str| file.path == name || file.path.ends_with(&format!("/{name}"));
        is_root("src/lib.rs") || is_root("src/main.rs")
    });
    let mut breaches = Vec::new();
    for root in roots {
        let read = Crate::read(tree, &root.path);
        for circle in circles(&read.imports()) {
            let files: Vec<&str> = circle.iter().map(|place| read.path(place)).collect();
            let may = MAY
                .iter()
                .find(|(folder, _)| files.iter().all(|file| file.starts_with(folder)));
            if files.len() > may.map_or(1, |(_, may)| *may) {
                breaches.push(Breach {
                    path: files[0].to_owned(),
                    line: 1,
                    rule: format!("imports run in a circle: {}", files.join(", ")),
                    remedy: "move what both need into a file of its own".to_owned(),
                });
            }
        }
    }
    breaches
}

/// The sets of modules of which each can be reached from each other (Tarjan, *Depth-first search and linear graph
/// algorithms*, 1972), sorted.
fn circles(imports: &Imports) -> Vec<BTreeSet<ModulePath>> {
    let mut found = Found::default();
    for place in imports.keys() {
        if !found.index.contains_key(place) {
            found.visit(place, imports);
        }
    }
    let circles = found.components.into_iter();
    circles.filter(|component| component.len() > 1).collect()
}

#[derive(Default)]
struct Found {
    index: BTreeMap<ModulePath, usize>,
    low: BTreeMap<ModulePath, usize>,
    stack: Vec<ModulePath>,
    components: Vec<BTreeSet<ModulePath>>,
}

impl Found {
    fn visit(&mut self, place: &ModulePath, imports: &Imports) {
        let index = self.index.len();
        self.index.insert(place.clone(), index);
        self.stack.push(place.clone());
        let mut low = index;
        for next in imports.get(place).into_iter().flatten() {
            if !self.index.contains_key(next) {
                self.visit(next, imports);
                low = low.min(self.low[next]);
            } else if self.stack.contains(next) {
                low = low.min(self.index[next]);
            }
        }
        self.low.insert(place.clone(), low);
        if low == index {
            let first = self
                .stack
                .iter()
                .position(|other| other == place)
                .unwrap_or_default();
            let component = self.stack.split_off(first);
            self.components.push(component.into_iter().collect());
        }
    }
}
