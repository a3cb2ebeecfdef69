//! Default values for the fields of an aimed fault, if nothing better is known of its kind.

use std::time::Duration;

use picklock_sim::plan::{
    ContenderName, Direction, Field, FieldSource, FieldSpec, FieldType, LockCall, Rate, ServerName,
};

/// What the fields of a fault hold of which nothing better is known.
pub(super) struct DefaultFields {
    pub(super) target: ContenderName,
    pub(super) its_server: ServerName,
    pub(super) long: Duration,
}

impl FieldSource for DefaultFields {
    fn field(&mut self, spec: FieldSpec) -> Option<Field> {
        Some(match spec.holds {
            FieldType::Contender => Field::Contender(self.target),
            FieldType::Contenders => Field::Contenders(vec![self.target]),
            FieldType::Server => Field::Server(self.its_server),
            FieldType::Servers => Field::Servers(vec![self.its_server]),
            FieldType::Direction => Field::Direction(Direction::Both),
            FieldType::Call => Field::Call(LockCall::Acquire),
            FieldType::FaultDuration => Field::FaultDuration(self.long.into()),
            FieldType::Range => {
                let short = Duration::from_millis(100);
                let down = (self.long / 6).max(short);
                Field::Range(if spec.key == "up" {
                    (short, short)
                } else {
                    (short, down)
                })
            }
            FieldType::Rate => Field::Rate(Rate::percent(50)),
            FieldType::Duration if spec.key == "for" => Field::Duration(self.long),
            FieldType::Duration => Field::Duration(self.long / 6),
            FieldType::MaybeDuration => Field::MaybeDuration(None),
            FieldType::Flag => Field::Flag(false),
            FieldType::Millis => Field::Millis(-5_000),
            FieldType::PartsPerMillion => Field::PartsPerMillion(-300_000),
        })
    }
}
