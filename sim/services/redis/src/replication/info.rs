//! The replication section of `INFO`, and `ROLE`.

use picklock_checker::VirtualTime;
use picklock_clients::redis::Value;

use super::{Attached, LinkState, ReplicaState, Replication};

impl Replication {
    /// What the server is, as `HELLO` says it.
    pub(crate) fn role_name(&self) -> &'static str {
        if self.primary.is_some() {
            "replica"
        } else {
            "master"
        }
    }

    /// What `ROLE` answers.
    pub(crate) fn role(&self) -> Value {
        let offset = Value::Integer(self.offset as i64);
        if let Some(upstream) = &self.primary {
            let state = match upstream.state {
                LinkState::Down => "connect",
                LinkState::Reaching => "connecting",
                LinkState::Asking(_) => "sync",
                LinkState::Up(_) => "connected",
            };
            let offset = if upstream.cached {
                offset
            } else {
                Value::Integer(-1)
            };
            return Value::array([
                Value::bulk("slave"),
                Value::bulk(&*upstream.address.host),
                Value::Integer(i64::from(upstream.address.port)),
                Value::bulk(state),
                offset,
            ]);
        }
        let there = self.replicas.iter().filter(|replica| replica.is_online());
        let replicas = there.map(|replica| {
            let (host, port) = replica.place();
            let acked = replica.acked.to_string();
            Value::array([host, port, acked].map(Value::bulk))
        });
        Value::array([Value::bulk("master"), offset, Value::array(replicas)])
    }

    /// What `INFO replication` answers.
    pub(crate) fn section(&self, wall_millis: i64, now: VirtualTime) -> String {
        let mut lines = vec!["# Replication".to_owned()];
        if let Some(upstream) = &self.primary {
            let up = matches!(upstream.state, LinkState::Up(_));
            let offset = if upstream.cached {
                self.offset as i64
            } else {
                -1
            };
            lines.push("role:slave".to_owned());
            lines.push(format!("master_host:{}", upstream.address.host));
            lines.push(format!("master_port:{}", upstream.address.port));
            lines.push(format!(
                "master_link_status:{}",
                if up { "up" } else { "down" }
            ));
            if !up {
                let since = upstream.down_since;
                let seconds = since.map_or(-1, |since| now.since(since).as_secs() as i64);
                lines.push(format!("master_link_down_since_seconds:{seconds}"));
            }
            lines.push(format!("slave_repl_offset:{offset}"));
            lines.push("slave_priority:100".to_owned());
            lines.push("slave_read_only:1".to_owned());
        } else {
            lines.push("role:master".to_owned());
        }
        lines.push(format!("connected_slaves:{}", self.replicas.len()));
        for (number, replica) in self.replicas.iter().enumerate() {
            let (host, port) = replica.place();
            let state = replica.state();
            let lag = (wall_millis - replica.heard).max(0) / 1_000;
            lines.push(format!(
                "slave{number}:ip={host},port={port},state={state},offset={},lag={lag}",
                replica.acked
            ));
        }
        lines.push("master_failover_state:no-failover".to_owned());
        lines.push(format!("master_replid:{}", self.id));
        let (previous, end) = match self.previous {
            Some((id, end)) => (id.to_string(), end as i64),
            None => ("0".repeat(40), -1),
        };
        lines.push(format!("master_replid2:{previous}"));
        lines.push(format!("master_repl_offset:{}", self.offset));
        lines.push(format!("second_repl_offset:{end}"));
        let first = self.backlog.as_ref().map_or(0, |backlog| backlog.start + 1);
        lines.push(format!(
            "repl_backlog_active:{}",
            u8::from(self.backlog.is_some())
        ));
        lines.push("repl_backlog_size:1048576".to_owned());
        lines.push(format!("repl_backlog_first_byte_offset:{first}"));
        let kept = self
            .backlog
            .as_ref()
            .map_or(0, |backlog| self.offset - backlog.start);
        lines.push(format!("repl_backlog_histlen:{kept}"));
        lines.push(String::new());
        lines.join("\r\n")
    }
}

impl Attached {
    fn is_online(&self) -> bool {
        matches!(self.stage, ReplicaState::Streaming | ReplicaState::Silent)
    }

    fn state(&self) -> &'static str {
        match self.stage {
            ReplicaState::Waiting { .. } => "wait_bgsave",
            ReplicaState::Sent { .. } => "send_bulk",
            // It says so before the stream has begun.
            ReplicaState::Silent | ReplicaState::Streaming => "online",
        }
    }

    fn place(&self) -> (String, String) {
        match &self.address {
            Some(address) => (address.host.to_string(), address.port.to_string()),
            None => (format!("link-{}", self.link.0), "0".to_owned()),
        }
    }
}
