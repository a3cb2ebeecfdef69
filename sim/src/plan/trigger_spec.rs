//! The schema of triggers: what a row of `trigger.rs` says, and the fields that a trigger can have.

use picklock_clients::RequestKind;

use super::{ContenderName, ServerName};

/// What is known of a kind of trigger.
#[derive(Clone, Copy, Debug)]
pub struct TriggerSpec {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What it is, one sentence.
    pub meaning: &'static str,
    /// A line of a `[[fault]]`.
    pub example: &'static str,
}

/// A field of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerFieldSpec {
    /// Its key in scenario files.
    pub key: &'static str,
    /// What can stand there.
    pub holds: TriggerFieldType,
}

/// What can stand in a field of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerFieldType {
    /// A contender.
    Contender,
    /// Which one of several, from one.
    Nth,
    /// A kind of request.
    Request,
    /// A server.
    Server,
    /// A server, or any.
    MaybeServer,
    /// Another fault of the plan, by its index from zero.
    Fault,
}

/// What stands in a field of a trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is the `TriggerFieldType` of its name")]
pub enum TriggerValue {
    Contender(ContenderName),
    Nth(u32),
    Request(RequestKind),
    Server(ServerName),
    MaybeServer(Option<ServerName>),
    Fault(usize),
}

/// What stands in a field of a trigger, to change it.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is the `TriggerFieldType` of its name")]
pub enum TriggerFieldMut<'t> {
    Contender(&'t mut ContenderName),
    Nth(&'t mut u32),
    Request(&'t mut RequestKind),
    Server(&'t mut ServerName),
    MaybeServer(&'t mut Option<ServerName>),
    Fault(&'t mut usize),
}

/// Where the fields of a new trigger come from.
pub trait TriggerFieldSource {
    /// What is to stand in a field. It is asked for one field after the other, in their order; `None` if there is
    /// nothing, and then there is no trigger.
    fn field(&mut self, spec: TriggerFieldSpec) -> Option<TriggerValue>;
}

/// A type that a field of a trigger can have.
pub(super) trait TriggerField: Sized {
    const TYPE: TriggerFieldType;

    fn take(value: TriggerValue) -> Option<Self>;
    fn get(&self) -> TriggerValue;
    fn get_mut(&mut self) -> TriggerFieldMut<'_>;
}

macro_rules! trigger_fields {
    ($($holds:ident: $type:ty,)*) => {$(
        impl TriggerField for $type {
            const TYPE: TriggerFieldType = TriggerFieldType::$holds;

            fn take(value: TriggerValue) -> Option<Self> {
                match value {
                    TriggerValue::$holds(value) => Some(value),
                    _ => None,
                }
            }

            fn get(&self) -> TriggerValue {
                TriggerValue::$holds(*self)
            }

            fn get_mut(&mut self) -> TriggerFieldMut<'_> {
                TriggerFieldMut::$holds(self)
            }
        }
    )*};
}

trigger_fields! {
    Contender: ContenderName,
    Nth: u32,
    Request: RequestKind,
    Server: ServerName,
    MaybeServer: Option<ServerName>,
    Fault: usize,
}

/// Makes triggers, their kinds, and what is known of them of one row each.
macro_rules! triggers {
    ($(
        $kind:ident { $($field:ident: $type:ty),* $(,)? } = $name:literal {
            meaning: $meaning:literal,
            example: $example:literal,
        }
    )*) => {
        /// What a fault waits for. Each fires once. Where a number is not one, it is that one of several.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "fields mean the same in every variant, and the variants are documented")]
        pub enum Trigger {
            /// The run has lasted this long.
            At(Duration),
            $( #[doc = $meaning] $kind { $($field: $type),* }, )*
        }

        /// A kind of trigger.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum TriggerKind {
            /// The run has lasted this long.
            At,
            $( #[doc = $meaning] $kind, )*
        }

        impl TriggerKind {
            /// Every kind, in the order in which they are listed to people.
            pub const ALL: &[Self] = &[Self::At, $(Self::$kind),*];

            const SPECS: &[TriggerSpec] = &[
                TriggerSpec {
                    name: "at",
                    meaning: "The run has lasted this long.",
                    example: r#"when.at = "2s""#,
                },
                $(TriggerSpec {
                    name: $name,
                    meaning: $meaning,
                    example: $example,
                },)*
            ];

            /// The kind of a trigger.
            pub fn of(trigger: &Trigger) -> Self {
                match trigger {
                    Trigger::At(_) => Self::At,
                    $( Trigger::$kind { .. } => Self::$kind, )*
                }
            }

            /// What is known of it.
            pub fn spec(self) -> &'static TriggerSpec {
                &Self::SPECS[self as usize]
            }

            /// A trigger of this kind, if it is no moment of the clock. All of its fields are asked for, also when one
            /// is missing.
            pub fn trigger(self, source: &mut dyn TriggerFieldSource) -> Option<Trigger> {
                match self {
                    Self::At => None,
                    $( Self::$kind => {
                        $(let $field = source.field(TriggerFieldSpec {
                            key: stringify!($field),
                            holds: <$type as TriggerField>::TYPE,
                        });)*
                        Some(Trigger::$kind { $($field: TriggerField::take($field?)?),* })
                    } )*
                }
            }
        }

        impl Trigger {
            /// Its fields by their keys, in the order in which they are written; none of a moment of the clock.
            pub fn fields(&self) -> Vec<(&'static str, TriggerValue)> {
                match self {
                    Self::At(_) => Vec::new(),
                    $( Self::$kind { $($field),* } => vec![$(
                        (stringify!($field), TriggerField::get($field))
                    ),*], )*
                }
            }

            /// The same, to change them.
            pub fn fields_mut(&mut self) -> Vec<TriggerFieldMut<'_>> {
                match self {
                    Self::At(_) => Vec::new(),
                    $( Self::$kind { $($field),* } => vec![$( TriggerField::get_mut($field) ),*], )*
                }
            }
        }
    };
}
pub(super) use triggers;
