//! The schema of faults: what a row of `fault.rs` says, and the fields that a fault can have.

use std::time::Duration;

use picklock_algorithms::FaultClass;
use picklock_clients::ServiceKind;

use super::{ContenderName, Direction, FaultDuration, LockCall, Rate, ServerName};

/// What is known of a kind of fault.
#[derive(Clone, Copy, Debug)]
pub struct FaultSpec {
    /// Its name in scenario files.
    pub name: &'static str,
    /// The only service that it can strike; `None` if it can strike any.
    pub service: Option<ServiceKind>,
    /// Whether it is drawn, and hunted with, if no kinds are named. Not several faults at once, not a server that
    /// openly refuses to serve, not what only a planned operation causes, and not what a program does to itself.
    pub drawn_unasked: bool,
    /// The class that it belongs to.
    pub class: FaultClass,
    /// What it does to a lock.
    pub effect: FaultEffect,
    /// What it is, one sentence.
    pub meaning: &'static str,
    /// A line of a `[[fault]]`.
    pub example: &'static str,
    /// How it reads, with the names of its fields in braces: `pause {target} {for}`.
    pub sentence: &'static str,
    /// Its fields, in the order in which they are written.
    pub fields: &'static [FieldSpec],
}

/// What a fault does to a lock, as far as that decides at which moments it is worth a try: to the searches, faults of
/// one effect are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// A contender stands still while it believes.
    Standstill,
    /// A contender goes on, and learns nothing until a session ends.
    Silence,
    /// A contender dies.
    Death,
    /// A contender gives up a call.
    Withdrawal,
    /// The service takes something from a contender, or refuses it something.
    Loss,
    /// A connection breaks.
    Disconnection,
    /// A request never arrives.
    LostRequest,
    /// A request arrives late.
    LateRequest,
    /// An answer never arrives.
    LostReply,
    /// An answer arrives late.
    LateReply,
    /// The message of a channel never arrives.
    LostMessage,
    /// The wall clock of a contender is wrong.
    WallClock,
    /// Servers do not agree in time.
    Disagreement,
    /// A server forgets what it has not written to its disk.
    PowerLoss,
    /// The lock is there again, with nothing of what was.
    Recreation,
}

/// A field of a kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// Its key in scenario files.
    pub key: &'static str,
    /// What can stand there.
    pub holds: FieldType,
}

impl FieldSpec {
    /// A field of a type, by its key.
    pub(super) const fn of<T: FaultField>(key: &'static str) -> Self {
        Self {
            key,
            holds: T::TYPE,
        }
    }
}

/// What can stand in a field of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A contender.
    Contender,
    /// Several contenders, or none.
    Contenders,
    /// A server.
    Server,
    /// Several servers.
    Servers,
    /// Which way messages go.
    Direction,
    /// A call of the lock.
    Call,
    /// How long something stays broken.
    FaultDuration,
    /// A time.
    Duration,
    /// A time, or none.
    MaybeDuration,
    /// Times, of which chance takes one whenever it is needed: from, to (both inclusive), and more than nothing.
    Range,
    /// How often something happens.
    Rate,
    /// Milliseconds, negative for back.
    Millis,
    /// By how much a pace differs.
    PartsPerMillion,
    /// Yes, or no.
    Flag,
}

/// What stands in a field of a fault.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is the `FieldType` of its name")]
pub enum Field {
    Contender(ContenderName),
    Contenders(Vec<ContenderName>),
    Server(ServerName),
    Servers(Vec<ServerName>),
    Direction(Direction),
    Call(LockCall),
    FaultDuration(FaultDuration),
    Duration(Duration),
    MaybeDuration(Option<Duration>),
    Range((Duration, Duration)),
    Rate(Rate),
    Millis(i64),
    PartsPerMillion(i32),
    Flag(bool),
}

