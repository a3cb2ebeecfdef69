//! From words to a history.

use super::word::{NotationError, Word, conversion, reentry};
use crate::{
    ContenderId, Disowned, Ended, Event, EventKind, Failure, FaultId, History, LockId, Mode,
    NameId, ServiceAnswer, Token, VirtualTime,
};

/// Reads a history; see the [module](super) for the notation.
///
/// # Errors
///
/// The first word that is not in the notation, and what was expected of it.
pub fn parse(text: &str) -> Result<History, NotationError> {
    let mut reader = Reader::default();
    for word in text.split_whitespace() {
        reader.word(Word::read(word)?)?;
    }
    if reader.history.locks.is_empty() {
        reader.history.locks.push("lock".to_owned());
    }
    // A stable sort: what has the same time and rank stays as it was written.
    reader.events.sort_by_key(|&(at, rank, _)| (at, rank));
    let events = reader.events.into_iter();
    reader.history.events = events.map(|(at, _, what)| Event { at, what }).collect();
    Ok(reader.history)
}

#[derive(Default)]
struct Reader {
    history: History,
    events: Vec<(VirtualTime, Rank, EventKind)>,
    /// The highest token that the service, and the highest place that its queue, has given so far.
    token: u64,
    place: u64,
    /// The contenders with places, and the place that each was given last.
    places: Vec<(ContenderId, u64)>,
}

/// The order of events at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Ends,
    Asks,
    Grants,
    Believes,
    Sends,
    Arrives,
    Closes,
}

impl Reader {
    fn word(&mut self, mut word: Word<'_>) -> Result<(), NotationError> {
        let lock = word.take("on").unwrap_or("lock");
        let lock = LockId(place_of(&mut self.history.locks, lock));
        match (word.joint, word.subject.split_once('.')) {
            (':', None) if word.until.is_some() => self.belief(&mut word, lock)?,
            (':', None) => self.closing(&mut word, lock)?,
            (':', Some((fault, verb))) if fault.starts_with("fault") => {
                self.plan(&word, fault, verb)?;
            }
            (':', Some((by, verb))) => self.happening(&mut word, by, verb, lock)?,
            ('=', None) => self.ownership(&mut word, lock)?,
            ('*', None) => self.write(&mut word, lock)?,
            _ => return Err(word.wrong("`.` only before what happens at one time")),
        }
        word.done()
    }

    fn push(&mut self, at: VirtualTime, rank: Rank, what: EventKind) {
        self.events.push((at, rank, what));
    }

    fn by(&mut self, name: &str) -> ContenderId {
        ContenderId(place_of(&mut self.history.contenders, name))
    }

    fn name(&mut self, name: &str) -> NameId {
        NameId(place_of(&mut self.history.names, name))
    }

    /// The node of a contender that has no name of its own.
    fn node(&mut self, word: &mut Word<'_>, by: &str) -> NameId {
        match word.take("name") {
            Some(name) => self.name(name),
            None => self.name(&format!("node-{by}")),
        }
    }

    fn belief(&mut self, word: &mut Word<'_>, lock: LockId) -> Result<(), NotationError> {
        let by = self.by(word.subject);
        let token = word.number("token")?.map(Token);
        let begins = EventKind::Acquired {
            by,
            lock,
            token,
            mode: mode(word),
        };
        self.push(word.from, Rank::Believes, begins);
        if let Some(until) = word.until.flatten() {
            let rank = rank_of_end(word.from, until, Rank::Believes);
            self.push(until, rank, EventKind::ReleaseStarted { by, lock });
        }
        Ok(())
    }

    fn ownership(&mut self, word: &mut Word<'_>, lock: LockId) -> Result<(), NotationError> {
        let by = self.by(word.subject);
        self.token = word.number("token")?.unwrap_or(self.token + 1);
        let token = Token(self.token);
        let name = self.node(word, word.subject);
        let begins = EventKind::Owned {
            by,
            lock,
            token,
            name,
            mode: mode(word),
        };
        self.push(word.from, Rank::Grants, begins);
        let how = match word.take("how") {
            None | Some("released") => Disowned::Released,
            Some("expired") => Disowned::Expired,
            Some("reaped") => Disowned::Reaped,
            Some("outside") => Disowned::RemovedFromOutside,
            Some("lost") => Disowned::LostByService,
            Some(other) => match other.strip_prefix("over-") {
                Some(other) => Disowned::OverwrittenBy(self.by(other)),
                None => Disowned::RemovedBy(self.by(other)),
            },
        };
        if let Some(until) = word.until.flatten() {
            let rank = rank_of_end(word.from, until, Rank::Grants);
            let ends = EventKind::Disowned {
                by,
                lock,
                token,
                how,
            };
            self.push(until, rank, ends);
        }
        Ok(())
    }

