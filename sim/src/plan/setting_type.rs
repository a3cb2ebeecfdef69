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
            if key.of != Some(SettingsGroup::Topology) && key.of != but {
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

impl SettingType for (Duration, Duration) {
    const HOLDS: Holds = Holds::Range;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Range(self.0, self.1))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        if let Value::Range(from, to) = value? {
            Some((from, to))
        } else {
            None
        }
    }
}

/// Milliseconds, which may be negative.
impl SettingType for i64 {
    const HOLDS: Holds = Holds::SignedRange;

    fn to_value(&self) -> Option<Value> {
        Some(Value::Millis(*self))
    }

    fn of_value(value: Option<Value>) -> Option<Self> {
        if let Value::Millis(millis) = value? {
            Some(millis)
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
pub(crate) use words;

/// Types that are settings themselves, each of a table.
macro_rules! tables {
    ($($type:ty: $table:expr,)*) => {$(
        impl crate::plan::SettingType for $type {
            const HOLDS: crate::plan::Holds = crate::plan::Holds::Table(&$table);

            fn to_value(&self) -> Option<crate::plan::Value> {
                let keys = Self::KEYS.iter();
                let value = |key: &crate::plan::Key| crate::plan::Settings::value(self, key.name);
                let values = keys.filter_map(|key| Some((key.name, value(key)?)));
                Some(crate::plan::Value::Table(values.collect()))
            }

            fn of_value(value: Option<crate::plan::Value>) -> Option<Self> {
                let crate::plan::Value::Table(values) = value? else {
                    return None;
                };
                let mut table = Self::default();
                for (key, value) in values {
                    crate::plan::Settings::set_value(&mut table, key, Some(value));
                }
                Some(table)
            }

            fn within(&self) -> Option<&dyn crate::plan::Settings> {
                Some(self)
            }

            fn within_mut(&mut self) -> Option<&mut dyn crate::plan::Settings> {
                Some(self)
            }
        }
    )*};
}
pub(crate) use tables;

/// Types of which each value has a name; behind some stands a value of one type more.
macro_rules! variants {
    ($($type:ident: $what:literal {
        $( $variant:ident $(($held:ty: $holds:expr))? = $name:literal: $means:literal, )*
    })*) => {$(
        impl crate::plan::SettingType for $type {
            const HOLDS: crate::plan::Holds = crate::plan::Holds::Variants($what, &[$(
                variants!(@row $name, $means $(, $holds)?),
            )*]);

            fn to_value(&self) -> Option<crate::plan::Value> {
                $( variants!(@to_value self, $type, $variant, $name $(, $held)?); )*
                None
            }

            fn of_value(value: Option<crate::plan::Value>) -> Option<Self> {
                let crate::plan::Value::Named(name, held) = value? else {
                    return None;
                };
                $( variants!(@of_value name, held, $type, $variant, $name $(, $held)?); )*
                None
            }
        }
    )*};
    (@row $name:literal, $means:literal) => { crate::plan::Variant::word($name, $means) };
    (@row $name:literal, $means:literal, $holds:expr) => { crate::plan::Variant::with($name, $holds, $means) };
    (@to_value $of:expr, $type:ident, $variant:ident, $name:literal) => {
        if let $type::$variant = $of {
            return Some(crate::plan::Value::Named($name, None));
        }
    };
    (@to_value $of:expr, $type:ident, $variant:ident, $name:literal, $held:ty) => {
        if let $type::$variant(held) = $of {
            let held = crate::plan::SettingType::to_value(held)?;
            return Some(crate::plan::Value::Named($name, Some(Box::new(held))));
        }
    };
    (@of_value $known:ident, $value:ident, $type:ident, $variant:ident, $name:literal) => {
        if $known == $name {
            return Some($type::$variant);
        }
    };
    (@of_value $known:ident, $value:ident, $type:ident, $variant:ident, $name:literal, $held:ty) => {
        if $known == $name {
            let held = <$held as crate::plan::SettingType>::of_value($value.map(|value| *value))?;
            return Some($type::$variant(held));
        }
    };
}
pub(crate) use variants;
