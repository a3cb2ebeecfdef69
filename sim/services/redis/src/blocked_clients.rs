//! Clients that have to wait: for the end of a pause, or for replicas.

use picklock_checker::VirtualTime;
use picklock_clients::redis::{ErrorReply, Value};

use crate::clients::{Blocked, ClientConnection, Pause};
use crate::command_table::{Outcome, Row};
use crate::db::Expired;
use crate::errors::refuse;
use crate::settings::Persistence;
use crate::{ConnectionId, Server};

/// How often a server looks for keys whose time has come, in microseconds.
const CRON: u64 = 100_000;

/// What `WAITAOF` answers: on how many disks what was written is, of the server itself and of its replicas.
fn disks(own: bool, theirs: i64) -> Value {
    Value::array([Value::Integer(own.into()), Value::Integer(theirs)])
}

impl Server {
    /// Pauses clients for so many milliseconds.
    pub(crate) fn pause(&mut self, millis: i64, writes_only: bool) {
        let until = self.core.wall_millis().saturating_add(millis);
        // A pause that is on already is not made shorter or weaker.
        let old = self.pause;
        self.pause = Some(Pause {
            until: old.map_or(until, |old| old.until.max(until)),
            writes_only: writes_only && old.is_none_or(|old| old.writes_only),
        });
        self.set_role();
    }

    /// Ends a pause: the clients that waited for its end are served.
    pub(crate) fn unpause(&mut self) {
        self.pause = None;
        self.set_role();
        self.apply_postponed();
    }

    /// Whether clients are paused, and if so, whether only those that write.
    pub(crate) fn pauses(&mut self) -> Option<bool> {
        let pause = self.pause?;
        if pause.until <= self.core.wall_millis() {
            self.unpause();
            return None;
        }
        Some(pause.writes_only)
    }

    pub(crate) fn is_paused(&mut self, connection: ConnectionId, row: &Row) -> bool {
        let Some(writes_only) = self.pauses() else {
            return false;
        };
        let queue = self.clients.get_mut(connection).queue.as_deref();
        !writes_only || row.is_or_runs(queue, Row::may_replicate)
    }

    /// Blocks a connection until so many replicas have what it has written.
    pub(crate) fn wait(
        &mut self,
        connection: ConnectionId,
        count: i64,
        millis: i64,
    ) -> Result<Outcome, ErrorReply> {
        if self.core.is_replica {
            return refuse(
                "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a \
                 replica is configured to be writable (which is not the default) writes to replicas are just local \
                 and are not propagated.",
            );
        }
        let written = self.clients.get_mut(connection).written;
        let have = self.replication.replicas_with(written);
        if have >= count || self.in_transaction {
            return Ok(Outcome::Answer(Value::Integer(have)));
        }
        let until = (millis > 0).then(|| self.core.wall_millis().saturating_add(millis));
        let blocked = Blocked::Replicas { count, until };
        self.clients.block(connection, blocked);
        self.request_acks();
        Ok(Outcome::Blocked)
    }

    /// Blocks a connection until what it has written is on the disk, if `local`, and on those of so many replicas.
    pub(crate) fn wait_aof(
        &mut self,
        connection: ConnectionId,
        (local, replicas): (bool, i64),
        millis: i64,
    ) -> Result<Outcome, ErrorReply> {
        if self.core.is_replica {
            return refuse(
                "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just \
                 local and are not propagated.",
            );
        }
        if local && !matches!(self.core.settings.persistence, Persistence::Log(_)) {
            return refuse(
                "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
            );
        }
        let client = self.clients.get_mut(connection);
        let (written, changes) = (client.written, client.changes);
        let (own, theirs) = self.disks_with(written, changes);
        if (own >= local && theirs >= replicas) || self.in_transaction {
            return Ok(Outcome::Answer(disks(own, theirs)));
        }
        let until = (millis > 0).then(|| self.core.wall_millis().saturating_add(millis));
        let blocked = Blocked::Fsync {
            local,
            replicas,
            until,
        };
        self.clients.block(connection, blocked);
        if replicas > 0 {
            self.request_acks();
        }
        Ok(Outcome::Blocked)
    }

    /// Whether what was written up to there is on the disk of the server, and on those of how many replicas.
    fn disks_with(&self, written: u64, changes: u64) -> (bool, i64) {
        let logs = matches!(self.core.settings.persistence, Persistence::Log(_));
        let own = logs && self.is_synced(changes);
        (own, self.replication.disks_with(written))
    }

