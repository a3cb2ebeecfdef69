//! What is gone for good, and whether what is left can serve.
//!
//! A fault without an end is not healed, in the calm neither. Whether all contenders can still get the lock then
//! depends on what is left: that is said here, for the checker to judge progress by.

mod contenders;
mod sides;
mod words;

use picklock_checker::{ForGood, Unavailable, VirtualTime};

use super::SimulatedService;
use super::World;
use crate::network::{ServerId, Side};
use crate::plan::{Fault, FaultDuration};
use crate::process::ProcessId;

/// What faults have struck that is not healed yet.
#[derive(Default)]
pub(crate) struct ActiveFaults {
    /// Servers that are down, stand still, are slow, or lack something.
    pub servers: Vec<StruckServer>,
    /// What makes clocks drift, and the links of clients slow or lossy, until it ends.
    pub lasting: Vec<LastingStrike>,
    /// Faults that have struck, and that nothing heals.
    pub for_good: Vec<usize>,
    /// Since when what is left of the service cannot serve any client, if that ever was so.
    unserved_since: Option<VirtualTime>,
}

/// A server that a fault has struck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StruckServer {
    /// The fault.
    pub fault: usize,
    /// The server.
    pub server: ServerId,
    /// When it ends, unless it is ended before.
    pub until: VirtualTime,
}

/// A strike whose effect lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastingStrike {
    /// The fault.
    pub fault: usize,
    /// When it ends.
    pub until: VirtualTime,
}

impl<S: SimulatedService> World<S> {
    /// A fault has struck that nothing heals.
    pub(crate) fn note_gone_for_good(&mut self, fault: usize) {
        self.struck.for_good.push(fault);
        let serving = self.serving_side();
        if self.struck.unserved_since.is_none() && serving.is_err() {
            self.struck.unserved_since = Some(self.now);
        }
        // A stranded contender will never wait, so its successor starts now.
        for stranded in self.contenders_gone(serving.as_ref().ok()) {
            self.start_next(stranded.by);
        }
    }

    /// Writes down until when the strike lasts that strikes now, if others of its kind may outlast it.
    pub(crate) fn lasts_until(&mut self, until: VirtualTime) {
        let fault = self.striking;
        self.struck.lasting.push(LastingStrike { fault, until });
    }

    /// A strike is over that was written down so.
    pub(crate) fn is_over(&mut self, fault: usize) {
        let now = self.now;
        let lasting = &mut self.struck.lasting;
        lasting.retain(|strike| strike.fault != fault || strike.until > now);
    }

    /// Whether a message can stay in flight for ever, because its recipient is cut off or paused for good.
    pub(crate) fn never_settles(&self) -> bool {
        let mut faults = self.struck.for_good.iter();
        faults.any(|fault| {
            let inject = &self.plan.faults[*fault].inject;
            !matches!(
                inject,
                Fault::Crash { .. } | Fault::CrashServer { .. } | Fault::PowerLoss { .. }
            )
        })
    }

    /// Until when something lasts that begins now.
    pub(crate) fn until(&self, lasts: FaultDuration) -> VirtualTime {
        lasts
            .duration()
            .map_or(VirtualTime::NEVER, |length| self.now + length)
    }

    /// The faults without an end that have struck a machine.
    pub(crate) fn for_good_at(&self, server: ServerId) -> impl Iterator<Item = &Fault> {
        let struck = self.struck.servers.iter();
        struck
            .filter(move |struck| struck.server == server)
            .map(|struck| &self.plan.faults[struck.fault].inject)
            .filter(|fault| fault.is_for_good())
    }

    /// Whether a machine is dead or stands still, and nothing brings it back.
    pub(crate) fn is_server_gone_for_good(&self, server: ServerId) -> bool {
        self.is_dead_for_good(server)
            || self
                .for_good_at(server)
                .any(|fault| matches!(fault, Fault::HangServer { .. }))
    }

    /// Whether a machine has died and does not come back.
    pub(crate) fn is_dead_for_good(&self, server: ServerId) -> bool {
        self.for_good_at(server)
            .any(|fault| matches!(fault, Fault::CrashServer { .. } | Fault::PowerLoss { .. }))
    }

    /// Whether a process is dead or stands still, and nothing brings it back.
    pub(crate) fn is_process_gone_for_good(&self, process: ProcessId) -> bool {
        let mut faults = self.struck.for_good.iter();
        faults.any(|fault| {
            matches!(self.plan.faults[*fault].inject,
                Fault::Crash { target, .. } | Fault::Pause { target, .. }
                    if self.process_named(target) == process)
        })
    }

    /// What is gone for good when the run ends.
    pub fn gone_for_good(&self) -> ForGood {
        if self.struck.for_good.is_empty() {
            return ForGood::default();
        }
        let serving = self.serving_side();
        let contenders = self.contenders_gone(serving.as_ref().ok());
        // What could not serve for a while may have been helped since: a replica was promoted by hand.
        let service = serving.err().map(|why| Unavailable {
            since: self.struck.unserved_since.unwrap_or(self.now),
            why,
        });
        ForGood {
            service,
            contenders,
        }
    }

    /// The machines that can serve together, whatever else heals; or why there are none.
    fn serving_side(&self) -> Result<Side, String> {
        let Some(sides) = self.sides() else {
            let lacks = "it is unknown whether what is left can serve";
            return Err(self.describe(lacks));
        };
        let mut lacks = match self.plan.service.servers() {
            1 => "",
            _ => "no server is left",
        };
        for side in sides {
            match S::can_serve(self, &side) {
                Ok(()) => return Ok(side),
                Err(why) => lacks = why,
            }
        }
        Err(self.describe(lacks))
    }
}
