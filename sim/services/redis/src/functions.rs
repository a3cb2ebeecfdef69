//! Functions: libraries of Lua that are a part of the data set. Unlike scripts, replicas and the disk have them, too.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use mlua::Function as LuaFunction;
use picklock_clients::redis::{Bytes, ErrorReply};

use crate::errors::refuse;
use crate::script_flags::ScriptFlags;

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
    pub(crate) callback: LuaFunction,
}

/// Its callback says no more than where in memory it is, which differs from run to run.
impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.name)
    }
}

impl Functions {
    /// The code of each library.
    pub(crate) fn codes(&self) -> Vec<Bytes> {
        let libraries = self.libraries.values();
        libraries.map(|library| Rc::clone(&library.code)).collect()
    }

    /// The libraries.
    pub(crate) fn libraries(&self) -> impl ExactSizeIterator<Item = &Library> {
        self.libraries.values()
    }

    /// Whether there is a library of this name.
    pub(crate) fn has(&self, library: &str) -> bool {
        self.libraries.contains_key(library)
    }

    /// The function of this name, in whatever letters.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Rc<Function>> {
        let libraries = self.libraries.values();
        let mut functions = libraries.flat_map(|library| library.functions.values());
        let is_it = |function: &&Rc<Function>| name.eq_ignore_ascii_case(function.name.as_bytes());
        functions.find(is_it).cloned()
    }

    /// Puts a library in the place of that of the same name. No other may have a function of the same name.
    pub(crate) fn put(&mut self, library: Library) -> Result<(), ErrorReply> {
        let is_taken = |own: &&String| {
            let others = self
                .libraries
                .values()
                .filter(|other| other.name != library.name);
            let mut taken = others.flat_map(|other| other.functions.keys());
            taken.any(|taken| taken.eq_ignore_ascii_case(own))
        };
        if let Some(taken) = library.functions.keys().find(is_taken) {
            return refuse(format!("ERR Function {taken} already exists"));
        }
        self.libraries.insert(library.name.clone(), library);
        Ok(())
    }

    /// Deletes a library. Whether it was there.
    pub(crate) fn delete(&mut self, name: &[u8]) -> bool {
        let name = std::str::from_utf8(name).ok();
        name.is_some_and(|name| self.libraries.remove(name).is_some())
    }
}
