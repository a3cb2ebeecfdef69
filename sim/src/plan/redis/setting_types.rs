//! Types of settings that only Redis has.

use super::{ConnectionMode, Fsync, KeyspaceEvents, Persistence};
use crate::plan::key::{Holds, Variant, Words};
use crate::plan::setting_type::SettingType;
use crate::plan::value::Value;

/// Makes one, for save points are a list.
type Make = fn() -> Persistence;

/// What servers keep on their disks, by name.
const PERSISTENCE: [(&str, Make); 5] = [
    ("none", || Persistence::None),
    ("rdb", Persistence::default_save_points),
    ("aof-no", || Persistence::Log(Fsync::Never)),
    ("aof-everysec", || Persistence::Log(Fsync::EverySecond)),
    ("aof-always", || Persistence::Log(Fsync::Always)),
];

impl SettingType for Persistence {
    const HOLDS: Holds = Holds::Words(Words {
        what: "persistence",
        names: || PERSISTENCE.map(|(name, _)| name).to_vec(),
    });

    fn to_value(&self) -> Option<Value> {
        let named = PERSISTENCE.iter().find(|(_, make)| make() == *self);
        named.map(|(name, _)| Value::Named(name, None))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        let Value::Named(name, None) = value? else {
            return None;
        };
        let named = PERSISTENCE.iter().find(|(known, _)| *known == name);
        named.map(|(_, make)| make())
    }
}

impl SettingType for KeyspaceEvents {
    const HOLDS: Holds = Holds::KeyspaceEvents;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Text(self.all_letters()))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        let Value::Text(letters) = value? else {
            return None;
        };
        Self::parse(&letters).ok()
    }
}

impl SettingType for ConnectionMode {
    const HOLDS: Holds = Holds::Variants(
        "way to share connections",
        &[
            Variant::word("multiplexed", "All commands go by one connection."),
            Variant::with(
                "pool",
                Holds::Whole(1, 100),
                "Each command has one of so many connections for itself until it is answered.",
            ),
        ],
    );

    fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Multiplexed => Value::Named("multiplexed", None),
            Self::Pool(size) => Value::Named("pool", Some(Box::new(Value::Whole((*size).into())))),
        })
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Named("pool", Some(size)) => u8::of_value(Some(*size)).map(Self::Pool),
            Value::Named("multiplexed", None) => Some(Self::Multiplexed),
            _ => None,
        }
    }
}
