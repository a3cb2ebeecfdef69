//! The drained queue on real servers.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Path, Request};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage, Xid};

use super::Cell;
use super::queue::{Contender, Stage};
use crate::harness::clock::Clock;
use crate::harness::error::Result;
use crate::zookeeper::backend::{ConnectRequest, EnsembleBackend, Handle, Incoming, ServerIndex};
use crate::zookeeper::ensemble;
use crate::zookeeper::real::{Installed, Real};

/// Sessions live this long without a word.
const SESSION_TIMEOUT: Duration = Duration::from_secs(10);
/// So they say one this often.
const BEAT: Duration = Duration::from_secs(3);
/// How long one waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long one looks for nothing more to come.
const QUIET: Duration = Duration::from_millis(100);

/// Real servers, and the numbers of the locks that were used on them.
pub(super) struct Experiment<'a> {
    real: Real<'a>,
    /// The connection that creates the locks, and how many requests that took.
    maker: (Handle, u32),
    servers: usize,
    locks: u32,
}

/// A client and its connection.
struct HerdClient {
    link: Handle,
    xid: u32,
    contender: Contender,
    /// When it got the lock.
    since: Option<Duration>,
    /// Whether it has begun to give it back.
    released: bool,
}

pub(super) fn start<'a>(
    installed: &Installed,
    servers: u8,
    stop: &'a AtomicBool,
) -> Result<Experiment<'a>> {
    let mut real = Real::start(installed, &ensemble(servers), stop)?;
    let maker = connect(&mut real, ServerIndex(0))?;
    Ok(Experiment {
        real,
        maker: (maker, 0),
        servers: usize::from(servers),
        locks: 0,
    })
}

