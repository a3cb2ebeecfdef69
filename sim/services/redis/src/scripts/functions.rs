//! Functions: libraries of Lua that are a part of the data set, as `functions.c` and `function_lua.c` have them. Unlike
//! scripts, replicas and the disk have them, too.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use mlua::Function as LuaFunction;
use picklock_clients::redis::{Bytes, ErrorReply};

use super::interpreter;
use super::shebang_flags::ScriptFlags;
use crate::errors::refuse;

/// The libraries of a server, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    libraries: BTreeMap<String, Library>,
}

/// A library.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) code: Bytes,
    /// By their names. A call may name them in whatever letters.
    pub(crate) functions: BTreeMap<String, Rc<Function>>,
}

/// A function of a library.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) description: Option<Bytes>,
    /// The flags, as the library names them.
    pub(crate) flags: Vec<String>,
    pub(crate) declared: ScriptFlags,
    pub(super) callback: LuaFunction,
}

/// Its callback says no more than where in memory it is, which differs from run to run.
impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.name)
    }
}

const BAD_NAME: &str = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one \
                        character long";

impl Functions {
    /// Those of these libraries, as they are read from a disk, or from a primary.
    pub(crate) fn of(codes: &[Bytes], budget: u64) -> Self {
        let mut functions = Self::default();
        for code in codes {
            // What was loaded once can be loaded again.
            let _ = functions.load(code, false, budget);
        }
        functions
    }

    /// What is kept of the libraries on a disk.
    pub(crate) fn codes(&self) -> Vec<Bytes> {
        let libraries = self.libraries.values();
        libraries.map(|library| Rc::clone(&library.code)).collect()
    }

    /// The libraries.
    pub(crate) fn libraries(&self) -> impl ExactSizeIterator<Item = &Library> {
        self.libraries.values()
    }

    /// The function of this name, in whatever letters.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Rc<Function>> {
        let functions = self
            .libraries
            .values()
            .flat_map(|library| library.functions.values());
        let mut named =
            functions.filter(|function| name.eq_ignore_ascii_case(function.name.as_bytes()));
        named.next().cloned()
    }

    /// Loads a library, in the place of that of the same name if there is one that may be replaced. Answers its name.
    pub(crate) fn load(
        &mut self,
        code: &[u8],
        replace: bool,
        budget: u64,
    ) -> Result<String, ErrorReply> {
        let (name, begins) = metadata(code)?;
        if self.libraries.contains_key(&name) && !replace {
            return refuse(format!("ERR Library '{name}' already exists"));
        }
        let mut functions = BTreeMap::new();
        for function in interpreter::registered_functions(&code[begins..], budget)? {
            if !is_name(&function.name) {
                return refuse(format!("ERR Error registering functions: {BAD_NAME}"));
            }
            let before = functions.insert(function.name.clone(), Rc::new(function));
            if before.is_some() {
                return refuse(
                    "ERR Error registering functions: ERR Function already exists in the library",
                );
            }
        }
        if functions.is_empty() {
            return refuse("ERR No functions registered");
        }
        let is_taken = |own: &&String| {
            let others = self.libraries.values().filter(|other| other.name != name);
            let mut taken = others.flat_map(|other| other.functions.keys());
            taken.any(|taken| taken.eq_ignore_ascii_case(own))
        };
        if let Some(taken) = functions.keys().find(is_taken) {
            return refuse(format!("ERR Function {taken} already exists"));
        }
        let library = Library {
            name: name.clone(),
            code: code.into(),
            functions,
        };
        self.libraries.insert(name.clone(), library);
        Ok(name)
    }

    /// Deletes a library. Whether it was there.
    pub(crate) fn delete(&mut self, name: &[u8]) -> bool {
        let name = std::str::from_utf8(name).ok();
        name.is_some_and(|name| self.libraries.remove(name).is_some())
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}

/// The name of a library, from its first line, and where its code begins: `#!lua name=mylib`.
fn metadata(code: &[u8]) -> Result<(String, usize), ErrorReply> {
    if !code.starts_with(b"#!") {
        return refuse("ERR Missing library metadata");
    }
    let Some(end) = code.iter().position(|byte| *byte == b'\n') else {
        return refuse("ERR Invalid library metadata");
    };
    let line = String::from_utf8_lossy(&code[2..end]);
    let mut words = line.split_whitespace();
    let engine = words.next().unwrap_or_default();
    let mut name = None;
    for word in words {
        match word.split_at_checked(5) {
            Some((key, _)) if key.eq_ignore_ascii_case("name=") && name.is_some() => {
                return refuse(
                    "ERR Invalid metadata value, name argument was given multiple times",
                );
            }
            Some((key, value)) if key.eq_ignore_ascii_case("name=") => name = Some(value),
            _ => return refuse(format!("ERR Invalid metadata value given: {word}")),
        }
    }
    let Some(name) = name else {
        return refuse("ERR Library name was not given");
    };
    if !is_name(name) {
        return refuse(BAD_NAME);
    }
    if !engine.eq_ignore_ascii_case("lua") {
        return refuse(format!("ERR Engine '{engine}' not found"));
    }
    Ok((name.to_owned(), end))
}
