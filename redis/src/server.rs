//! A server.

use std::rc::Rc;

use picklock_algorithms::clients::redis::Value;
use picklock_checker::VirtualTime;

use crate::{Input, Now, Output, Settings};

/// A server and its data.
#[derive(Clone, Debug)]
pub struct Server {
    settings: Rc<Settings>,
}

impl Server {
    /// A server without data.
    pub fn new(settings: Rc<Settings>) -> Self {
        Self { settings }
    }

    /// Lets something happen, and says what the server wants done about it.
    pub fn handle(&mut self, _now: Now, input: Input, out: &mut Vec<Output>) {
        let _ = &self.settings;
        if let Input::Received {
            connection,
            command,
        } = input
        {
            let text = format!("ERR not modelled: {command}");
            let value = Value::error(text);
            out.push(Output::ToClient { connection, value });
        }
    }

    /// When, by its monotonic clock, it wants to look at the clock again.
    pub fn next_wake(&self) -> VirtualTime {
        VirtualTime::NEVER
    }

    /// The value of a key that has not expired by this wall clock, as `GET`, `HGETALL`, or `LRANGE` would answer it.
    pub fn read(&self, _wall_micros: i64, _key: &[u8]) -> Option<Value> {
        None
    }

    /// When, by its wall clock, a key expires, in milliseconds since the Unix epoch; `None` if never, or no such key.
    pub fn expires_at(&self, _key: &[u8]) -> Option<i64> {
        None
    }
}
