//! What a row of `ServiceEventKind` says of an event, beside its fields and its words, and the macro that makes one
//! enum, its words, and what is known of it of the rows.

use crate::ids::ContenderId;
use crate::server_change::ServerChange;

/// What is known of an event of a service. A row says only where it differs from `USUAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceEventRow {
    /// The contender that it is about, if it is about one.
    pub about: Option<ContenderId>,
    /// The contender whose key of the lock its server had, and has not any more, without a word of why.
    pub loses_key_of: Option<ContenderId>,
    /// What the history calls such a change of its server.
    pub change: Option<ServerChange>,
    /// It changes which server serves, or what is served, and so may be why the lock changed hands, whichever contender
    /// it is about.
    pub changes_the_service: bool,
    /// It throws away what was written.
    pub discards: bool,
    /// Something ends badly here.
    pub bad: bool,
    /// What its server is from then on.
    pub role: Option<&'static str>,
    /// What its server was before, if no event has said so.
    pub role_before: Option<&'static str>,
}

impl ServiceEventRow {
    /// Of an event that says nothing else.
    pub(super) const USUAL: Self = Self {
        about: None,
        loses_key_of: None,
        change: None,
        changes_the_service: false,
        discards: false,
        bad: false,
        role: None,
        role_before: None,
    };
}

/// Makes the enum of one row an event: its fields, the sentence that it is in words, a short one for beside a mark (if
/// that is ever needed), and what is known of it. What stands in a row sees the fields, the name of the machine, and
/// what to call a contender.
macro_rules! service_events {
    (@short) => { String::new() };
    (@short $short:expr) => { String::from($short) };
    (
        ($machine:ident, $name:ident)
        $(
            $(#[$doc:meta])*
            $kind:ident $({ $( $(#[$field_doc:meta])* $field:ident: $type:ty, )* })? = {
                words: $words:expr $(; short: $short:expr)?,
                $($property:ident: $value:expr,)*
            }
        )*
    ) => {
        /// What a server did or found.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum ServiceEventKind {
            $( $(#[$doc])* $kind $({ $( $(#[$field_doc])* $field: $type, )* })?, )*
        }

        #[expect(unused_variables, reason = "an expression of a row sees all fields, and needs some")]
        impl ServiceEventKind {
            /// What is known of it.
            pub fn row(&self) -> ServiceEventRow {
                match self {
                    $( Self::$kind $({ $($field),* })? => ServiceEventRow {
                        $($property: $value,)*
                        ..ServiceEventRow::USUAL
                    }, )*
                }
            }

            /// What happened at a machine, in a sentence without its full stop.
            fn words(&self, $machine: &str, $name: &dyn Fn(ContenderId) -> String) -> String {
                match self {
                    $( Self::$kind $({ $($field),* })? => $words, )*
                }
            }

            /// The same in a word or two, for beside a mark; empty if that is never needed.
            pub fn short(&self, $name: &dyn Fn(ContenderId) -> String) -> String {
                match self {
                    $( Self::$kind $({ $($field),* })? => service_events!(@short $($short)?), )*
                }
            }
        }
    };
}
pub(super) use service_events;
