//! How Sentinels find each other, and learn of a new primary.

use std::rc::Rc;

use picklock_clients::redis::{Bytes, Value};

use super::Sentinel;
use super::io::Event;
use super::odown_and_election::OtherSentinel;
use super::settings::NAME;
use crate::replication_protocol::Address;

/// What a Sentinel says of itself and of the primary.
struct Hello {
    from: Address,
    id: Rc<str>,
    epoch: u64,
    primary: Address,
    config_epoch: u64,
}

fn read(message: &[u8]) -> Option<Hello> {
    let text = std::str::from_utf8(message).ok()?;
    let words: Vec<&str> = text.split(',').collect();
    let [
        host,
        port,
        id,
        epoch,
        NAME,
        primary,
        primary_port,
        config_epoch,
    ] = *words
    else {
        return None;
    };
    Some(Hello {
        from: Address {
            host: host.into(),
            port: port.parse().ok()?,
        },
        id: id.into(),
        epoch: epoch.parse().ok()?,
        primary: Address {
            host: primary.into(),
            port: primary_port.parse().ok()?,
        },
        config_epoch: config_epoch.parse().ok()?,
    })
}

impl Sentinel {
    /// What this Sentinel says of itself and of the primary.
    pub(super) fn hello(&self) -> Bytes {
        let Address { host, port } = &self.settings.address;
        let primary = self.current_primary();
        let text = format!(
            "{host},{port},{},{},{NAME},{},{},{}",
            self.id, self.epoch, primary.host, primary.port, self.config_epoch
        );
        text.as_bytes().into()
    }

    /// A message of the subscription.
    pub(super) fn receive_hello(&mut self, value: &Value) {
        if let Some([Value::Bulk(kind), _, Value::Bulk(payload)]) = value.values()
            && &**kind == b"message"
        {
            self.process_hello(payload);
        }
    }

    /// A hello of another Sentinel.
    pub(super) fn process_hello(&mut self, message: &[u8]) {
        let Some(hello) = read(message) else {
            return;
        };
        if hello.id == self.id {
            return;
        }
        let id = Some(&hello.id);
        let known = |other: &OtherSentinel| other.own.id.as_ref() == id;
        if !self.sentinels.iter().any(known) {
            self.context.note(Event::NewSentinel, &hello.from);
            let new =
                OtherSentinel::new(hello.from.clone(), Rc::clone(&hello.id), self.context.now);
            self.sentinels.push(new);
        }
        if hello.epoch > self.epoch {
            self.epoch = hello.epoch;
            self.note(Event::NewEpoch);
        }
        if hello.config_epoch > self.config_epoch {
            self.config_epoch = hello.config_epoch;
            if hello.primary != self.primary.address {
                self.context.note(Event::ConfigUpdate, &hello.from);
                self.switch_to(&hello.primary);
            }
        }
    }

    /// Every instance gets a hello at the next tick, and not only when its period is over.
    pub(super) fn force_hello_updates(&mut self) {
        self.primary.force_hello_update();
        for replica in &mut self.replicas {
            replica.own.force_hello_update();
        }
        for other in &mut self.sentinels {
            other.own.force_hello_update();
        }
    }
}
