//! The macro that makes settings of which each has a key.

/// Makes the settings of a service, their defaults, and their keys of one row each. A row says what can stand behind
/// its key, if its type does not (`holds`), what is so without it, if that is more than the default (`without`), which
/// settings of a service it belongs to (`of`), when a file that is written has it, if not always (`written`), and what
/// older files call it (`formerly`).
macro_rules! settings {
    (@holds $type:ty) => { <$type as crate::plan::SettingType>::HOLDS };
    (@holds $type:ty, $holds:expr) => { $holds };
    (@without) => { "" };
    (@without $without:literal) => { $without };
    (@of) => { None };
    (@of $of:ident) => { Some(crate::plan::SettingsGroup::$of) };
    (@written) => { crate::plan::Written::Always };
    (@written $written:ident) => { crate::plan::Written::$written };
    (@formerly) => { None };
    (@formerly $formerly:literal) => { Some($formerly) };
    (@is_needed) => { false };
    (@is_needed needed) => { true };
    (
        $(#[$attribute:meta])*
        $name:ident {$(
            $field:ident: $type:ty = $key:literal $($needed:ident)? {
                $(holds: $holds:expr,)?
                default: $default:expr,
                $(without: $without:literal,)?
                $(of: $of:ident,)?
                $(written: $written:ident,)?
                $(formerly: $formerly:literal,)?
                means: $means:literal,
            }
        )*}
        $(and {$( $(#[$also_attribute:meta])* $also:ident: $also_type:ty, )*})?
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $( #[doc = $means] pub $field: $type, )*
            $($( $(#[$also_attribute])* pub $also: $also_type, )*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $field: $default, )*
                    $($( $also: Default::default(), )*)?
                }
            }
        }

        impl $name {
            /// The keys of its settings.
            pub const KEYS: &'static [crate::plan::Key] = &[$(
                crate::plan::Key {
                    name: $key,
                    holds: settings!(@holds $type $(, $holds)?),
                    without: settings!(@without $($without)?),
                    default: || crate::plan::Settings::value(&Self::default(), $key),
                    means: $means,
                    is_needed: settings!(@is_needed $($needed)?),
                    of: settings!(@of $($of)?),
                    written: settings!(@written $($written)?),
                    formerly: settings!(@formerly $($formerly)?),
                },
            )*];
        }

        impl crate::plan::Settings for $name {
            fn keys(&self) -> &'static [crate::plan::Key] {
                Self::KEYS
            }

            fn value(&self, key: &str) -> Option<crate::plan::Value> {
                match key {
                    $( $key => crate::plan::SettingType::to_value(&self.$field), )*
                    _ => {
                        $( if let Some(within) = crate::plan::SettingType::within(&self.$field)
                            && let Some(value) = within.value(key)
                        {
                            return Some(value);
                        } )*
                        None
                    }
                }
            }

            fn set_value(&mut self, key: &str, value: Option<crate::plan::Value>) {
                match key {
                    $( $key => {
                        if let Some(value) = crate::plan::SettingType::of_value(value) {
                            self.$field = value;
                        }
                    } )*
                    _ => { $( if let Some(within) = crate::plan::SettingType::within_mut(&mut self.$field) {
                        within.set_value(key, value.clone());
                    } )* }
                }
            }
        }
    };
}
pub(super) use settings;
