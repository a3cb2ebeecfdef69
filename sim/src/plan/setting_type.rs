//! The types of settings: what can stand behind the key of each, and what does.

use std::time::Duration;

use super::key::Holds;
use super::value::Value;

/// A type that a setting can have.
pub(super) trait SettingType: Sized {
    /// What can stand behind its key, where the row does not say.
    const HOLDS: Holds;

    /// What stands behind its key; `None` if nothing does.
    fn to_value(&self) -> Option<Value>;

    /// The setting that this says; `None` if it says none of this type.
    fn of_value(value: Option<Value>) -> Option<Self>;
}

impl SettingType for bool {
    const HOLDS: Holds = Holds::Boolean;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Flag(*self))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Flag(flag) => Some(flag),
            Value::Whole(_) | Value::Time(_) | Value::Named(..) => None,
        }
    }
}

impl SettingType for Duration {
    const HOLDS: Holds = Holds::Duration;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Time(*self))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Time(time) => Some(time),
            Value::Flag(_) | Value::Whole(_) | Value::Named(..) => None,
        }
    }
}

impl<T: SettingType> SettingType for Option<T> {
    const HOLDS: Holds = T::HOLDS;

    fn to_value(&self) -> Option<Value> {
        self.as_ref()?.to_value()
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(value) => T::of_value(Some(value)).map(Some),
            None => Some(None),
        }
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl SettingType for $type {
            const HOLDS: Holds = Holds::Whole(0, <$type>::MAX as i64);

            fn to_value(&self) -> Option<Value> {
                Some(Value::Whole((*self).into()))
            }

            fn of_value(value: Option<Value>) -> Option<Self> {
                match value? {
                    Value::Whole(number) => number.try_into().ok(),
                    Value::Flag(_) | Value::Time(_) | Value::Named(..) => None,
                }
            }
        }
    )*};
}

numbers!(u8, u32);

/// Types of which each value has a name.
macro_rules! words {
    ($($type:ty: $what:literal,)*) => {$(
        impl crate::plan::setting_type::SettingType for $type {
            const HOLDS: crate::plan::Holds = crate::plan::Holds::Words(crate::plan::Words {
                what: $what,
                names: || Self::ALL.map(|(name, _)| name).to_vec(),
            });

            fn to_value(&self) -> Option<crate::plan::Value> {
                let named = Self::ALL.into_iter().find(|(_, value)| value == self);
                named.map(|(name, _)| crate::plan::Value::Named(name, None))
            }

            fn of_value(value: Option<crate::plan::Value>) -> Option<Self> {
                let crate::plan::Value::Named(name, None) = value? else {
                    return None;
                };
                let named = Self::ALL.into_iter().find(|(known, _)| *known == name);
                named.map(|(_, value)| value)
            }
        }
    )*};
}
pub(super) use words;
