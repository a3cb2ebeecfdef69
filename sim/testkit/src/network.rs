//! Nodes, the links between them, and the messages in flight.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_checker::VirtualTime;

/// The nodes of a test, what is in flight between them, and the clock.
///
/// A node need not be announced: it is there, and runs, until something else is said of it. Each pair of nodes has a
/// link in each direction, on which messages arrive in the order in which they left.
pub struct Network<N, M> {
    now: VirtualTime,
    delay: Duration,
    /// Links with a delay of their own.
    delays: BTreeMap<(N, N), Duration>,
    /// Events by arrival; equal times keep the order of sending.
    events: BTreeMap<(VirtualTime, u64), Event<N, M>>,
    serial: u64,
    nodes: BTreeMap<N, Status<N, M>>,
    cut: BTreeSet<(N, N)>,
    holds: Vec<Hold<N, M>>,
    held: Vec<(N, N, M)>,
}

/// Which messages wait when they are about to leave.
type Hold<N, M> = Box<dyn Fn(N, N, &M) -> bool>;

/// A message, the lives of the nodes when it was sent, and where it is.
struct Event<N, M> {
    from: N,
    to: N,
    message: M,
    /// The life of the sender if it has not left, and that of the receiver if it has.
    life: u32,
    departs: bool,
}

/// How a node fares, if not as at first.
struct Status<N, M> {
    /// How often it has crashed.
    life: u32,
    is_down: bool,
    is_paused: bool,
    /// What has come while it was paused.
    backlog: Vec<(N, M)>,
}

impl<N, M> Default for Status<N, M> {
    fn default() -> Self {
        Self {
            life: 0,
            is_down: false,
            is_paused: false,
            backlog: Vec::new(),
        }
    }
}

/// What becomes of the next event.
pub(crate) enum Next<N, M> {
    /// A message has arrived.
    Arrived(N, N, M),
    /// A message has come to a node that is not there any more.
    Refused(N, N, M),
    /// The sender need not know.
    Nothing,
}

impl<N: Copy + Ord, M> Network<N, M> {
    /// A network on which nothing is in flight, and every link has this delay.
    pub fn new(delay: Duration) -> Self {
        Self {
            now: VirtualTime::ZERO,
            delay,
            delays: BTreeMap::new(),
            events: BTreeMap::new(),
            serial: 0,
            nodes: BTreeMap::new(),
            cut: BTreeSet::new(),
            holds: Vec::new(),
            held: Vec::new(),
        }
    }

    /// What time it is.
    pub fn now(&self) -> VirtualTime {
        self.now
    }

    /// It is then, if it was earlier, and nothing has happened since: what was due is late.
    pub fn skip_to(&mut self, time: VirtualTime) {
        if time != VirtualTime::NEVER {
            self.now = self.now.max(time);
        }
    }

    /// How many messages have been sent that have neither arrived nor been lost; those that are held do not count.
    pub fn in_flight(&self) -> usize {
        self.events.len()
    }

    /// From now on messages from one node to another take so long, and overtake none that are in flight.
    pub fn set_delay(&mut self, from: N, to: N, delay: Duration) {
        self.delays.insert((from, to), delay);
    }

    /// Sends a message now.
    pub fn send(&mut self, from: N, to: N, message: M) {
        if self.cut.contains(&(from, to)) {
            return;
        }
        if self.holds.iter().any(|hold| hold(from, to, &message)) {
            self.held.push((from, to, message));
            return;
        }
        let mut time = self.now + self.delay;
        if let Some(delay) = self.delays.get(&(from, to)) {
            let mut events = self.events.iter().rev();
            let last = events
                .find(|(_, event)| (event.from, event.to, event.departs) == (from, to, false));
            time = (self.now + *delay).max(last.map_or(self.now, |(key, _)| key.0));
        }
        self.add(time, from, to, message, false);
    }

    /// Sends a message at a time to come, unless its sender crashes before.
    pub fn send_at(&mut self, time: VirtualTime, from: N, to: N, message: M) {
        self.add(time, from, to, message, true);
    }

