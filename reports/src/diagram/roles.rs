//! What lasts at servers: what each is to the others, and whose key of the lock it has.

use std::collections::BTreeMap;

use picklock_checker::{ContenderId, EventKind, FaultId, History, ServiceEventKind, VirtualTime};

use super::bars::{Bar, Origin, Track};

/// What a server is called whose process is dead.
const DOWN: &str = "down";

/// When something begins, and with what.
type Begin = (VirtualTime, Origin);

/// The bars of servers, in the lanes of these names.
pub(super) fn of_servers(history: &History, lane: &dyn Fn(&str) -> Option<usize>) -> Vec<Bar> {
    let never = VirtualTime::NEVER;
    let mut bars = Vec::new();
    let mut roles: BTreeMap<usize, (Begin, &'static str)> = BTreeMap::new();
    let mut keys: BTreeMap<(usize, ContenderId), Begin> = BTreeMap::new();
    bars.extend(outages(history, lane));
    for event in &history.service {
        let Some(lane) = lane(&event.machine) else {
            continue;
        };
        let begin = (event.at, Origin::at_service(event.after));
        let row = event.row();
        if let Some(role) = row.role {
            let start = (VirtualTime::ZERO, Origin::at_service(0));
            let before = row.role_before.map(|before| (start, before));
            let since = roles.get(&lane).copied().or(before);
            if let Some((from, was)) = since
                && was != role
            {
                bars.push(role_bar(lane, &event.machine, (from, event.at), was));
                roles.remove(&lane);
            }
            roles.entry(lane).or_insert((begin, role));
        }
        match &event.what {
            ServiceEventKind::KeySet { of, .. } => {
                keys.entry((lane, *of)).or_insert(begin);
            }
            // A restarted server may find that it was never written to its disk.
            ServiceEventKind::KeyGone { of, .. }
            | ServiceEventKind::Restarted {
                without_key_of: Some(of),
                ..
            } => {
                if let Some(from) = keys.remove(&(lane, *of)) {
                    let lasts = (from, event.at);
                    bars.push(key_bar(history, (lane, *of), lasts, &event.machine));
                }
            }
            _ => {}
        }
    }
    let machines = history.service.iter().map(|event| event.machine.as_str());
    let mut names: BTreeMap<usize, &str> = BTreeMap::new();
    for machine in machines {
        if let Some(lane) = lane(machine) {
            names.insert(lane, machine);
        }
    }
    let name = |lane: usize| names.get(&lane).copied().unwrap_or_default();
    for (lane, (from, role)) in roles {
        bars.push(role_bar(lane, name(lane), (from, never), role));
    }
    for (of, from) in keys {
        bars.push(key_bar(history, of, (from, never), name(of.0)));
    }
    keys_while_up(bars)
}

/// The same bars, with those of keys only while their servers are up.
fn keys_while_up(bars: Vec<Bar>) -> Vec<Bar> {
    let is_down = |bar: &&Bar| bar.track == Track::Process && bar.label == DOWN;
    let downs: Vec<Bar> = bars.iter().filter(is_down).cloned().collect();
    let apart = bars.into_iter().flat_map(|bar| match bar.track {
        Track::Key => while_up(bar, &downs),
        Track::Process
        | Track::Waiting
        | Track::Belief
        | Track::Ownership
        | Track::Effect
        | Track::Role => vec![bar],
    });
    apart.collect()
}

/// The parts of the bar of a key in which its server is not down: who is down has no key, and may have it again from
/// its disk.
fn while_up(bar: Bar, downs: &[Bar]) -> Vec<Bar> {
    let mut parts = vec![bar];
    for down in downs {
        let split = |bar: Bar| {
            if bar.lane != down.lane || down.until <= bar.from || bar.until <= down.from {
                return vec![bar];
            }
            let before = Bar {
                until: down.from,
                ..bar.clone()
            };
            let after = Bar {
                from: down.until,
                ..bar
            };
            let lasts = |bar: &Bar| bar.from < bar.until;
            [before, after].into_iter().filter(lasts).collect()
        };
        parts = parts.into_iter().flat_map(split).collect();
    }
    parts
}

/// While a fault has a server down, or standing still.
fn outages(history: &History, lane: &dyn Fn(&str) -> Option<usize>) -> Vec<Bar> {
    let fired = history.events.iter().enumerate();
    let fired = fired.filter_map(|(index, event)| match event.what {
        EventKind::FaultFired { fault } => Some((index, event.at, fault)),
        _ => None,
    });
    let outage = |(index, from, fault): (usize, VirtualTime, FaultId)| {
        let mut words = history.fault(fault).split(' ');
        let what = match words.next()? {
            "crash-server" | "power-loss" => DOWN,
            "hang-server" => "hangs",
            _ => return None,
        };
        let machine = words.next()?.trim_end_matches(',');
        let lane = lane(machine)?;
        let healed = history.events[index..].iter().find(
            |event| matches!(event.what, EventKind::FaultHealed { fault: healed } if healed == fault),
        );
        let mut restarts = history.service.iter().filter(|event| {
            let is_restart = matches!(event.what, ServiceEventKind::Restarted { .. });
            is_restart && event.machine == machine && event.at >= from
        });
        let until = healed
            .map(|event| event.at)
            .or(restarts.next().map(|event| event.at));
        Some(Bar {
            track: Track::Process,
            ..role_bar(
                lane,
                machine,
                (
                    (from, Origin::event(index)),
                    until.unwrap_or(VirtualTime::NEVER),
                ),
                what,
            )
        })
    };
    fired.filter_map(outage).collect()
}

fn role_bar(
    lane: usize,
    machine: &str,
    ((from, origin), until): (Begin, VirtualTime),
    role: &'static str,
) -> Bar {
    Bar {
        lane,
        track: Track::Role,
        from,
        until,
        goes_on: false,
        of: None,
        bad: matches!(role, "down" | "hangs" | "LOOKING"),
        label: role.to_owned(),
        text: format!("{machine} is {role}"),
        origin,
    }
}

fn key_bar(
    history: &History,
    (lane, of): (usize, ContenderId),
    ((from, origin), until): (Begin, VirtualTime),
    machine: &str,
) -> Bar {
    let name = history.contender(of);
    Bar {
        lane,
        track: Track::Key,
        from,
        until,
        goes_on: false,
        of: Some(of),
        bad: false,
        label: "key".to_owned(),
        text: format!("{machine} has the key of {name}"),
        origin,
    }
}
