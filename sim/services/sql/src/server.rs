//! A server as a machine.

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, Machine, Now, ServerId};

use crate::io::{Input, Output};
use crate::settings::Settings;

/// A server.
pub struct Server {
    settings: Settings,
}

impl Server {
    /// A primary.
    pub fn new(_id: ServerId, settings: Settings) -> Self {
        Self { settings }
    }

    /// A standby of another server.
    pub fn standby(id: ServerId, _primary: ServerId, settings: Settings) -> Self {
        Self::new(id, settings)
    }

    /// Whether it takes writes.
    pub fn is_primary(&self) -> bool {
        true
    }

    /// How it is configured.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        _now: Now,
        _input: Input,
        _chance: &mut dyn Chance,
        _out: &mut Vec<Output>,
    ) -> Alarm {
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        VirtualTime::NEVER
    }
}