    fn write(&mut self, word: &mut Word<'_>, lock: LockId) -> Result<(), NotationError> {
        let by = self.by(word.subject);
        let token = word.number("token")?.map(Token);
        let (before, after) = match word.take("value") {
            None => (0, 0),
            Some(text) => text
                .split_once('>')
                .and_then(|(before, after)| Some((before.parse().ok()?, after.parse().ok()?)))
                .ok_or_else(|| word.wrong("the values before and after, as in /value=5>6"))?,
        };
        let based_on = match word.take("blind") {
            Some(_) => None,
            None => Some(word.number("based")?.unwrap_or(before)),
        };
        let accepted = word.take("rejected").is_none();
        self.push(
            word.from,
            Rank::Sends,
            EventKind::Writing { by, lock, token },
        );
        let Some(at) = word.until.unwrap_or(Some(word.from)) else {
            return Ok(());
        };
        let arrives = EventKind::Effect {
            by,
            lock,
            token,
            before,
            after,
            based_on,
            accepted,
        };
        self.push(at, Rank::Arrives, arrives);
        Ok(())
    }

    fn plan(&mut self, word: &Word<'_>, fault: &str, verb: &str) -> Result<(), NotationError> {
        let number = fault.trim_start_matches("fault").parse::<u32>().ok();
        let number = number.and_then(|number| number.checked_sub(1));
        let number = number.ok_or_else(|| word.wrong("a fault by number, as in fault1.fired:5"))?;
        let fault = FaultId(number);
        let what = match verb {
            "fired" => EventKind::FaultFired { fault },
            "healed" => EventKind::FaultHealed { fault },
            _ => return Err(word.wrong("fired or healed")),
        };
        for missing in self.history.faults.len()..=number as usize {
            let name = format!("fault-{}", missing + 1);
            self.history.faults.push(name);
        }
        // Before everything that it brings about at the same time.
        self.push(word.from, Rank::Ends, what);
        Ok(())
    }

    fn closing(&mut self, word: &mut Word<'_>, lock: LockId) -> Result<(), NotationError> {
        let why = |why| EventKind::Ended { why };
        let what = match word.subject {
            "calm" => EventKind::CalmBegan,
            "end" => why(Ended::AllFinished),
            "bound-reached" => why(Ended::BoundReached),
            "out-of-budget" => why(Ended::OutOfBudget),
            "not-modelled" => why(Ended::NotModelled),
            "broken" => why(Ended::Broken),
            "leftover" => {
                let owner = word.take("owner").map(|name| self.by(name));
                let name = self.node(word, "leftover");
                EventKind::Leftover { lock, name, owner }
            }
            "final" => {
                let value = word.number("value")?;
                let value = value.ok_or_else(|| word.wrong("/value=…"))?;
                EventKind::Final { lock, value }
            }
            _ => return Err(word.wrong("a dash, or calm, end, bound-reached, leftover, …")),
        };
        self.push(word.from, Rank::Closes, what);
        Ok(())
    }

