//! Scripts: the Lua 5.1 that Redis embeds, and what it lets scripts do.

mod convert;
mod globals;
mod interpreter;
mod libraries;
mod library_loading;
mod redis_call;
mod running_script;
mod sha1;

use std::rc::Rc;

use indexmap::IndexMap;
use picklock_clients::redis::{Bytes, Command, ErrorReply};
use rustc_hash::FxBuildHasher;

use crate::errors::{NO_SCRIPT, refuse};
use crate::script_flags::ScriptFlags;

pub(crate) use interpreter::{run, run_function};
pub(crate) use library_loading::{functions_of, load_library};
pub(crate) use running_script::{RunningScript, ScriptLimits};
pub(crate) use sha1::{Sha, sha_of};

/// The scripts that a server knows by their SHA1. They are gone when it restarts, and replicas never hear of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scripts {
    known: IndexMap<Sha, Rc<Script>, FxBuildHasher>,
    /// The same, by their text: so that it need not be summed up again and again.
    by_text: IndexMap<Bytes, Rc<Script>, FxBuildHasher>,
}

/// A script.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) sha: Sha,
    pub(crate) text: Bytes,
    /// What it says of itself, if it does.
    pub(crate) declared: Option<ScriptFlags>,
    /// Where in the text what is compiled begins.
    begins: usize,
}

impl Scripts {
    /// The script of this text, which is known from now on if it compiles.
    pub(crate) fn load(&mut self, text: &[u8]) -> Result<Rc<Script>, ErrorReply> {
        if let Some(script) = self.by_text.get(text) {
            return Ok(Rc::clone(script));
        }
        let (declared, begins) = ScriptFlags::read(text)?;
        let script = Rc::new(Script {
            sha: sha_of(text),
            text: text.into(),
            declared,
            begins,
        });
        interpreter::compile(&script)?;
        self.known.insert(script.sha, Rc::clone(&script));
        self.by_text
            .insert(Bytes::clone(&script.text), Rc::clone(&script));
        Ok(script)
    }

    /// The script of this SHA1, if it is known.
    pub(crate) fn find(&self, sha: &[u8]) -> Result<Rc<Script>, ErrorReply> {
        let known = Sha::parse(sha).and_then(|sha| self.known.get(&sha));
        match known {
            Some(script) => Ok(Rc::clone(script)),
            None => refuse(NO_SCRIPT),
        }
    }

    /// What the script that a command runs says of itself, if it is known, or comes with the command.
    pub(crate) fn declared(&self, command: &Command) -> Option<ScriptFlags> {
        let begins = command.name().get(..4)?;
        if !begins.eq_ignore_ascii_case(b"EVAL") {
            return None;
        }
        let word = command.word(1)?;
        let script = if command.is("EVAL") || command.is("EVAL_RO") {
            return ScriptFlags::read(word).ok()?.0;
        } else if command.is("EVALSHA") || command.is("EVALSHA_RO") {
            Sha::parse(word).and_then(|sha| self.known.get(&sha))
        } else {
            None
        };
        script?.declared
    }

    /// Whether a script of this text has not come yet.
    pub(crate) fn is_new(&self, text: &[u8]) -> bool {
        !self.by_text.contains_key(text)
    }

    /// Whether it is known.
    pub(crate) fn is_cached(&self, sha: &[u8]) -> bool {
        self.find(sha).is_ok()
    }

    /// Forgets all.
    pub(crate) fn flush(&mut self) {
        self.known.clear();
        self.by_text.clear();
    }
}
