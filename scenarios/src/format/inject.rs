//! `inject`: what breaks. Which fields a fault has, its row says (`sim/src/plan/fault.rs`).

mod refusals;

use std::ops::Range;
use std::time::Duration;

use picklock_sim::plan::{
    ContenderName, Direction, Fault, FaultDuration, FaultKind, Field, FieldSource, FieldSpec,
    FieldType, LockCall, ServerName,
};

use super::choice::choose;
use super::participants::Participants;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero, expected};

/// Reads the value of `inject`; also where the fault's name stands.
pub(super) fn inject(
    item: &Item,
    participants: Participants,
    mistakes: &mut Mistakes,
) -> Option<(Fault, Range<usize>)> {
    let chosen = choose(item, "fault", &FaultKind::named(), mistakes)?;
    if let Some(service) = chosen.kind.service()
        && !chosen.kind.is_of(participants.service.kind)
    {
        let (name, of, here) = (
            chosen.name,
            service.title(),
            participants.service.kind.title(),
        );
        let possible = FaultKind::named_on(participants.service.kind);
        let possible: Vec<&str> = possible.map(|(name, _)| name).collect();
        let mistake = Mistake::new(format!("`{name}` is a fault of {of}"))
            .label(format!("but this scenario stands on {here}"))
            .help(expected(&possible));
        mistakes.add(chosen.span, mistake);
        return None;
    }
    let mut body = Body {
        fields: chosen.fields(mistakes)?,
        spans: Vec::new(),
        participants,
        mistakes,
    };
    body.refuse_kind(chosen.kind);
    let fault = chosen.kind.fault(&mut body);
    let fault = fault.filter(|fault| body.is_possible(fault));
    body.fields.finish(body.mistakes);
    Some((fault?, chosen.span))
}

/// The fields of a fault.
struct Body<'a, 'm, 't> {
    fields: Fields<'a>,
    /// Where the fields stand that have been read.
    spans: Vec<(&'static str, Range<usize>)>,
    participants: Participants,
    mistakes: &'m mut Mistakes<'t>,
}

impl FieldSource for Body<'_, '_, '_> {
    fn field(&mut self, spec: FieldSpec) -> Option<Field> {
        let key = spec.key;
        let (participants, fields) = (self.participants, &mut self.fields);
        match spec.holds {
            FieldType::Contender => participants
                .need_contender(fields, key, self.mistakes)
                .map(Field::Contender),
            FieldType::Server => participants
                .need_server(fields, key, self.mistakes)
                .map(Field::Server),
            FieldType::Contenders => self.contenders(key).map(Field::Contenders),
            FieldType::Servers => self.servers(key).map(Field::Servers),
            FieldType::Direction => self.direction(key).map(Field::Direction),
            FieldType::Call => self.call(key).map(Field::Call),
            FieldType::FaultDuration => {
                let length = self.maybe_time(key, Zero::Senseless)?;
                Some(Field::FaultDuration(
                    length.map_or(FaultDuration::ForGood, FaultDuration::For),
                ))
            }
            FieldType::Duration => self.time(key).map(Field::Duration),
            FieldType::MaybeDuration => {
                let zero = match key {
                    "restart-after" => Zero::Allowed,
                    _ => Zero::Senseless,
                };
                self.maybe_time(key, zero).map(Field::MaybeDuration)
            }
            FieldType::Flag => match fields.get(key) {
                Some(item) => item.boolean(self.mistakes).map(Field::Flag),
                None => Some(Field::Flag(false)),
            },
            FieldType::Range => self.range(key).map(Field::Range),
            FieldType::Rate => {
                let item = fields.need(key, &format!("{key} = \"5%\""))?;
                item.rate(self.mistakes).map(Field::Rate)
            }
            FieldType::Millis => self.millis(key).map(Field::Millis),
            FieldType::PartsPerMillion => self.parts_per_million(key).map(Field::PartsPerMillion),
        }
    }
}

