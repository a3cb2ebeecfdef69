//! The way to the protected resource and back.

use std::time::Duration;

use picklock_checker::{ContenderId, EventKind, LockId, VirtualTime};
use picklock_clients::completion::Completion;

use super::SimulatedService;
use super::World;
use crate::event::{Event, ResourceCall, ResourceRequest};
use crate::process::ProcessId;

impl<S: SimulatedService> World<S> {
    /// Sends a request to the resource of a lock. A write may travel longer by `extra`, and then nothing waits behind
    /// it.
    pub fn ask_resource(
        &mut self,
        (by, lock): (ContenderId, LockId),
        request: ResourceRequest,
        extra: Duration,
        answer: Completion<i64>,
    ) {
        let process = self.tasks.process_of(by);
        let latency = self.latency_to_resource(process).draw(&mut self.tape);
        let mut at = VirtualTime::from_micros(self.now.micros() + latency);
        if !extra.is_zero() {
            at += extra;
        } else {
            let contender = &mut self.contenders[by.0 as usize];
            contender.to_resource = contender.to_resource.max(at);
            at = contender.to_resource;
        }
        self.resource_in_flight += 1;
        let call = ResourceCall {
            by,
            lock,
            request,
            answer,
        };
        let call = self.resource_calls.insert(call);
        self.timeline.add(at, Event::Resource { by, call });
    }

    /// How long a message of a process to another takes.
    pub fn message_takes(&mut self, process: ProcessId) -> Duration {
        Duration::from_micros(self.latency_to_resource(process).draw(&mut self.tape))
    }

    pub(crate) fn at_resource(&mut self, call: usize) {
        let ResourceCall {
            by,
            lock,
            request,
            answer,
        } = self.resource_calls.remove(call);
        let storage = &mut self.storages[lock.0 as usize];
        let value = match request {
            ResourceRequest::Read => {
                let value = storage.value();
                self.record(EventKind::Read { by, lock, value });
                value
            }
            ResourceRequest::Write(write) => {
                let before = storage.value();
                let accepted = storage.write(&write);
                let after = storage.value();
                self.record(EventKind::Effect {
                    by,
                    lock,
                    token: write.token,
                    before,
                    after,
                    based_on: write.based_on,
                    accepted,
                });
                i64::from(accepted)
            }
        };
        let process = self.tasks.process_of(by);
        let latency = self.latency_to_resource(process).draw(&mut self.tape);
        let at = VirtualTime::from_micros(self.now.micros() + latency);
        let contender = &mut self.contenders[by.0 as usize];
        contender.from_resource = contender.from_resource.max(at);
        self.timeline.add(
            contender.from_resource,
            Event::Answer {
                process,
                value,
                answer,
            },
        );
    }
}
