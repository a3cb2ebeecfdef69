//! The global environment of scripts.

use mlua::{Function, Lua, LuaOptions, MultiValue, StdLib, Table};

use super::running_script::{LENT, Random};
use super::{libraries, redis_call};

/// What the interpreter is told before any script.
const PRELUDE: &str = include_str!("prelude.lua");
/// How the parts of the interpreter that are not a script's are called.
const OURS: &str = "@prelude";
/// How scripts are called, and libraries of functions.
pub(super) const SCRIPT: &str = "@user_script";
pub(super) const LIBRARY: &str = "@user_function";

/// The interpreter, and what runs scripts in it.
pub(super) struct LuaEnvironment {
    pub(super) lua: Lua,
    /// The globals, behind what scripts cannot change.
    pub(super) globals: Table,
    /// Runs a script: whether it succeeded, and what it answers.
    pub(super) run: Function,
    /// The same of a function, with its keys and its arguments.
    pub(super) call: Function,
    /// Lets code find around it what libraries find while they are loaded, or what scripts and functions do.
    pub(super) surround: Function,
    /// Runs the code of a library: whether it succeeded, and the functions that it has registered.
    pub(super) load: Function,
}

impl LuaEnvironment {
    pub(super) fn new() -> mlua::Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        let options = LuaOptions::new().catch_rust_panics(false);
        let lua = Lua::new_with(libraries, options)?;
        let host = host(&lua)?;
        let prelude = lua.load(PRELUDE).set_name(OURS);
        type Parts = (Table, Table, Function, Function, Function, Function);
        let (face, globals, run, call, surround, load) = prelude.call::<Parts>(host)?;
        lua.set_globals(face)?;
        Ok(Self {
            lua,
            globals,
            run,
            call,
            surround,
            load,
        })
    }
}

/// What only the server can do.
fn host(lua: &Lua) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.set("call", lua.create_function(redis_call::call)?)?;
    host.set("pcall", lua.create_function(redis_call::try_call)?)?;
    host.set("sha1hex", lua.create_function(redis_call::sha1hex)?)?;
    host.set("log", lua.create_function(redis_call::log)?)?;
    host.set("setresp", lua.create_function(redis_call::set_resp)?)?;
    host.set("set_repl", lua.create_function(redis_call::set_repl)?)?;
    host.set("text_of", lua.create_function(redis_call::text_of)?)?;
    let random = |_: &Lua, ()| Ok(LENT.with_borrow_mut(|loan| loan.random.next()));
    host.set("random", lua.create_function(random)?)?;
    let seed = |_: &Lua, seed: f64| {
        LENT.with_borrow_mut(|loan| loan.random = Random::seeded(seed as i64 as u32));
        Ok(())
    };
    host.set("seed", lua.create_function(seed)?)?;
    let not_modelled = |lua: &Lua, what: String| {
        lua.create_function(move |_, _: MultiValue| redis_call::not_modelled::<()>(&what))
    };
    host.set("not_modelled", lua.create_function(not_modelled)?)?;
    host.set("libraries", libraries::all(lua)?)?;
    let place = |lua: &Lua, ()| Ok(place(lua));
    host.set("where", lua.create_function(place)?)?;
    Ok(host)
}

/// In which line of which text the script is.
fn place(lua: &Lua) -> String {
    let mut level = 1;
    loop {
        let found = lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let ours = ["C", "tail"].contains(&source.what)
                || source
                    .source
                    .as_deref()
                    .is_none_or(|name| name == OURS || name.starts_with("=("));
            let name = source.source.unwrap_or_default().into_owned();
            let line = debug.current_line().unwrap_or(0);
            (!ours).then(|| format!("{name}:{line}"))
        });
        match found {
            None => return "@user_script:0".to_owned(),
            Some(None) => level += 1,
            Some(Some(place)) => return place,
        }
    }
}