impl Experiment<'_> {
    /// Notifications from the first release on, as the clients and the servers have counted them.
    pub(super) fn drain(&mut self, cell: Cell) -> Result<(u64, u64)> {
        self.locks += 1;
        let lock: Path = format!("/lock-{}", self.locks).into();
        self.make(&lock)?;
        let mut seats = Vec::new();
        for number in 0..=cell.waiters as usize {
            let link = connect(&mut self.real, ServerIndex(number % self.servers))?;
            let contender = Contender::new(cell.way, &lock);
            let mut seat = HerdClient {
                link,
                xid: 0,
                contender,
                since: None,
                released: false,
            };
            let first = seat.contender.first();
            self.ask(&mut seat, first)?;
            // The first has the lock before the others come.
            while number == 0 && seat.contender.stage != Stage::Holding {
                self.receive(&mut seat)?;
            }
            seats.push(seat);
        }
        let waits =
            |seat: &HerdClient| matches!(seat.contender.stage, Stage::Waiting | Stage::Holding);
        self.until(&mut seats, None, &mut |seats| seats.iter().all(waits))?;
        // What the arrivals have caused is not counted.
        self.settle(&mut seats)?;
        let before = self.real.watches_fired()?;
        let mut notifications = self.until(&mut seats, Some(cell.hold), &mut is_drained)?;
        notifications += self.settle(&mut seats)?;
        let after = self.real.watches_fired()?;
        for seat in &mut seats {
            seat.xid += 1;
            let xid = Xid(seat.xid);
            self.real.send(seat.link, &ClientMessage::Close { xid })?;
        }
        self.real.pass(QUIET)?;
        seats.iter().for_each(|seat| self.real.cut(seat.link));
        Ok((notifications, after - before))
    }

    fn make(&mut self, lock: &Path) -> Result<()> {
        self.maker.1 += 1;
        let (link, xid) = (self.maker.0, Xid(self.maker.1));
        let mode = CreateMode::Persistent;
        let request = Request::create(lock.clone(), b"", mode, Acl::OPEN, false);
        self.real
            .send(link, &ClientMessage::Request { xid, request })?;
        // Answers to pings may come first.
        loop {
            match self.real.receive(link, ANSWER_TIMEOUT)? {
                Incoming::Message(ServerMessage::Reply { .. }) => return Ok(()),
                Incoming::Message(_) => {}
                Incoming::Closed | Incoming::Nothing => {
                    return self.real.silent(link, "a node for a lock");
                }
            }
        }
    }

    fn ask(&mut self, seat: &mut HerdClient, request: Request) -> Result<()> {
        seat.xid += 1;
        let xid = Xid(seat.xid);
        self.real
            .send(seat.link, &ClientMessage::Request { xid, request })
    }

    /// Takes what has come for a client, if anything has. Whether it was a notification.
    fn receive(&mut self, seat: &mut HerdClient) -> Result<Option<bool>> {
        let Incoming::Message(message) = self.real.try_receive(seat.link)? else {
            return Ok(None);
        };
        let (next, notifications) = match message {
            ServerMessage::Notification { kind, path } => {
                (seat.contender.notified(kind, &path), true)
            }
            ServerMessage::Reply { reply, .. } => (seat.contender.answered(reply), false),
            _ => (None, false),
        };
        if let Some(request) = next {
            self.ask(seat, request)?;
        }
        Ok(Some(notifications))
    }

    /// Reads from all clients until all is as it should be; the holder gives the lock back after this time, if at all.
    /// Answers how many notifications came.
    fn until(
        &mut self,
        seats: &mut [HerdClient],
        hold: Option<Duration>,
        over: &mut dyn FnMut(&[HerdClient]) -> bool,
    ) -> Result<u64> {
        let mut notifications = 0;
        let mut last_beat = self.real.elapsed();
        let mut last_heard = last_beat;
        while !over(seats) {
            let now = self.real.elapsed();
            if now - last_heard > ANSWER_TIMEOUT {
                self.real.silent(self.maker.0, "a queue that drains")?;
            }
            let beats = now - last_beat > BEAT;
            if beats {
                last_beat = now;
                self.real.send(self.maker.0, &ClientMessage::Ping)?;
                while let Incoming::Message(_) = self.real.try_receive(self.maker.0)? {}
            }
            for place in 0..seats.len() {
                let seat = &mut seats[place];
                while let Some(event) = self.receive(seat)? {
                    notifications += u64::from(event);
                    last_heard = now;
                }
                if beats {
                    self.real.send(seat.link, &ClientMessage::Ping)?;
                }
                // The node of the last client has no other watcher.
                if let Some(hold) = hold
                    && seat.contender.stage == Stage::Holding
                    && left(seats) > 1
                {
                    let seat = &mut seats[place];
                    let since = *seat.since.get_or_insert(now);
                    if now - since >= hold
                        && let Some(request) = seat.contender.release()
                    {
                        seat.released = true;
                        self.ask(seat, request)?;
                    }
                }
            }
            self.real.pass(Duration::ZERO)?;
        }
        Ok(notifications)
    }

    /// Reads from all clients until nothing comes any more.
    fn settle(&mut self, seats: &mut [HerdClient]) -> Result<u64> {
        let mut quiet_since = self.real.elapsed();
        let mut notifications = 0;
        while self.real.elapsed() - quiet_since < QUIET {
            for seat in &mut *seats {
                while let Some(event) = self.receive(seat)? {
                    notifications += u64::from(event);
                    quiet_since = self.real.elapsed();
                }
            }
        }
        Ok(notifications)
    }
}

/// How many have not begun to give the lock back. The next holder can have it before the answer to that is read.
fn left(seats: &[HerdClient]) -> usize {
    seats.iter().filter(|seat| !seat.released).count()
}

/// Whether the last has the lock, and all others have given it back.
fn is_drained(seats: &[HerdClient]) -> bool {
    seats.iter().all(|seat| match seat.contender.stage {
        Stage::Holding => !seat.released,
        Stage::Done => true,
        Stage::Asking | Stage::Waiting => false,
    }) && left(seats) == 1
}

fn connect(real: &mut Real, place: ServerIndex) -> Result<Handle> {
    let request = ConnectRequest::new_session(SESSION_TIMEOUT);
    let link = real.connect(place, &request)?;
    match real.receive(link, ANSWER_TIMEOUT)? {
        Incoming::Message(ServerMessage::Connected { .. }) => {}
        Incoming::Message(_) | Incoming::Closed | Incoming::Nothing => {
            real.silent(link, "a new connection")?;
        }
    }
    Ok(link)
}