/// What stands in a field of a fault, to change it.
#[derive(Debug)]
#[expect(missing_docs, reason = "each is the `FieldType` of its name")]
pub enum FieldMut<'f> {
    Contender(&'f mut ContenderName),
    Contenders(&'f mut Vec<ContenderName>),
    Server(&'f mut ServerName),
    Servers(&'f mut Vec<ServerName>),
    Direction(&'f mut Direction),
    Call(&'f mut LockCall),
    FaultDuration(&'f mut FaultDuration),
    Duration(&'f mut Duration),
    MaybeDuration(&'f mut Option<Duration>),
    Range(&'f mut (Duration, Duration)),
    Rate(&'f mut Rate),
    Millis(&'f mut i64),
    PartsPerMillion(&'f mut i32),
    Flag(&'f mut bool),
}

/// Where the fields of a new fault come from: a file, or chance.
pub trait FieldSource {
    /// What is to stand in a field. It is asked for one field after the other, in their order; `None` if there is
    /// nothing, and then there is no fault.
    fn field(&mut self, spec: FieldSpec) -> Option<Field>;
}

/// A type that a field of a fault can have.
pub(super) trait FaultField: Sized {
    const TYPE: FieldType;

    fn take(field: Field) -> Option<Self>;
    fn get(&self) -> Field;
    fn get_mut(&mut self) -> FieldMut<'_>;
}

macro_rules! fault_fields {
    ($($holds:ident: $type:ty,)*) => {$(
        impl FaultField for $type {
            const TYPE: FieldType = FieldType::$holds;

            fn take(field: Field) -> Option<Self> {
                match field {
                    Field::$holds(value) => Some(value),
                    _ => None,
                }
            }

            fn get(&self) -> Field {
                Field::$holds(self.clone())
            }

            fn get_mut(&mut self) -> FieldMut<'_> {
                FieldMut::$holds(self)
            }
        }
    )*};
}

fault_fields! {
    Contender: ContenderName,
    Contenders: Vec<ContenderName>,
    Server: ServerName,
    Servers: Vec<ServerName>,
    Direction: Direction,
    Call: LockCall,
    FaultDuration: FaultDuration,
    Duration: Duration,
    MaybeDuration: Option<Duration>,
    Range: (Duration, Duration),
    Rate: Rate,
    Millis: i64,
    PartsPerMillion: i32,
    Flag: bool,
}

/// Makes faults, their kinds, and what is known of them of one row each.
macro_rules! faults {
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    ($(
        $kind:ident $({ $($field:ident $(as $key:literal)?: $type:ty),* $(,)? })? = $name:literal {
            service: $service:expr,
            drawn_unasked: $unasked:expr,
            class: $class:ident,
            effect: $effect:ident,
            meaning: $meaning:literal,
            example: $example:literal,
            sentence: $sentence:literal,
        }
    )*) => {
        /// What can break.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "fields mean the same in every variant, and the variants are documented")]
        pub enum Fault {
            $( #[doc = $meaning] $kind $({ $($field: $type),* })?, )*
        }

        /// A kind of fault: what breaks, but not its target, its time, or its length.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FaultKind {
            $( #[doc = $meaning] $kind, )*
        }

        impl FaultKind {
            /// Every kind, in the order in which they are listed to people.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            const SPECS: &[FaultSpec] = &[$(
                FaultSpec {
                    name: $name,
                    service: $service,
                    drawn_unasked: $unasked,
                    class: FaultClass::$class,
                    effect: FaultEffect::$effect,
                    meaning: $meaning,
                    example: $example,
                    sentence: $sentence,
                    fields: &[$($(FieldSpec::of::<$type>(faults!(@key $field $($key)?))),*)?],
                },
            )*];

            /// What is known of it.
            pub fn spec(self) -> &'static FaultSpec {
                &Self::SPECS[self as usize]
            }

            /// The kind of a fault.
            pub fn of(fault: &Fault) -> Self {
                match fault {
                    $( Fault::$kind { .. } => Self::$kind, )*
                }
            }

            /// A fault of this kind. All of its fields are asked for, also when one is missing.
            pub fn fault(self, source: &mut dyn FieldSource) -> Option<Fault> {
                match self {
                    $( Self::$kind => {
                        $($(let $field = source.field(FieldSpec::of::<$type>(faults!(@key $field $($key)?)));)*)?
                        Some(Fault::$kind $({ $($field: FaultField::take($field?)?),* })?)
                    } )*
                }
            }
        }

        impl Fault {
            /// Its fields by their keys, in the order in which they are written.
            pub fn fields(&self) -> Vec<(&'static str, Field)> {
                match self {
                    $( Self::$kind $({ $($field),* })? => vec![$($(
                        (faults!(@key $field $($key)?), FaultField::get($field))
                    ),*)?], )*
                }
            }

            /// The same, to change them.
            pub fn fields_mut(&mut self) -> Vec<(&'static str, FieldMut<'_>)> {
                match self {
                    $( Self::$kind $({ $($field),* })? => vec![$($(
                        (faults!(@key $field $($key)?), FaultField::get_mut($field))
                    ),*)?], )*
                }
            }
        }
    };
}
pub(super) use faults;
