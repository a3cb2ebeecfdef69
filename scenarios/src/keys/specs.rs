//! The fields of faults and triggers as keys, from the rows of `sim/src/plan`.

use picklock_sim::plan::{
    FaultKind, FieldSpec, FieldType, TriggerFieldSource, TriggerFieldSpec, TriggerFieldType,
    TriggerKind, TriggerValue,
};

use super::words;
use picklock_sim::plan::{Holds, Key};

/// A kind of fault, or a trigger.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) means: &'static str,
    /// A line of a `[[fault]]`.
    pub(super) example: &'static str,
    pub(super) body: Body,
}

/// What belongs to a name.
pub(super) enum Body {
    Value(Holds),
    Fields(Vec<Key>),
}

impl Body {
    /// Whether the name alone will do.
    pub(super) fn may_be_left_out(&self) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Fields(keys) => !keys.iter().any(|key| key.is_needed),
        }
    }
}

/// All faults.
pub(super) fn faults() -> Vec<Spec> {
    let spec = |kind: &FaultKind| {
        let row = kind.spec();
        let fields = row.fields.iter().map(|field| of_fault(*field));
        Spec {
            name: row.name,
            means: row.meaning,
            example: row.example,
            body: Body::Fields(fields.collect()),
        }
    };
    FaultKind::ALL.iter().map(spec).collect()
}

/// All triggers.
pub(super) fn triggers() -> Vec<Spec> {
    let spec = |kind: &TriggerKind| {
        let row = kind.spec();
        let body = match kind {
            TriggerKind::At => Body::Value(Holds::DurationOrZero),
            _ => {
                let mut fields = FieldNames(Vec::new());
                // Nothing stands in the fields, so there is no trigger.
                let _ = kind.trigger(&mut fields);
                Body::Fields(fields.0)
            }
        };
        Spec {
            name: row.name,
            means: row.meaning,
            example: row.example,
            body,
        }
    };
    TriggerKind::ALL.iter().map(spec).collect()
}

/// Notes which fields are asked for.
struct FieldNames(Vec<Key>);

impl TriggerFieldSource for FieldNames {
    fn field(&mut self, spec: TriggerFieldSpec) -> Option<TriggerValue> {
        self.0.push(of_trigger(spec));
        None
    }
}

fn of_trigger(TriggerFieldSpec { key, holds }: TriggerFieldSpec) -> Key {
    match holds {
        TriggerFieldType::Contender => Key::needed(key, Holds::Contender, "Whose moment it is."),
        TriggerFieldType::Server => Key::needed(key, Holds::Server, "At which server."),
        TriggerFieldType::MaybeServer => Key::new(
            key,
            Holds::Server,
            "any",
            "At which server: only requests to it count.",
        ),
        TriggerFieldType::Nth => Key::new(
            key,
            Holds::Whole(1, u32::MAX as i64),
            "1",
            "For which time.",
        ),
        TriggerFieldType::Request => Key::needed(
            key,
            Holds::Words(words::REQUESTS),
            "The kind of the request.",
        ),
        TriggerFieldType::Fault => Key::needed(
            key,
            Holds::Whole(1, 1_000_000),
            "A fault that stands before this one, counted from one.",
        ),
    }
}

fn of_fault(FieldSpec { key, holds }: FieldSpec) -> Key {
    match holds {
        FieldType::Contender => Key::needed(key, Holds::Contender, "Which contender it strikes."),
        FieldType::Contenders => Key::new(
            key,
            Holds::List(&Holds::Contender),
            "none",
            "Which contenders.",
        ),
        FieldType::Server => Key::needed(key, Holds::Server, "Which server it strikes."),
        FieldType::Servers => Key::needed(key, Holds::List(&Holds::Server), "Which servers."),
        FieldType::Direction => Key::new(
            key,
            Holds::Words(words::DIRECTIONS),
            r#"`"both"`"#,
            "Which way messages go.",
        ),
        FieldType::Call => Key::new(
            key,
            Holds::Words(words::CALLS),
            r#"`"acquire"`"#,
            "Which call is dropped.",
        ),
        FieldType::FaultDuration => Key::new(key, Holds::Duration, "for good", "For how long."),
        FieldType::Duration => Key::needed(key, Holds::Duration, "How long."),
        FieldType::MaybeDuration if key == "restart-after" => Key::new(
            key,
            Holds::DurationOrZero,
            "never",
            "After how long it comes back.",
        ),
        FieldType::MaybeDuration => {
            Key::new(key, Holds::Duration, "as the fault has it", "For how long.")
        }
        FieldType::Flag => Key::new(
            key,
            Holds::Boolean,
            "`false`",
            "Whether it deletes only what is as it was.",
        ),
        FieldType::Range => Key::needed(
            key,
            Holds::Range,
            "Times, of which chance takes one each time.",
        ),
        FieldType::Rate => Key::needed(
            key,
            Holds::Rate,
            "How often, more than 0 % and less than 100 %.",
        ),
        FieldType::Millis => Key::needed(
            key,
            Holds::SignedDuration,
            "By how much, back if negative; whole milliseconds.",
        ),
        FieldType::PartsPerMillion => Key::needed(
            key,
            Holds::Whole(-900_000, 1_000_000),
            "By how many parts per million, slow if negative; not zero.",
        ),
    }
}
