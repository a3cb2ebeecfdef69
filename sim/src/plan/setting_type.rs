//! Settings of which each has a key, and their types: what can stand behind the key of each, and what does.

use std::time::Duration;

use super::key::{Holds, Key, SettingsGroup};
use super::value::Value;

/// Settings of which each has a key.
pub trait Settings {
    /// Their keys.
    fn keys(&self) -> &'static [Key];

    /// What stands behind a key of these, or of those within; `None` if nothing does.
    fn value(&self, key: &str) -> Option<Value>;

    /// Sets what has this key, if any of these has; `None` takes the value away.
    fn set_value(&mut self, key: &str, value: Option<Value>);

    /// Sets all but which servers there are as it usually is, and but for what is to stay.
    fn reset(&mut self, but: Option<SettingsGroup>) {
        for key in self.keys() {
            if key.of != SettingsGroup::Topology && Some(key.of) != but {
                self.set_value(key.name, (key.default)());
            }
        }
    }
}

/// A type that a setting can have.
pub trait SettingType: Sized {
    /// What can stand behind its key, where the row does not say.
    const HOLDS: Holds;

    /// What stands behind its key; `None` if nothing does.
    fn to_value(&self) -> Option<Value>;

    /// The setting that this says; `None` if it says none of this type.
    fn of_value(value: Option<Value>) -> Option<Self>;

    /// The settings that it is made of, if it is made of some.
    fn within(&self) -> Option<&dyn Settings> {
        None
    }

    /// The same, to be changed.
    fn within_mut(&mut self) -> Option<&mut dyn Settings> {
        None
    }
}

impl SettingType for bool {
    const HOLDS: Holds = Holds::Boolean;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Flag(*self))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        if let Value::Flag(flag) = value? {
            Some(flag)
        } else {
            None
        }
    }
}

impl SettingType for Duration {
    const HOLDS: Holds = Holds::Duration;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Time(*self))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        if let Value::Time(time) = value? {
            Some(time)
        } else {
            None
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

    fn within(&self) -> Option<&dyn Settings> {
        self.as_ref()?.within()
    }

    fn within_mut(&mut self) -> Option<&mut dyn Settings> {
        self.as_mut()?.within_mut()
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
                if let Value::Whole(number) = value? { number.try_into().ok() } else { None }
            }
        }
    )*};
}

numbers!(u8, u32);

/// Types of which each value has a name.
macro_rules! words {
    ($($type:ty: $what:literal,)*) => {$(
        impl crate::plan::SettingType for $type {
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
