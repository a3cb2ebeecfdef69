//! The lanes of a diagram, from top to bottom: the resource, contenders, other clients, servers.

use picklock_checker::outcome::Story;
use picklock_checker::{ContenderId, EventKind};

use super::bars::Track;
use super::range::Part;
use super::traffic::Traffic;
use crate::timeline::Scene;

/// Where the lanes begin, without the faults above them.
pub(super) const HEAD: u32 = 22;
/// More contenders than these have no lane.
const MOST: usize = 20;

/// A lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Whose: `contender-1`, `server-2`, `resource`.
    pub name: String,
    /// What the explanation calls it: `A`; empty if it does not.
    pub letter: String,
    /// What it is.
    pub kind: LaneKind,
    /// Where it begins, from the top.
    pub top: u32,
    /// Where its line is, from the top.
    pub line: u32,
    /// How high it is.
    pub height: u32,
}

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// What the locks protect.
    Resource,
    /// A contender.
    Contender(ContenderId),
    /// A client that is no contender: a bystander, the operator.
    Client,
    /// A machine of the service.
    Server,
}

impl Lane {
    /// Where a track of this lane begins, from the top, and how high it is.
    pub fn track(&self, track: Track) -> (u32, u32) {
        let (below, height) = match track {
            Track::Process if self.kind == LaneKind::Server => (14, self.line - self.top - 12),
            Track::Belief => (28, 13),
            Track::Waiting => (33, 3),
            Track::Ownership => (43, 9),
            Track::Effect => (54, 8),
            Track::Process => (28, 34),
            Track::Role => (16, 10),
            Track::Key => (28, 9),
        };
        (self.top + below, height)
    }

    fn new(name: &str, letter: &str, kind: LaneKind) -> Self {
        Self {
            name: name.to_owned(),
            letter: letter.to_owned(),
            kind,
            top: 0,
            line: 0,
            height: 0,
        }
    }
}

/// The lanes of a part of a run, not placed yet. In a scene, only its contenders have one. Also how many have none.
pub(super) fn lanes(
    story: &Story,
    scene: &Scene,
    traffic: &Traffic,
    part: &Part,
    whole: bool,
) -> (Vec<Lane>, usize) {
    let history = &story.history;
    let events = &history.events[part.events.clone()];
    let mut lanes = Vec::new();
    let is_resource = |what: &EventKind| {
        matches!(
            what,
            EventKind::Writing { .. } | EventKind::Effect { .. } | EventKind::Read { .. }
        )
    };
    if events.iter().any(|event| is_resource(&event.what)) {
        lanes.push(Lane::new("resource", "", LaneKind::Resource));
    }
    let mut contenders: Vec<ContenderId> = scene
        .columns
        .iter()
        .map(|column| column.contender)
        .collect();
    let mut without = 0;
    if whole {
        let mut others: Vec<_> = events.iter().filter_map(|event| event.what.by()).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|other| !contenders.contains(other));
        contenders.extend(others);
        without = contenders.len().saturating_sub(MOST);
        contenders.truncate(MOST);
    }
    for id in contenders {
        let column = scene.columns.iter().find(|column| column.contender == id);
        let letter = column.map_or("", |column| column.letter.as_str());
        let kind = LaneKind::Contender(id);
        lanes.push(Lane::new(history.contender(id), letter, kind));
    }
    if whole {
        let mut clients: Vec<&str> = Vec::new();
        let messages = traffic
            .messages
            .iter()
            .filter(|message| part.has(message.at));
        for name in messages.flat_map(|message| [message.from.as_str(), message.to.as_str()]) {
            let is_client = name.starts_with("bystander-") || name == "operator";
            if is_client && !clients.contains(&name) {
                clients.push(name);
            }
        }
        clients.sort_unstable();
        clients.truncate(MOST);
        let clients = clients.iter();
        lanes.extend(clients.map(|name| Lane::new(name, "", LaneKind::Client)));
    }
    let machines = traffic.machines.iter();
    lanes.extend(machines.map(|name| Lane::new(name, "", LaneKind::Server)));
    (lanes, without)
}

/// Places the lanes below each other, from here on. Answers the height of all.
pub(super) fn place(lanes: &mut [Lane], mut top: u32, keys: bool) -> u32 {
    for lane in lanes {
        let (line, height) = match lane.kind {
            LaneKind::Contender(_) => (69, 82),
            LaneKind::Server if keys => (44, 56),
            LaneKind::Server => (33, 45),
            LaneKind::Resource | LaneKind::Client => (24, 38),
        };
        (lane.top, lane.line, lane.height) = (top, top + line, height);
        top += height;
    }
    top
}
