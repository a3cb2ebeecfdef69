//! Servers, Sentinels, and clients as the machines that a host runs.

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, Machine, Now};

use crate::client::{self, Client};
use crate::sentinel::{self, Sentinel};
use crate::{Input, Output, Server};

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    #[inline]
    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        Self::handle(self, now, input, &mut |options| chance.choose(options), out);
        Alarm::MayBeEarlier
    }

    #[inline]
    fn next_wake(&self) -> VirtualTime {
        Self::next_wake(self)
    }
}

impl Machine for Sentinel {
    type Input = sentinel::Input;
    type Output = sentinel::Output;
    const WAKE: sentinel::Input = sentinel::Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: sentinel::Input,
        chance: &mut dyn Chance,
        out: &mut Vec<sentinel::Output>,
    ) -> Alarm {
        Self::handle(self, now, input, &mut |options| chance.choose(options), out);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        Self::next_wake(self)
    }
}

impl Machine for Client {
    type Input = client::Input;
    type Output = client::Output;
    const WAKE: client::Input = client::Input::Wake;

    #[inline]
    fn handle(
        &mut self,
        now: Now,
        input: client::Input,
        _chance: &mut dyn Chance,
        out: &mut Vec<client::Output>,
    ) -> Alarm {
        Self::handle(self, now.monotonic, input, out);
        Alarm::MayBeEarlier
    }

    #[inline]
    fn next_wake(&self) -> VirtualTime {
        Self::next_wake(self)
    }
}
