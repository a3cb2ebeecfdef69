//! Servers and clients as the machines that a host runs.

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, Machine, Now};

use crate::client::{self, Client};
use crate::state::{Input, Output, Server};

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    #[inline(always)]
    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        Self::handle(self, now.monotonic, input, chance, out);
        Alarm::MayBeEarlier
    }

    #[inline]
    fn next_wake(&self) -> VirtualTime {
        Self::next_wake(self)
    }
}

impl Machine for Client {
    type Input = client::Input;
    type Output = client::Output;
    const WAKE: client::Input = client::Input::Wake;

    #[inline(always)]
    fn handle(
        &mut self,
        now: Now,
        input: client::Input,
        chance: &mut dyn Chance,
        out: &mut Vec<client::Output>,
    ) -> Alarm {
        match Self::handle(self, now.monotonic, input, chance, out) {
            true => Alarm::MayBeEarlier,
            false => Alarm::Unchanged,
        }
    }

    #[inline]
    fn next_wake(&self) -> VirtualTime {
        Self::next_wake(self)
    }

    #[inline]
    fn alarm_set(&mut self, at: VirtualTime) {
        self.set_alarm(at);
    }
}