    fn add(&mut self, time: VirtualTime, from: N, to: N, message: M, departs: bool) {
        let life = self.life(if departs { from } else { to });
        let event = Event {
            from,
            to,
            message,
            life,
            departs,
        };
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }

    fn life(&self, node: N) -> u32 {
        self.nodes.get(&node).map_or(0, |status| status.life)
    }

    /// What leaves from one node to another is lost, from now on, and neither is notified.
    pub fn cut(&mut self, from: N, to: N) {
        self.cut.insert((from, to));
    }

    /// What leaves from one node to another gets there again.
    pub fn heal(&mut self, from: N, to: N) {
        self.cut.remove(&(from, to));
    }

    /// What leaves from one node to another waits, from now on.
    pub fn hold(&mut self, from: N, to: N)
    where
        N: 'static,
    {
        self.hold_where(move |sender, receiver, _| (sender, receiver) == (from, to));
    }

    /// Messages wait when they are about to leave, from now on, if this is so of them.
    pub fn hold_where(&mut self, hold: impl Fn(N, N, &M) -> bool + 'static) {
        self.holds.push(Box::new(hold));
    }

    /// What is held goes on, in the order in which it was sent, and nothing is held any more.
    pub fn release(&mut self) {
        self.holds.clear();
        for (from, to, message) in std::mem::take(&mut self.held) {
            self.send(from, to, message);
        }
    }

    /// What is held, and of which this is so, is lost.
    pub fn drop_held(&mut self, mut lost: impl FnMut(N, N, &M) -> bool) {
        self.held
            .retain(|(from, to, message)| !lost(*from, *to, message));
    }

    /// Whether a node is neither down nor paused.
    pub fn is_running(&self, node: N) -> bool {
        let status = self.nodes.get(&node);
        status.is_none_or(|status| !status.is_down && !status.is_paused)
    }

    /// Whether a node is down.
    pub fn is_down(&self, node: N) -> bool {
        self.nodes.get(&node).is_some_and(|status| status.is_down)
    }

    /// A node crashes: what is on its way to it is refused, and what it has not sent yet is lost.
    pub fn crash(&mut self, node: N) {
        self.drop_held(|from, to, _| from == node || to == node);
        let life = self.life(node) + 1;
        let status = Status {
            life,
            is_down: true,
            ..Status::default()
        };
        self.nodes.insert(node, status);
    }

    /// A node that was down is there again.
    pub fn restart(&mut self, node: N) {
        self.nodes.entry(node).or_default().is_down = false;
    }

    /// A node stands still: what comes to it waits, and it does not look at the clock.
    pub fn pause(&mut self, node: N) {
        self.nodes.entry(node).or_default().is_paused = true;
    }

    /// A node goes on, first with what has come meanwhile.
    pub fn resume(&mut self, node: N) {
        let status = self.nodes.entry(node).or_default();
        status.is_paused = false;
        for (from, message) in std::mem::take(&mut status.backlog) {
            self.add(self.now, from, node, message, false);
        }
    }

    /// When something departs or arrives next.
    pub(crate) fn next_time(&self) -> VirtualTime {
        let next = self.events.keys().next();
        next.map_or(VirtualTime::NEVER, |key| key.0)
    }

    /// Takes the next event.
    pub(crate) fn take_next(&mut self, is_for_kernel: impl Fn(&M) -> bool) -> Next<N, M> {
        let Some((_, event)) = self.events.pop_first() else {
            return Next::Nothing;
        };
        let (from, to, message) = (event.from, event.to, event.message);
        if event.departs {
            if event.life == self.life(from) {
                self.send(from, to, message);
            }
            return Next::Nothing;
        }
        match self.nodes.get_mut(&to) {
            Some(status) if status.is_down || status.life != event.life => {
                Next::Refused(from, to, message)
            }
            Some(status) if status.is_paused && !is_for_kernel(&message) => {
                status.backlog.push((from, message));
                Next::Nothing
            }
            _ => Next::Arrived(from, to, message),
        }
    }
}
