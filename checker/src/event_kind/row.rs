//! What a row of `EventKind` says of an event, beside its fields and its words, and the macro that makes one enum, its
//! words, and what is known of it of the rows.

/// How an event is shown. A row says only where it differs from `USUAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// It changes what is drawn in the lane of its contender, so that leaving it out must be told.
    pub structural: bool,
    /// Something ends badly here, or strikes.
    pub bad: bool,
    /// The service or the resource says it, and not its contender: of several locks it must say which.
    pub of_service: bool,
    /// Its words in the lane of its contender, where these are always the same.
    pub lane: &'static str,
    /// Its words beside a mark, empty if it needs none; `None` if they are those of its sentence.
    pub label: Option<&'static str>,
}

impl EventRow {
    /// Of an event that says nothing else.
    pub(super) const USUAL: Self = Self {
        structural: false,
        bad: false,
        of_service: false,
        lane: "",
        label: None,
    };
}

/// Makes the enum of one row an event: in brackets the contender and the lock that it is about, its other fields, the
/// number that says in the hash of a run which event it is, its words, and how it is shown: what stands there sees the
/// fields. [`History::describe`](crate::History::describe) puts names to the words.
macro_rules! events {
    (@option) => { None };
    (@option $field:ident) => { Some($field) };
    (
        $(
            $(#[$doc:meta])*
            $kind:ident $(
                [$($by:ident)? $(; $lock:ident)?]
                $({ $( $(#[$field_doc:meta])* $field:ident: $type:ty ),* $(,)? })?
            )? = $number:literal {
                words: $words:expr
                $(, $property:ident: $value:expr)* $(,)?
            }
        )*
    ) => {
        /// What can happen in a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        #[expect(
            missing_docs,
            reason = "fields mean the same in every variant, and the variants are documented"
        )]
        pub enum EventKind {
            $( $(#[$doc])* $kind $({
                $($by: ContenderId,)?
                $($lock: LockId,)?
                $($( $(#[$field_doc])* $field: $type, )*)?
            })?, )*
        }

        #[cfg(test)]
        const NUMBERS: &[u64] = &[$($number),*];

        #[expect(unused_variables, reason = "an expression of a row sees all fields, and needs some")]
        impl EventKind {
            /// The contender that the event is about, if it is about one.
            pub fn by(&self) -> Option<ContenderId> {
                match *self {
                    $( Self::$kind $({ $($by,)? .. })? => events!(@option $($($by)?)?), )*
                }
            }

            /// The lock that the event is about, if it is about one.
            pub fn lock(&self) -> Option<LockId> {
                match *self {
                    $( Self::$kind $({ $($lock,)? .. })? => events!(@option $($($lock)?)?), )*
                }
            }

            /// Which event it is, in the hash of a run. A number never changes: hashes are kept.
            #[inline(always)]
            pub fn number(&self) -> u64 {
                match self {
                    $( Self::$kind { .. } => $number, )*
                }
            }

            /// How it is shown.
            pub fn row(&self) -> EventRow {
                match *self {
                    $( Self::$kind $({ $($by,)? $($lock,)? $($($field,)*)? })? => EventRow {
                        $($property: $value,)*
                        ..EventRow::USUAL
                    }, )*
                }
            }

            /// What its contender does, or what else it is about; or the sentence, as far as no name is needed for it.
            pub(crate) fn words(&self) -> String {
                match *self {
                    $( Self::$kind $({ $($by,)? $($lock,)? $($($field,)*)? })? => String::from($words), )*
                }
            }
        }
    };
}
pub(super) use events;