    /// Does what the time has brought: pauses and waits end, and keys go.
    pub(crate) fn pass_time(&mut self) {
        if self.still_loads() {
            return;
        }
        let now = self.core.wall_millis();
        if self.pause.is_some_and(|pause| pause.until <= now) {
            self.unpause();
        }
        self.serve_blocked();
        if self.wake <= self.core.now.monotonic {
            self.core.expire_due();
            self.advance_replicas();
            self.replication_cron();
            self.cluster_cron();
            self.redirect_blocked();
        }
        self.write_disk();
        let waits_for_disk = |(_, _, blocked)| matches!(blocked, Blocked::Fsync { .. });
        if self.clients.blocked().any(waits_for_disk) {
            self.serve_blocked();
        }
        self.feed_replicas();
    }

    /// Goes on with who has waited long enough.
    fn serve_blocked(&mut self) {
        let now = self.core.wall_millis();
        let free = |client: &ClientConnection, blocked: Blocked| match blocked {
            Blocked::Paused => self.pause.is_none(),
            Blocked::Script => false,
            Blocked::Replicas { count, until } => {
                until.is_some_and(|until| until <= now)
                    || self.replication.replicas_with(client.written) >= count
            }
            Blocked::Fsync {
                local,
                replicas,
                until,
            } => {
                let (own, theirs) = self.disks_with(client.written, client.changes);
                until.is_some_and(|until| until <= now) || (own >= local && theirs >= replicas)
            }
            Blocked::Keys { until } => until.is_some_and(|until| until <= now),
        };
        let blocked = self.clients.blocked();
        let served = blocked.filter(|(_, client, blocked)| free(client, *blocked));
        let served: Vec<ConnectionId> = served.map(|(id, _, _)| id).collect();
        for connection in served {
            self.go_on(connection);
        }
    }

    fn go_on(&mut self, connection: ConnectionId) {
        let client = self.clients.get_mut(connection);
        let (written, changes) = (client.written, client.changes);
        match self.clients.unblock(connection) {
            Some(Blocked::Replicas { .. }) => {
                let have = self.replication.replicas_with(written);
                self.answer(connection, Value::Integer(have));
            }
            Some(Blocked::Fsync { .. }) => {
                let (own, theirs) = self.disks_with(written, changes);
                self.answer(connection, disks(own, theirs));
            }
            Some(Blocked::Keys { .. }) => {
                self.unblock_from_keys(connection);
                self.answer(connection, Value::NilArray);
            }
            Some(Blocked::Paused | Blocked::Script) | None => {}
        }
        self.run_pending(connection);
    }

    /// Ends the wait of a connection, as if its time were over, or with this error. Whether it waited.
    pub(crate) fn unblock(
        &mut self,
        connection: ConnectionId,
        error: Option<&'static str>,
    ) -> bool {
        let client = self.clients.get(connection);
        match client.and_then(|client| client.blocked) {
            None | Some(Blocked::Paused | Blocked::Script) => return false,
            Some(Blocked::Replicas { .. } | Blocked::Fsync { .. } | Blocked::Keys { .. }) => {}
        }
        match error {
            None => self.go_on(connection),
            Some(text) => {
                self.unblock_from_keys(connection);
                self.answer(connection, Value::error(text));
                self.run_pending(connection);
            }
        }
        true
    }

    /// Serves what a connection has sent while it waited.
    pub(crate) fn run_pending(&mut self, connection: ConnectionId) {
        while let Some(client) = self.clients.get(connection)
            && client.blocked.is_none()
            && let Some(command) = self.clients.get_mut(connection).pending.pop_front()
        {
            self.serve(connection, &command);
        }
    }

    pub(crate) fn set_wake(&mut self) {
        if let Some(until) = self.core.degraded.loading {
            self.wake = until;
            return;
        }
        if let Some(until) = self.busy_until().or_else(|| self.migrates_until()) {
            self.wake = until;
            return;
        }
        let now = self.core.now;
        let in_micros = |wall_millis: i64| {
            let due = wall_millis.saturating_mul(1_000);
            let wait = due.saturating_sub(now.wall_micros).max(0);
            now.monotonic.micros().saturating_add(wait.unsigned_abs())
        };
        let wake = self.replication.wake().min(self.disk_due());
        let mut wake = wake.min(self.cluster_wake()).micros();
        if self.core.expired == Expired::Deleted
            && self.core.settings.active_expiry
            && let Some(earliest) = self.core.earliest()
        {
            // At the next beat of the clock by which the server does such things.
            let due = in_micros(earliest).max(now.monotonic.micros() + 1);
            wake = wake.min(due.div_ceil(CRON).saturating_mul(CRON));
        }
        if let Some(pause) = self.pause {
            wake = wake.min(in_micros(pause.until));
        }
        for (_, _, blocked) in self.clients.blocked() {
            let until = match blocked {
                Blocked::Paused | Blocked::Script => None,
                Blocked::Replicas { until, .. }
                | Blocked::Fsync { until, .. }
                | Blocked::Keys { until } => until,
            };
            if let Some(until) = until {
                wake = wake.min(in_micros(until));
            }
        }
        self.wake = VirtualTime::from_micros(wake);
    }
}
