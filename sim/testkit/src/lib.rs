//! A small deterministic driver for the state machines of services, for tests alone: virtual time, a [`Network`] with
//! the messages in flight, and [`Cluster`], which lets things happen in their order; or one machine by itself, in a
//! [`Harness`].
//!
//! It knows no service. There are no processes, no histories, and no chance in it: a message takes as long as its link
//! says, and arrives unless a fault of the test stops it.

mod harness;
mod network;
#[cfg(test)]
mod tests;

use std::time::Duration;

use picklock_checker::VirtualTime;

pub use harness::Harness;
pub use network::Network;
use network::Next;

/// Machines that are the nodes of a network. A type that implements this can run them.
pub trait Cluster {
    /// What a machine is addressed by. Of timers that are due together, that of the smallest node comes first.
    type Node: Copy + Ord;
    /// What one machine sends to another.
    type Message;

    /// The network that they are on, which has their clock, too.
    fn network(&self) -> &Network<Self::Node, Self::Message>;

    /// The same, to send something or to break something.
    fn network_mut(&mut self) -> &mut Network<Self::Node, Self::Message>;

    /// When each machine wants to look at the clock next.
    fn timers(&self) -> impl Iterator<Item = (VirtualTime, Self::Node)>;

    /// A machine handles a message.
    fn on_message(&mut self, from: Self::Node, to: Self::Node, message: Self::Message);

    /// A machine looks at the clock.
    fn on_timer(&mut self, node: Self::Node);

    /// A message has come to a machine that is down, or that has been since it was sent.
    fn on_refused(&mut self, _from: Self::Node, _to: Self::Node, _message: Self::Message) {}

    /// Whether a message is for the kernel of a machine, which handles it even while the process is paused.
    fn is_for_kernel(_message: &Self::Message) -> bool {
        false
    }

    /// What time it is.
    fn now(&self) -> VirtualTime {
        self.network().now()
    }

    /// Lets happen what comes next, if it comes by then; otherwise it is then, and the answer is no. What has arrived
    /// comes before a timer that is due at the same time, or was due earlier and could not run.
    fn step(&mut self, limit: VirtualTime) -> bool {
        let now = self.now();
        let timers = self.timers();
        let running = timers.filter(|(_, node)| self.network().is_running(*node));
        let timer = running.map(|(due, node)| (due.max(now), node)).min();
        let due = timer.map_or(VirtualTime::NEVER, |timer| timer.0);
        let message = self.network().next_time();
        let next = due.min(message);
        if next > limit || next == VirtualTime::NEVER {
            self.network_mut().skip_to(limit);
            return false;
        }
        self.network_mut().skip_to(next);
        match timer {
            Some((_, node)) if due < message => self.on_timer(node),
            _ => match self.network_mut().take_next(Self::is_for_kernel) {
                Next::Arrived(from, to, message) => self.on_message(from, to, message),
                Next::Refused(from, to, message) => self.on_refused(from, to, message),
                Next::Nothing => {}
            },
        }
        true
    }

    /// Lets everything happen until then.
    fn run_until(&mut self, limit: VirtualTime) {
        while self.step(limit) {}
    }

    /// Lets everything happen for so long.
    fn run_for(&mut self, time: Duration) {
        self.run_until(self.now() + time);
    }

    /// Runs until a condition holds; answers whether it does by then.
    fn run_until_met(
        &mut self,
        limit: VirtualTime,
        mut condition: impl FnMut(&mut Self) -> bool,
    ) -> bool {
        loop {
            if condition(self) {
                return true;
            }
            if !self.step(limit) {
                return false;
            }
        }
    }

    /// Runs until nothing is in flight; answers whether that is so by then.
    fn settle(&mut self, limit: VirtualTime) -> bool {
        self.run_until_met(limit, |cluster| cluster.network().in_flight() == 0)
    }
}
