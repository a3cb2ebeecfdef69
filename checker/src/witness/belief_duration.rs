//! Until when a belief lasts, and why no less.

use super::WitnessBuilder;
use crate::{
    Belief, ContenderId, Disowned, Event, EventKind, Liveness, LivenessEvent, LockId, NameId,
    Ownership, VirtualTime,
};

/// Something that kept a contender from learning of its loss.
#[derive(Clone, Copy)]
struct Obstacle {
    /// `paused` or `disconnected`.
    was: &'static str,
    from: usize,
    to: Option<usize>,
}

impl WitnessBuilder<'_> {
    /// Until when a belief lasts, and why no less: one sentence.
    pub(crate) fn why_until(&mut self, belief: &Belief) -> String {
        let who = self.name(belief.by);
        let ownership = belief.grant.map(|grant| &self.evidence.ownerships[grant]);
        // What ended the ownership says something about the belief only if the belief outlived it.
        let loss = ownership
            .and_then(|ownership| ownership.disowned.zip(ownership.how))
            .filter(|&(lost, _)| self.evidence.at(lost) < self.evidence.at_or_never(belief.left));
        let inside = self.evidence.words().is_inside();
        let until = match belief.left {
            Some(left) => format!("{who} {inside} until {}", self.evidence.at(left)),
            None => format!("{who} {inside} to the end of the run"),
        };
        let how = belief.left.map(|left| self.evidence.event(left).what);
        let crashed = matches!(how, Some(EventKind::Crashed { .. }));
        let told = matches!(how, Some(EventKind::Lost { .. }));
        let Some((lost, how)) = loss else {
            return match belief.left {
                _ if crashed => format!("{until}, when it crashed."),
                _ if told => format!("{until}, when it was told that it might not hold it."),
                Some(_) => format!("{until}, because nothing ended its hold before it left."),
                None => format!("{until}, because nothing ended its hold."),
            };
        };
        let loss = self.loss(belief.by, lost, how);
        if let Some(answered) = self.ignored(belief, lost, told) {
            let until = if crashed {
                format!("{until}, when it crashed")
            } else {
                until
            };
            let long = if told { " for long" } else { "" };
            return format!(
                "{until}: {loss}, and although {answered}, it did not look at that{long}."
            );
        }
        let obstacle = self.last_obstacle(belief, lost);
        let kept = obstacle.map(|obstacle| self.describe_obstacle(obstacle));
        if let Some((obstacle, kept)) = obstacle.zip(kept.as_ref())
            && obstacle.was == "paused"
            && obstacle.from < lost
            && self.lasts_for_most(obstacle, belief, lost)
        {
            return format!("{until}, because {kept} and did not notice that {loss}.");
        }
        if crashed {
            return format!("{until}, when it crashed; it was never told that {loss}.");
        }
        let told = if told {
            "only then was it"
        } else {
            "it was never"
        };
        let kept = kept.map_or(String::new(), |kept| format!("{kept}, and "));
        format!("{until}, because {kept}{told} told that {loss}.")
    }

    /// What ended an ownership, as a sentence without its end: `its lease had run out at 10.006 s`. Shows it.
    pub(crate) fn why_lost(&mut self, ownership: &Ownership) -> String {
        self.show(ownership.disowned);
        match ownership.disowned.zip(ownership.how) {
            Some((lost, how)) => self.loss(ownership.by, lost, how),
            None => String::new(),
        }
    }

    /// How its process could know of the loss on which it did not act, as the half of a sentence. A contender that its
    /// lock told had the time that a reaction takes.
    fn ignored(&self, belief: &Belief, lost: usize, told: bool) -> Option<String> {
        let known = belief.known?;
        let acts_by = if told {
            self.evidence.inexcusable_from(belief)?
        } else {
            known.since
        };
        let in_time = self.evidence.at_or_end(belief.left) <= acts_by;
        let answered = known.how.told_at(known.since)?;
        let stood_still = self.last_obstacle(belief, lost).is_some_and(|obstacle| {
            let to = self.evidence.at_or_never(obstacle.to);
            obstacle.was == "paused" && to > known.since && self.lasts(obstacle, belief)
        });
        let after = known.since >= self.evidence.at(lost);
        (after && !in_time && !stood_still).then_some(answered)
    }

    /// The last stretch that kept the owner from learning of its loss: it lay over the loss, or over the end of the
    /// belief but for the time that a reaction takes.
    fn last_obstacle(&self, belief: &Belief, lost: usize) -> Option<Obstacle> {
        let before = |sign: &&LivenessEvent| {
            sign.by == belief.by && belief.left.is_none_or(|left| sign.event < left)
        };
        let (mut paused, mut disconnected) = (None, None);
        let mut last: Option<Obstacle> = None;
        let mut over = |was, from: Option<usize>, to: Option<usize>| {
            let Some(from) = from else { return };
            let obstacle = Obstacle { was, from, to };
            let ends_after = to.is_none_or(|to| to > lost);
            let begins_before = self.evidence.at(from) < self.evidence.at_or_end(belief.left);
            if begins_before && ends_after && (from < lost || self.lasts(obstacle, belief)) {
                last = Some(obstacle);
            }
        };
        for sign in self.evidence.signs.iter().filter(before) {
            let at = Some(sign.event);
            match sign.of {
                Liveness::Paused => paused = at,
                Liveness::Resumed => over("paused", paused.take(), at),
                Liveness::Disconnected => {
                    disconnected.get_or_insert(sign.event);
                }
                Liveness::Reconnected | Liveness::SessionLost => {
                    over("disconnected", disconnected.take(), at);
                }
                Liveness::Crashed => (paused, disconnected) = (None, None),
                Liveness::SessionExpired => {}
            }
        }
        over("disconnected", disconnected, None);
        // A contender that stood still at the end went on when it left, if it did.
        over("paused", paused, None);
        last
    }

    /// Whether an obstacle lasts to the end of a belief, but for the time that a reaction takes.
    fn lasts(&self, obstacle: Obstacle, belief: &Belief) -> bool {
        let Some(to) = obstacle.to else { return true };
        let left = self.evidence.at_or_end(belief.left);
        left.since(self.evidence.at(to)) <= self.evidence.run.facts.reaction
    }

    /// Whether a pause lasts to the end of a belief, or at least through the greater part of what followed the loss.
    fn lasts_for_most(&self, obstacle: Obstacle, belief: &Belief, lost: usize) -> bool {
        let (lost, left) = (self.evidence.at(lost), self.evidence.at_or_end(belief.left));
        let to = obstacle.to.map_or(left, |to| self.evidence.at(to));
        left.since(to) <= to.since(lost) || self.lasts(obstacle, belief)
    }

    /// `it was paused from … to …`. Shows it.
    fn describe_obstacle(&mut self, Obstacle { was, from, to }: Obstacle) -> String {
        self.show([from]).show(to);
        let from = self.evidence.at(from);
        match to {
            Some(to) => format!("it was {was} from {from} to {}", self.evidence.at(to)),
            None => format!("it was {was} from {from} on"),
        }
    }

    /// What ended an ownership, as the half of a sentence about the owner.
    fn loss(&mut self, by: ContenderId, lost: usize, how: Disowned) -> String {
        let at = self.evidence.at(lost);
        match how {
            Disowned::Released => format!("it had ceased to own the lock at {at}"),
            Disowned::Expired => match self.session_expired_for(by, lost) {
                Some(at) => format!("its session had expired at {at}"),
                None => format!("its lease had run out at {at}"),
            },
            Disowned::RemovedBy(other) => {
                format!("{} had removed its claim at {at}", self.name(other))
            }
            Disowned::OverwrittenBy(other) if other == by => {
                format!("it had overwritten its own claim at {at}")
            }
            Disowned::OverwrittenBy(other) => {
                format!("{} had overwritten its claim at {at}", self.name(other))
            }
            Disowned::Reaped => format!("a reaper had removed what it had left at {at}"),
            Disowned::RemovedFromOutside => {
                format!("its claim had been removed from outside at {at}")
            }
            Disowned::LostByService => format!("the service had lost its claim at {at}"),
        }
    }

    /// When the contender's session expired to which a place belonged that went with that event, if one did. Shows it.
    /// Of several servers, the leader expires a session before the servers have committed what follows from it.
    pub(super) fn session_expired_for(
        &mut self,
        by: ContenderId,
        gone: usize,
    ) -> Option<VirtualTime> {
        let events = &self.evidence.run.history.events;
        let at = events[gone].at;
        let made = self.where_its_place_was_made(gone);
        let until = events.partition_point(|event| event.at <= at);
        let mut since = events[made..until].iter();
        let expired = since.rposition(|event| event.what == EventKind::SessionExpired { by })?;
        self.show([made + expired]);
        Some(events[made + expired].at)
    }

    /// Where the place was made that went with a `Disowned` or an `Unqueued`; the beginning, if the history does not
    /// say.
    fn where_its_place_was_made(&self, gone: usize) -> usize {
        let events = &self.evidence.run.history.events;
        let before = &events[..gone];
        let (by, lock, name, owned) = match events[gone].what {
            EventKind::Unqueued { by, lock, name, .. } => (by, lock, name, None),
            what => {
                let mut owned = before.iter().enumerate().rev();
                let owned = owned.find_map(|(index, event)| owned_until(event, &what, index));
                let Some((by, lock, name, index)) = owned else {
                    return 0;
                };
                (by, lock, name, Some(index))
            }
        };
        let queued = before[..owned.unwrap_or(gone)].iter().rposition(|event| {
            matches!(event.what, EventKind::Queued { by: who, lock: of, name: node, .. }
                if (who, of, node) == (by, lock, name))
        });
        queued.or(owned).unwrap_or(0)
    }
}

/// What was owned from that event on, if it is that which ended with the `Disowned`.
fn owned_until(
    event: &Event,
    ended: &EventKind,
    index: usize,
) -> Option<(ContenderId, LockId, NameId, usize)> {
    let EventKind::Disowned {
        by, lock, token, ..
    } = *ended
    else {
        return None;
    };
    if let EventKind::Owned {
        by: who,
        lock: of,
        token: with,
        name,
        ..
    } = event.what
        && (who, of, with) == (by, lock, token)
    {
        return Some((by, lock, name, index));
    }
    None
}
