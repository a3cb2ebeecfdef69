//! Which file of a crate imports which: what its `use` lines and its paths name, wherever that is defined.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::scan::code_of;
use crate::tidy::tree::Tree;

/// A module, as the names on the way to it from the root of its crate.
pub type ModulePath = Vec<String>;

/// Modules by what they import.
pub type Imports = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// The modules of a crate, without those that are only there for tests.
pub struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

/// One file.
#[derive(Default)]
struct Module {
    path: String,
    children: BTreeSet<String>,
    /// What it defines itself.
    items: BTreeSet<String>,
    /// What `use` lines name, by the name that it has here.
    imports: BTreeMap<String, ModulePath>,
    /// What `use` lines take everything from.
    globs: Vec<ModulePath>,
    /// All paths of the code.
    paths: Vec<ModulePath>,
}

impl Crate {
    /// The crate with this root, such as `sim/src/lib.rs`.
    pub fn read(tree: &Tree, root: &str) -> Self {
        let mut modules = BTreeMap::new();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        read(tree, Vec::new(), root, folder, &mut modules);
        Self { modules }
    }

    /// The path of the file of a module.
    pub fn path(&self, place: &ModulePath) -> &str {
        self.modules.get(place).map_or("", |module| &module.path)
    }

    /// Which module imports which. What a module takes from those above it is left out: it is a part of them.
    pub fn imports(&self) -> Imports {
        let of_all = self.modules.iter().map(|(place, module)| {
            let named = module.imports.values().chain(&module.paths);
            let found = named.filter_map(|path| self.definer(place, path, 0));
            let others = found.filter(|other| !place.starts_with(other));
            (place.clone(), others.collect())
        });
        of_all.collect()
    }

    /// The module in which something is defined that a path names; nothing if it is a module, or of another crate.
    fn definer(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        /// So often a name is looked up further on: more than any re-export needs.
        const FAR: usize = 16;
        if depth > FAR {
            return None;
        }
        let mut place = from.clone();
        let mut names = path.iter().peekable();
        let first = names.peek()?.as_str();
        let known = |name: &str| {
            let module = &self.modules[from];
            module.children.contains(name) || module.imports.contains_key(name)
        };
        match first {
            "crate" => {
                place.clear();
                names.next();
            }
            "self" | "super" => {
                while let Some(name) =
                    names.next_if(|name| ["self", "super"].contains(&name.as_str()))
                {
                    if name == "super" {
                        place.pop()?;
                    }
                }
            }
            name if !known(name) => return None,
            _ => {}
        }
        while let Some(name) = names.next() {
            let module = self.modules.get(&place)?;
            if module.children.contains(name) {
                place.push(name.clone());
                continue;
            }
            if module.items.contains(name) {
                return Some(place);
            }
            let rest: ModulePath = names.cloned().collect();
            if let Some(import) = module.imports.get(name) {
                let further: ModulePath = import.iter().cloned().chain(rest).collect();
                return self.definer(&place, &further, depth + 1);
            }
            let globs = module.globs.iter().map(|glob| {
                let whole = glob.iter().chain([name]).cloned().chain(rest.clone());
                whole.collect::<ModulePath>()
            });
            let by_glob = globs
                .filter_map(|further| self.definer(&place, &further, depth + 1))
                .next();
            return by_glob.or(Some(place));
        }
        None
    }
}

/// Reads a module and those below it.
fn read(
    tree: &Tree,
    place: ModulePath,
    path: &str,
    folder: &str,
    modules: &mut BTreeMap<ModulePath, Module>,
) {
    let code = code_of(tree.text(path));
    let tokens = without_tests(tokens(&code));
    let mut module = Module {
        path: path.to_owned(),
        ..Module::default()
    };
    let mut at = 0;
    while at < tokens.len() {
        at = match (tokens[at], tokens.get(at + 1), tokens.get(at + 2)) {
            ("mod", Some(name), Some(&";")) => {
                let (below, inside) = (format!("{folder}/{name}.rs"), format!("{folder}/{name}"));
                if !tree.text(&below).is_empty() {
                    module.children.insert((*name).to_owned());
                    let place = [place.clone(), vec![(*name).to_owned()]].concat();
                    read(tree, place, &below, &inside, modules);
                }
                at + 3
            }
            ("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static", Some(name), _) => {
                module.items.insert((*name).to_owned());
                at + 2
            }
            ("use", _, _) => read_use(&tokens, at + 1, &mut Vec::new(), &mut module),
            (name, Some(&"::"), Some(_)) if is_name(name) => {
                let mut path = vec![name.to_owned()];
                let mut next = at + 1;
                while tokens.get(next) == Some(&"::")
                    && tokens.get(next + 1).is_some_and(|token| is_name(token))
                {
                    path.push(tokens[next + 1].to_owned());
                    next += 2;
                }
                module.paths.push(path);
                next
            }
            _ => at + 1,
        };
    }
    modules.insert(place, module);
}

/// Reads a tree of imports, and answers where it ends.
fn read_use(tokens: &[&str], mut at: usize, prefix: &mut ModulePath, module: &mut Module) -> usize {
    let depth = prefix.len();
    while let Some(&token) = tokens.get(at) {
        at += 1;
        match token {
            "{" => loop {
                at = read_use(tokens, at, prefix, module);
                if tokens.get(at - 1) != Some(&",") {
                    break;
                }
            },
            "*" => module.globs.push(prefix.clone()),
            "as" => {
                let name = tokens.get(at).copied().unwrap_or_default();
                module.imports.insert(name.to_owned(), prefix.clone());
                prefix.truncate(depth);
                at += 1;
            }
            "," | "}" | ";" => {
                if prefix.last().is_some_and(|name| name == "self") {
                    prefix.pop();
                }
                if (prefix.len() > depth || token == ";" && depth == 0)
                    && let Some(name) = prefix.last()
                {
                    let import = module.imports.entry(name.clone());
                    import.or_insert_with(|| prefix.clone());
                }
                prefix.truncate(depth);
                return at;
            }
            name if is_name(name) => prefix.push(name.to_owned()),
            _ => {}
        }
    }
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            end.unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The same without what is only compiled for tests.
fn without_tests(tokens: Vec<&str>) -> Vec<&str> {
    let mut left = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_attribute = tokens[at..].starts_with(&["#", "[", "cfg", "("]);
        let end = tokens[at..]
            .iter()
            .position(|token| *token == "]")
            .map_or(tokens.len(), |length| at + length);
        if is_attribute && tokens[at..end].contains(&"test") && !tokens[at..end].contains(&"not") {
            at = end_of_item(&tokens, end + 1);
        } else {
            left.push(tokens[at]);
            at += 1;
        }
    }
    left
}

/// Where an item ends that begins here: behind its semicolon or its last brace.
fn end_of_item(tokens: &[&str], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in (start..).zip(&tokens[start..]) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *token == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}
