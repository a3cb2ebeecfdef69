//! Machines that say what they hear, each to the next.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Boring, Chance, Machine, Now};

use super::{Cluster, Harness, Network};

/// What a machine has heard or seen, when, and who it is.
type Line = (u64, usize, &'static str);

struct Machines {
    network: Network<usize, &'static str>,
    timers: Vec<VirtualTime>,
    log: Vec<Line>,
}

impl Machines {
    fn new(nodes: usize) -> Self {
        Self {
            network: Network::new(Duration::from_micros(10)),
            timers: vec![VirtualTime::NEVER; nodes],
            log: Vec::new(),
        }
    }

    fn note(&mut self, node: usize, what: &'static str) {
        self.log.push((self.now().micros(), node, what));
    }

    fn run_to(&mut self, micros: u64) -> Vec<Line> {
        self.run_until(at(micros));
        std::mem::take(&mut self.log)
    }
}

impl Cluster for Machines {
    type Node = usize;
    type Message = &'static str;

    fn network(&self) -> &Network<usize, &'static str> {
        &self.network
    }

    fn network_mut(&mut self) -> &mut Network<usize, &'static str> {
        &mut self.network
    }

    fn timers(&self) -> impl Iterator<Item = (VirtualTime, usize)> {
        self.timers.iter().copied().zip(0..)
    }

    fn on_message(&mut self, from: usize, to: usize, message: &'static str) {
        self.note(to, message);
        if message == "ask" {
            self.network.send(to, from, "answer");
        }
    }

    fn on_timer(&mut self, node: usize) {
        self.timers[node] = VirtualTime::NEVER;
        self.note(node, "timer");
    }

    fn on_refused(&mut self, from: usize, _to: usize, _message: &'static str) {
        self.note(from, "refused");
    }

    fn is_for_kernel(message: &&'static str) -> bool {
        *message == "connect"
    }
}

fn at(micros: u64) -> VirtualTime {
    VirtualTime::from_micros(micros)
}

#[test]
fn messages_arrive_in_the_order_in_which_they_were_sent_and_before_timers() {
    let mut machines = Machines::new(3);
    machines.network.send(0, 2, "first");
    machines.network.send(1, 0, "second");
    machines.network.send_at(at(5), 1, 2, "later");
    machines.timers = vec![at(10), at(10), at(3)];
    let expected = [
        (3, 2, "timer"),
        (10, 2, "first"),
        (10, 0, "second"),
        (10, 0, "timer"),
        (10, 1, "timer"),
    ];
    assert_eq!(machines.run_to(14), expected);
    assert_eq!((machines.now(), machines.network.in_flight()), (at(14), 1));
    assert_eq!(machines.run_to(15), [(15, 2, "later")]);
}

#[test]
fn a_link_with_another_delay_lets_nothing_overtake() {
    let mut machines = Machines::new(2);
    machines.network.send(0, 1, "slow");
    machines.network.send(1, 0, "back");
    machines.network.set_delay(0, 1, Duration::from_micros(2));
    machines.network.send(0, 1, "fast");
    let expected = [(10, 1, "slow"), (10, 0, "back"), (10, 1, "fast")];
    assert_eq!(machines.run_to(20), expected);
    machines.network.send(0, 1, "fast");
    assert_eq!(machines.run_to(30), [(22, 1, "fast")]);
}

#[test]
fn what_is_cut_is_lost_and_what_is_held_waits() {
    let mut machines = Machines::new(3);
    machines.network.cut(0, 1);
    machines.network.hold(0, 2);
    machines
        .network
        .hold_where(|_, _, message| *message == "ack");
    machines.network.send(0, 1, "lost");
    machines.network.send(1, 0, "ask");
    machines.network.send(0, 2, "held");
    machines.network.send(1, 2, "ack");
    assert_eq!(machines.run_to(100), [(10, 0, "ask")]);
    assert_eq!(machines.network.in_flight(), 0);
    machines.network.heal(0, 1);
    machines
        .network
        .drop_held(|_, _, message| *message == "ack");
    machines.network.release();
    machines.network.send(0, 1, "there");
    machines.network.send(1, 2, "ack");
    let expected = [(110, 2, "held"), (110, 1, "there"), (110, 2, "ack")];
    assert_eq!(machines.run_to(200), expected);
}

