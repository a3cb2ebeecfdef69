//! Loading libraries of functions, as `functions.c` does it.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_clients::redis::{Bytes, ErrorReply};

use super::interpreter::registered_functions;
use crate::errors::refuse;
use crate::functions::{Functions, Library};

const BAD_NAME: &str = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least \
                        one character long";

/// The libraries of these codes, as they are read from a disk, or from a primary.
pub(crate) fn functions_of(codes: &[Bytes], budget: u64) -> Functions {
    let mut functions = Functions::default();
    for code in codes {
        // What was loaded once can be loaded again.
        let _ = load_library(&mut functions, code, false, budget);
    }
    functions
}

/// Loads a library, in the place of that of the same name if there is one that may be replaced. Answers its name.
pub(crate) fn load_library(
    libraries: &mut Functions,
    code: &[u8],
    replace: bool,
    budget: u64,
) -> Result<String, ErrorReply> {
    let (name, begins) = metadata(code)?;
    if libraries.has(&name) && !replace {
        return refuse(format!("ERR Library '{name}' already exists"));
    }
    let mut functions = BTreeMap::new();
    for function in registered_functions(&code[begins..], budget)? {
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
    libraries.put(Library {
        name: name.clone(),
        code: code.into(),
        functions,
    })?;
    Ok(name)
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
