//! Servers: their machines and processes, when they are woken, and how long they are busy.

use picklock_machines::{Machine, Now};

use super::machines::Wake;
use super::types::ServerInput;
use super::{HostEvent, SimulatedService};
use crate::event::Event;
use crate::network::ServerId;
use crate::world::World;

impl<S: SimulatedService> World<S> {
    /// What the clocks of a server show. Its monotonic clock keeps the world's pace; its wall clock may jump.
    #[inline]
    pub(crate) fn server_now(&self, server: ServerId) -> Now {
        self.host.servers[usize::from(server.0)].read_clocks(self.now)
    }

    /// Lets a server handle an input, and does what it wants done.
    #[inline(always)]
    pub(crate) fn server_input(&mut self, server: ServerId, input: ServerInput<S>) {
        S::handle(self, server, input);
        // It often has nothing to say, and then there is only to be seen when it is to be woken.
        if !self.host.server_outputs.is_empty() {
            self.apply_server_outputs(server);
        } else if !self.host.applying.contains(&server) {
            self.arm_server(server);
        }
    }

    /// Does what a server wants done. A fault that strikes in the middle may make it want more: that comes after it.
    #[inline(never)]
    pub(crate) fn apply_server_outputs(&mut self, server: ServerId) {
        let host = &mut self.host;
        if host.applying.contains(&server) {
            let outputs = host.server_outputs.drain(..);
            host.deferred.extend(outputs.map(|output| (server, output)));
            return;
        }
        host.applying.push(server);
        self.do_each(
            |world| &mut world.host.server_outputs,
            |world, output| S::on_server_output(world, server, output),
        );
        while let Some(output) = self.host.deferred_by(server) {
            S::on_server_output(self, server, output);
        }
        self.host.applying.pop();
        self.arm_server(server);
    }

    /// Sees to it that every server is woken in time.
    pub(in crate::world) fn arm_servers(&mut self) {
        for server in 0..self.host.servers.len() {
            self.arm_server(ServerId(server as u8));
        }
    }

    /// Sees to it that a server is woken in time. Mostly that is seen to.
    #[inline(always)]
    pub(crate) fn arm_server(&mut self, server: ServerId) {
        let slot = &mut self.host.servers[usize::from(server.0)];
        if let Some(at) = slot.arm(self.now) {
            self.timeline
                .add(at, Event::Service(HostEvent::ServerWake { server }));
        }
    }

    pub(super) fn server_wake(&mut self, server: ServerId) {
        let slot = &mut self.host.servers[usize::from(server.0)];
        match slot.wakes(self.now) {
            Wake::Replaced => {}
            Wake::Due => self.server_input(server, S::Server::WAKE),
            Wake::Later => self.arm_server(server),
        }
    }

    /// A server's process dies, and what it has not read is lost.
    pub(crate) fn crash_server(&mut self, server: ServerId) {
        if let Some(unread) = S::process(self, server).end() {
            unread.iter().for_each(|event| self.trace_lost(event));
            S::died(self, server);
        }
    }

    /// A dead server comes back.
    pub(in crate::world) fn restart_server(&mut self, server: ServerId) {
        if S::process(self, server).start() {
            self.forget_wake(server);
            S::restarted(self, server);
        }
    }

    /// A server stands still; its kernel goes on.
    pub(in crate::world) fn hang_server(&mut self, server: ServerId) {
        S::process(self, server).hang();
    }

    /// A server that stood still goes on, and reads what has queued up.
    pub(in crate::world) fn resume_server(&mut self, server: ServerId) {
        if let Some(backlog) = S::process(self, server).resume() {
            self.forget_wake(server);
            S::resumed(self, server, backlog);
        }
    }

    fn forget_wake(&mut self, server: ServerId) {
        if let Some(slot) = self.host.servers.get_mut(usize::from(server.0)) {
            slot.forget_wake();
        }
    }

    /// Whether every server runs.
    pub(in crate::world) fn servers_run(&self) -> bool {
        self.host.servers.iter().all(|slot| slot.process.runs())
    }
}
