//! Reads the `INFO` replies of the instances that a Sentinel watches.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::redis::Value;

use super::Sentinel;
use super::failover::FailoverState;
use super::instance::{Instance, Role};
use super::io::Event;
use super::replica::{Reconfiguration, Replica};
use super::settings::{HELLO, INFO};
use crate::replication_protocol::Address;

/// What a server says of itself.
struct Info {
    id: Option<Rc<str>>,
    role: Option<Role>,
    replicas: Vec<Address>,
    follows: Option<Address>,
    link_up: bool,
    link_down_for: Duration,
    priority: Option<u32>,
    offset: Option<u64>,
}

fn replica_address(value: &str) -> Option<Address> {
    let mut parts = value.split(',');
    let host = parts.next()?.strip_prefix("ip=")?.into();
    let port = parts.next()?.strip_prefix("port=")?.parse().ok()?;
    Some(Address { host, port })
}

fn read(text: &str) -> Info {
    let value = |key: &str| {
        let lines = text.lines();
        let mut values = lines.filter_map(|line| line.split_once(':'));
        values
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    };
    let numbered = (0..).map_while(|number| value(&format!("slave{number}")));
    let port = value("master_port").and_then(|port| port.parse().ok());
    let host = value("master_host").map(Rc::from);
    let down = value("master_link_down_since_seconds");
    let down = down.and_then(|seconds| seconds.parse().ok());
    Info {
        id: value("run_id").map(Rc::from),
        role: value("role").and_then(|role| match role {
            "master" => Some(Role::Primary),
            "slave" => Some(Role::Replica),
            _ => None,
        }),
        replicas: numbered.filter_map(replica_address).collect(),
        follows: host.zip(port).map(|(host, port)| Address { host, port }),
        link_up: value("master_link_status") == Some("up"),
        link_down_for: Duration::from_secs(down.unwrap_or(0)),
        priority: value("slave_priority").and_then(|number| number.parse().ok()),
        offset: value("slave_repl_offset").and_then(|number| number.parse().ok()),
    }
}

/// What every server says.
fn refresh(
    instance: &mut Instance,
    configured: Role,
    info: &Info,
    context: &mut super::context::SentinelContext,
) {
    if let Some(id) = &info.id
        && instance
            .id
            .replace(Rc::clone(id))
            .is_some_and(|old| old != *id)
    {
        context.note(Event::Reboot, &instance.address);
    }
    instance.refreshed = context.now;
    if let Some(role) = info.role {
        instance.set_reported_role(role, configured, context);
    }
}

impl Sentinel {
    /// The primary has said what it is.
    pub(super) fn refresh_primary(&mut self, value: &Value) {
        let Some(text) = value.bytes().map(String::from_utf8_lossy) else {
            return;
        };
        let info = read(&text);
        refresh(&mut self.primary, Role::Primary, &info, &mut self.context);
        for address in info.replicas {
            let known = |replica: &Replica| replica.own.address == address;
            if !self.replicas.iter().any(known) {
                self.context.note(Event::NewReplica, &address);
                self.replicas.push(Replica::new(address, self.context.now));
            }
        }
    }

    /// A replica has said what it is, and how far.
    pub(super) fn refresh_replica(&mut self, index: usize, value: &Value) {
        let Some(text) = value.bytes().map(String::from_utf8_lossy) else {
            return;
        };
        let info = read(&text);
        let now = self.context.now;
        let replica = &mut self.replicas[index];
        let role_before = replica.own.role;
        refresh(&mut replica.own, Role::Replica, &info, &mut self.context);
        replica.link_down_for = info.link_down_for;
        replica.link_up = info.link_up;
        if info.role == Some(Role::Replica) {
            if role_before == Role::Primary || replica.follows != info.follows {
                replica.follows_since = now;
            }
            replica.follows = info.follows;
            replica.priority = info.priority.unwrap_or(replica.priority);
            replica.offset = info.offset.unwrap_or(replica.offset);
        }
        if self.tilt.is_some() {
            return;
        }
        match info.role {
            Some(Role::Primary) => self.replica_leads(index),
            Some(Role::Replica) => self.replica_follows(index),
            None => {}
        }
    }

    /// A replica says that it is a primary: because we have told it to, or because it does not know.
    fn replica_leads(&mut self, index: usize) {
        let is_promoted = self.is_promoted(index);
        if is_promoted && self.failover.stage == FailoverState::WaitPromotion {
            // From this moment on clients are sent to it.
            self.config_epoch = self.failover.epoch;
            self.enter(FailoverState::Reconfigure);
            let promoted = self.replicas[index].own.address.clone();
            self.context.note(Event::PromotedReplica, &promoted);
            self.note(Event::ReconfigureReplicas);
            self.force_hello_updates();
            return;
        }
        // It may be that it is right, and we do not know of a new primary yet.
        let wait = HELLO * 4;
        let own = &self.replicas[index].own;
        let settled = self.context.now.since(own.role_since) > wait
            && self.context.now.since(own.down_since) > wait;
        if !is_promoted && settled && self.primary_looks_sane() {
            let primary = self.primary.address.clone();
            if self.order_to_follow(index, Some(&primary)) {
                let about = self.replicas[index].own.address.clone();
                self.context.note(Event::ConvertToReplica, &about);
            }
        }
    }

    fn replica_follows(&mut self, index: usize) {
        let now = self.context.now;
        let wait = self.settings.failover_timeout;
        let promoted = self.promoted_address();
        let primary = self.primary.address.clone();
        let replica = &mut self.replicas[index];
        let about = replica.own.address.clone();
        if matches!(replica.reconfiguration, Reconfiguration::Sent(_))
            && replica.follows.is_some()
            && replica.follows == promoted
        {
            replica.reconfiguration = Reconfiguration::Begun;
            self.context.note(Event::ReconfigurationBegun, &about);
        }
        if replica.reconfiguration == Reconfiguration::Begun && replica.link_up {
            replica.reconfiguration = Reconfiguration::Done;
            self.context.note(Event::ReconfigurationDone, &about);
        }
        let astray = replica.follows.as_ref() != Some(&primary)
            && now.since(replica.own.down_since) > wait
            && now.since(replica.follows_since) > wait;
        if astray && self.primary_looks_sane() && self.order_to_follow(index, Some(&primary)) {
            self.context.note(Event::FixReplica, &about);
        }
    }

    fn primary_looks_sane(&self) -> bool {
        let primary = &self.primary;
        let fresh = self.context.now.since(primary.refreshed) < INFO * 2;
        primary.role == Role::Primary && !primary.is_down && !self.objectively_down && fresh
    }
}