    fn happening(
        &mut self,
        word: &mut Word<'_>,
        who: &str,
        verb: &str,
        lock: LockId,
    ) -> Result<(), NotationError> {
        let by = self.by(who);
        let failed = |why, definite| EventKind::AcquireFailed {
            by,
            lock,
            why,
            definite,
        };
        let answered = |answer| EventKind::Answered { by, lock, answer };
        let why = Failure::SessionExpired;
        let (rank, what) = match verb {
            "acquire" => {
                let mode = mode(word);
                (Rank::Asks, EventKind::AcquireStarted { by, lock, mode })
            }
            "failed" => (Rank::Asks, failed(Failure::TimedOut, true)),
            "indefinite" => (Rank::Asks, failed(Failure::TimedOut, false)),
            "says-cancelled" => (Rank::Asks, failed(Failure::Cancelled, true)),
            "cancelled" => (Rank::Asks, EventKind::Cancelled { by, lock }),
            "release-cancelled" => (Rank::Asks, EventKind::ReleaseCancelled { by, lock }),
            "reenters" | "reentered" | "entry-left" => (Rank::Asks, reentry(verb, by, lock)),
            "asks-to-convert" | "does-not-convert" | "converts" => {
                (Rank::Ends, conversion(verb, by, lock, mode(word)))
            }
            "leaves" => (Rank::Ends, EventKind::ReleaseStarted { by, lock }),
            "released" => (Rank::Asks, EventKind::Released { by, lock }),
            "release-failed" => (Rank::Asks, EventKind::ReleaseFailed { by, lock, why }),
            "lost" => (Rank::Ends, EventKind::Lost { by, lock, why }),
            "finished" => (Rank::Asks, EventKind::Finished { by }),
            "paused" => (Rank::Ends, EventKind::Paused { by }),
            "resumed" => (Rank::Ends, EventKind::Resumed { by }),
            "crashed" => (Rank::Ends, EventKind::Crashed { by }),
            "restarted" => (Rank::Asks, EventKind::Restarted { by }),
            "disconnected" => (Rank::Ends, EventKind::Disconnected { by }),
            "reconnected" => (Rank::Asks, EventKind::Reconnected { by }),
            "resent" => (Rank::Asks, EventKind::Resent { by }),
            "read-only" => (Rank::Asks, EventKind::ConnectedReadOnly { by }),
            "session-lost" => (Rank::Ends, EventKind::SessionLost { by }),
            "could-know" => (Rank::Arrives, word.could_have_known(by, lock)?),
            "session-expired" => (Rank::Ends, EventKind::SessionExpired { by }),
            "granted" => (Rank::Grants, answered(ServiceAnswer::GrantedApart)),
            "denied" => (Rank::Ends, answered(ServiceAnswer::DeniedAtOne)),
            "unanswered" => (Rank::Ends, answered(ServiceAnswer::Missing)),
            "entries" => {
                let entries = word.number("value")?;
                let entries = entries.ok_or_else(|| word.wrong("/value=…"))?;
                (Rank::Grants, answered(ServiceAnswer::Counts(entries)))
            }
            "queued" | "unqueued" => self.queueing(word, who, by, lock, verb == "queued")?,
            "read" => {
                let value = word.number("value")?.unwrap_or(0);
                (Rank::Sends, EventKind::Read { by, lock, value })
            }
            "waiting" => {
                let behind = word.take("behind").map(|name| self.name(name));
                let owner = word.take("owner").map(|name| self.by(name));
                let waits = EventKind::StillWaiting {
                    by,
                    lock,
                    behind,
                    owner,
                };
                (Rank::Closes, waits)
            }
            _ => return Err(word.wrong("something that can happen to a contender")),
        };
        self.push(word.from, rank, what);
        Ok(())
    }

    fn queueing(
        &mut self,
        word: &mut Word<'_>,
        who: &str,
        by: ContenderId,
        lock: LockId,
        joins: bool,
    ) -> Result<(Rank, EventKind), NotationError> {
        let name = self.node(word, who);
        let place = word.number("place")?;
        if joins {
            let place = place.unwrap_or(self.place + 1);
            self.place = self.place.max(place);
            self.places.push((by, place));
            let what = EventKind::Queued {
                by,
                lock,
                place,
                name,
                mode: mode(word),
            };
            return Ok((Rank::Asks, what));
        }
        let last = self.places.iter().rev().find(|(who, _)| *who == by);
        let place = place.or(last.map(|(_, place)| *place));
        let place = place.ok_or_else(|| word.wrong("/place=…, or a queued before it"))?;
        let what = EventKind::Unqueued {
            by,
            lock,
            place,
            name,
        };
        Ok((Rank::Ends, what))
    }
}

/// In which mode: exclusive, if the word does not say that it is shared.
fn mode(word: &mut Word<'_>) -> Mode {
    match word.take("shared") {
        Some(_) => Mode::Shared,
        None => Mode::Exclusive,
    }
}

/// What ends when it begins must not end before it begins.
fn rank_of_end(from: VirtualTime, until: VirtualTime, begins: Rank) -> Rank {
    if from == until { begins } else { Rank::Ends }
}

fn place_of(names: &mut Vec<String>, name: &str) -> u32 {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::history;

    #[test]
    fn turns_that_touch_end_before_they_begin() {
        let whats: Vec<_> = history("b:10-20 a:0-10").events;
        let b = ContenderId(0);
        assert!(matches!(whats[0].what, EventKind::Acquired { by, .. } if by != b));
        assert!(matches!(whats[1].what, EventKind::ReleaseStarted { by, .. } if by != b));
        assert!(matches!(whats[2].what, EventKind::Acquired { by, .. } if by == b));
        assert_eq!(whats[3].at, VirtualTime::from_micros(20_000_000));
    }

    #[test]
    fn what_takes_no_time_still_begins_before_it_ends() {
        let events = history("a:5-5").events;
        assert!(matches!(events[0].what, EventKind::Acquired { .. }));
    }

    #[test]
    fn fractions_of_a_second_are_exact() {
        let at = history("a:0.000001-10.25").events[1].at;
        assert_eq!(at.micros(), 10_250_000);
    }

    #[test]
    fn a_slip_of_the_pen_is_pointed_at() {
        for wrong in [
            "a",
            "a:x-1",
            "a:9-3",
            "a.sneezed:4",
            "a:0-1/colour=red",
            "a:5",
            "fault0.fired:1",
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{wrong}`: expected ")));
        }
    }
}
