//! The id of a Redisson client, which all threads of its process have in common.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::Env;

/// The id of the client of the process, for the locks of a key.
#[derive(Default)]
struct ClientIds(RefCell<BTreeMap<Rc<str>, String>>);

/// What names the client of the process: all threads have the same.
pub(super) fn uuid(env: &Env, key: &Rc<str>) -> String {
    let ids = env.process_wide(ClientIds::default);
    if let Some(known) = ids.0.borrow().get(key) {
        return known.clone();
    }
    let made = env.guid();
    ids.0.borrow_mut().insert(Rc::clone(key), made.clone());
    made
}