impl Body<'_, '_, '_> {
    fn time(&mut self, key: &'static str) -> Option<Duration> {
        let example = match key {
            "for" => "20s",
            _ => "200ms",
        };
        let item = self.fields.need(key, &format!("{key} = \"{example}\""))?;
        item.duration(Zero::Senseless, self.mistakes)
    }

    /// The outer `None` is a mistake, the inner one says that nothing is said.
    fn maybe_time(&mut self, key: &'static str, zero: Zero) -> Option<Option<Duration>> {
        match self.fields.get(key) {
            Some(item) => item.duration(zero, self.mistakes).map(Some),
            None => Some(None),
        }
    }

    /// Times of which none is zero.
    fn range(&mut self, key: &'static str) -> Option<(Duration, Duration)> {
        let item = self.fields.need(key, &format!("{key} = \"100ms..2s\""))?;
        let range = item.range(self.mistakes)?;
        if range.0.is_zero() {
            let mistake = Mistake::new(format!("`{key}` must be longer than zero"));
            let help = r#"expected a range such as "100ms..2s", or a duration such as "1s""#;
            self.mistakes.add(item.span, mistake.help(help));
            return None;
        }
        Some(range)
    }

    fn call(&mut self, key: &'static str) -> Option<LockCall> {
        let Some(item) = self.fields.get(key) else {
            return Some(LockCall::Acquire);
        };
        let chosen = choose(&item, "call", &LockCall::NAMED, self.mistakes)?;
        chosen.bare(self.mistakes);
        Some(chosen.kind)
    }

    fn direction(&mut self, key: &'static str) -> Option<Direction> {
        let Some(item) = self.fields.get(key) else {
            return Some(Direction::Both);
        };
        let chosen = choose(&item, "direction", &Direction::NAMED, self.mistakes)?;
        chosen.bare(self.mistakes);
        Some(chosen.kind)
    }

    /// By how many milliseconds a clock jumps, back if negative.
    fn millis(&mut self, key: &'static str) -> Option<i64> {
        let item = self.fields.need(key, &format!("{key} = \"-5s\""))?;
        let (back, by) = item.signed(self.mistakes)?;
        let wrong = if by.is_zero() {
            Some("a clock that jumps by nothing does not jump")
        } else if by.subsec_micros() % 1_000 != 0 {
            Some("clocks jump by whole milliseconds")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let mistake = Mistake::new(format!("`{key}` cannot be used")).label(wrong);
            let mistake = mistake.help(r#"expected a duration such as "20s" or "-5ms""#);
            self.mistakes.add(item.span, mistake);
            return None;
        }
        let by_millis = i64::try_from(by.as_millis()).ok()?;
        Some(if back { -by_millis } else { by_millis })
    }

    fn parts_per_million(&mut self, key: &'static str) -> Option<i32> {
        let item = self.fields.need(key, &format!("{key} = 200"))?;
        let drift = item.integer(-900_000..=1_000_000, self.mistakes)?;
        if drift == 0 {
            let mistake = Mistake::new(format!("`{key}` is zero"))
                .label("a clock that drifts by nothing does not drift")
                .help("positive runs fast, negative runs slow");
            self.mistakes.add(item.span, mistake);
            return None;
        }
        i32::try_from(drift).ok()
    }

    fn servers(&mut self, key: &'static str) -> Option<Vec<ServerName>> {
        const WANTED: &str = r#"a list of servers such as ["server-1"]"#;
        let item = self.fields.need(key, &format!("{key} = [\"server-1\"]"))?;
        self.spans.push((key, item.span.clone()));
        self.several(&item, ("server", WANTED), |body, item| {
            body.participants.server(item, body.mistakes)
        })
    }

    /// None, if nothing is said.
    fn contenders(&mut self, key: &'static str) -> Option<Vec<ContenderName>> {
        const WANTED: &str = r#"a list of contenders such as ["contender-1"]"#;
        let Some(item) = self.fields.get(key) else {
            return Some(Vec::new());
        };
        self.several(&item, ("contender", WANTED), |body, item| {
            body.participants.contender(item, body.mistakes)
        })
    }

    /// A list of names, of which there is at least one, and none twice.
    fn several<T: PartialEq>(
        &mut self,
        item: &Item,
        (what, wanted): (&str, &'static str),
        read: impl Fn(&mut Self, &Item) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = item.list(wanted, self.mistakes)?;
        if items.is_empty() {
            let mistake = Mistake::new(format!("`{}` names no {what}", item.name));
            let mistake = mistake.help(format!("expected {wanted}"));
            self.mistakes.add(item.span.clone(), mistake);
            return None;
        }
        // All are read before any is missed, so that all mistakes are reported together.
        let named: Vec<_> = items.iter().map(|item| read(self, item)).collect();
        let mut several = Vec::new();
        for (item, name) in items.iter().zip(named) {
            let name = name?;
            if several.contains(&name) {
                let mistake = Mistake::new(format!("this {what} is named twice"));
                let mistake = mistake.help(format!("name each {what} once"));
                self.mistakes.add(item.span.clone(), mistake);
                return None;
            }
            several.push(name);
        }
        Some(several)
    }
}