#[test]
fn a_crashed_node_gets_nothing_and_sends_nothing_more() {
    let mut machines = Machines::new(2);
    machines.network.send(0, 1, "in flight");
    machines.network.send(1, 0, "sent");
    machines.network.send_at(at(5), 1, 0, "unsent");
    machines.network.hold(0, 1);
    machines.network.send(0, 1, "held");
    machines.timers[1] = at(4);
    machines.network.crash(1);
    assert!(machines.network.is_down(1));
    machines.network.release();
    machines.run_until(at(3));
    machines.network.send(0, 1, "to the dead");
    assert_eq!(
        machines.run_to(20),
        [(10, 0, "refused"), (10, 0, "sent"), (13, 0, "refused")]
    );
    // What was sent to an earlier life does not reach the next.
    machines.timers[1] = VirtualTime::NEVER;
    machines.network.restart(1);
    machines.network.send(0, 1, "early");
    machines.network.crash(1);
    machines.network.restart(1);
    machines.network.send(0, 1, "in time");
    assert_eq!(
        machines.run_to(40),
        [(30, 0, "refused"), (30, 1, "in time")]
    );
}

#[test]
fn a_paused_node_finds_everything_when_it_goes_on() {
    let mut machines = Machines::new(2);
    machines.network.pause(1);
    machines.timers[1] = at(5);
    for message in ["ask", "connect", "more"] {
        machines.network.send(0, 1, message);
    }
    assert_eq!(machines.run_to(50), [(10, 1, "connect")]);
    assert!(!machines.network.is_running(1));
    machines.network.resume(1);
    let expected = [
        (50, 1, "ask"),
        (50, 1, "more"),
        (50, 1, "timer"),
        (60, 0, "answer"),
    ];
    assert_eq!(machines.run_to(60), expected);
}

#[test]
fn a_run_ends_when_its_condition_holds_or_its_time_is_over() {
    let mut machines = Machines::new(2);
    machines.network.send(0, 1, "ask");
    assert!(machines.run_until_met(at(100), |machines| machines.log.len() == 1));
    assert_eq!(machines.now(), at(10));
    assert!(machines.settle(at(100)));
    assert_eq!(machines.log, [(10, 1, "ask"), (20, 0, "answer")]);
    assert_eq!(machines.now(), at(20));
    machines.network.send(0, 1, "late");
    assert!(!machines.settle(at(25)));
    assert_eq!(machines.now(), at(25));
    machines.network.skip_to(at(40));
    machines.run_for(Duration::from_micros(1));
    assert_eq!(machines.log.last(), Some(&(40, 1, "late")));
}

/// Wants to be woken every ten microseconds, and tells when it was, by both clocks.
struct Metronome(VirtualTime);

impl Machine for Metronome {
    type Input = bool;
    type Output = (u64, i64);
    const WAKE: bool = true;

    fn handle(
        &mut self,
        now: Now,
        is_wake: bool,
        chance: &mut dyn Chance,
        out: &mut Vec<(u64, i64)>,
    ) -> Alarm {
        if is_wake {
            out.push((now.monotonic.micros(), now.wall_micros));
            self.0 = now.monotonic + Duration::from_micros(10 + u64::from(chance.choose(2)));
        } else {
            self.0 = VirtualTime::NEVER;
        }
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        self.0
    }
}

#[test]
fn a_machine_by_itself_is_woken_whenever_it_wants_to_be() {
    let mut harness = Harness::new(Metronome(at(5)), 100, Boring);
    harness.pass(Duration::from_micros(24));
    assert_eq!(harness.out, [(5, 105), (15, 115)]);
    assert_eq!(
        (harness.now.monotonic, harness.now.wall_micros),
        (at(24), 124)
    );
    // What it does not see it learns late.
    harness.skip(Duration::from_micros(6));
    assert_eq!(harness.out.len(), 2);
    harness.pass(Duration::ZERO);
    assert_eq!(harness.out[2..], [(30, 130)]);
    assert!(harness.wake());
    assert_eq!(harness.out[3..], [(40, 140)]);
    harness.input(false);
    assert!(!harness.wake());
    harness.pass(Duration::from_secs(1));
    assert_eq!(harness.out.len(), 4);
}
