//! What a scenario leaves open, for each seed to settle.

use std::time::Duration;

use picklock_sim::plan::{
    Arrival, FaultKind, LockOrder, Reads, Service, SettingType, Share, Strategy, Value, Workload,
};

/// What each seed draws of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// This: of a contender that is drawn.
    Only(Value),
    /// One of these.
    OneOf(Vec<Value>),
    /// Something between these, both included.
    Between(Value, Value),
}

/// A field that says what is drawn.
trait Sampled: Sized {
    /// What is drawn, if anything is.
    fn drawn(&self) -> Option<Drawn>;

    /// What this draws; of one value, that there is no other to draw.
    fn of_drawn(drawn: Drawn) -> Option<Self>;
}

impl<T: SettingType> Sampled for Vec<T> {
    fn drawn(&self) -> Option<Drawn> {
        let values = self.iter().filter_map(SettingType::to_value);
        (!self.is_empty()).then(|| Drawn::OneOf(values.collect()))
    }

    fn of_drawn(drawn: Drawn) -> Option<Self> {
        let values = match drawn {
            Drawn::Only(value) => vec![value],
            Drawn::OneOf(values) => values,
            Drawn::Between(..) => return None,
        };
        values
            .into_iter()
            .map(|value| T::of_value(Some(value)))
            .collect()
    }
}

impl<T: SettingType> Sampled for Option<(T, T)> {
    fn drawn(&self) -> Option<Drawn> {
        let (from, to) = self.as_ref()?;
        Some(Drawn::Between(from.to_value()?, to.to_value()?))
    }

    fn of_drawn(drawn: Drawn) -> Option<Self> {
        let (from, to) = match drawn {
            Drawn::Only(value) => (value.clone(), value),
            Drawn::Between(from, to) => (from, to),
            Drawn::OneOf(_) => return None,
        };
        Some(Some((T::of_value(Some(from))?, T::of_value(Some(to))?)))
    }
}

impl Sampled for Option<Reads> {
    fn drawn(&self) -> Option<Drawn> {
        self.to_value().map(Drawn::Only)
    }

    fn of_drawn(drawn: Drawn) -> Option<Self> {
        match drawn {
            Drawn::Only(value) => Self::of_value(Some(value)),
            Drawn::OneOf(_) | Drawn::Between(..) => None,
        }
    }
}

/// Makes parameters of which each is drawn for a key, one row each.
macro_rules! sampled {
    (
        $(#[$attribute:meta])*
        $name:ident {$( $(#[$field_attribute:meta])* $field:ident: $type:ty = $key:literal, )*}
        $(and {$( $(#[$also_attribute:meta])* $also:ident: $also_type:ty, )*})?
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $( $(#[$field_attribute])* pub $field: $type, )*
            $($( $(#[$also_attribute])* pub $also: $also_type, )*)?
        }

        impl $name {
            /// The keys of which something may be drawn.
            pub const KEYS: &[&str] = &[$($key),*];

            /// What is drawn for a key, if anything is.
            pub fn drawn(&self, key: &str) -> Option<Drawn> {
                match key {
                    $( $key => self.$field.drawn(), )*
                    _ => None,
                }
            }

            /// Has this drawn for a key, if it can be.
            pub fn set_drawn(&mut self, key: &str, drawn: Drawn) {
                match key {
                    $( $key => if let Some(drawn) = Sampled::of_drawn(drawn) {
                        self.$field = drawn;
                    } )*
                    _ => {}
                }
            }
        }
    };
}

sampled! {
    /// What a scenario leaves open. A field that is `None` or empty is settled by the file, and stands in the plan of
    /// the case; all others are drawn, each with even odds over what it holds.
    #[derive(Clone, Debug, Default, PartialEq)]
    SampledParameters {
        /// How many contenders there are: from, to (both inclusive).
        contenders: Option<(u32, u32)> = "contenders",
        /// How many tasks a process has: from, to. There are as many contenders more as make the last process a whole
        /// one.
        tasks_per_process: Option<(u32, u32)> = "tasks-per-process",
        /// What the tasks of a process share, to choose from.
        share: Vec<Share> = "share",
        /// How many locks there are: from, to.
        locks: Option<(u32, u32)> = "locks",
        /// How many of them a section holds at once: from, to. No more than there are.
        locks_at_once: Option<(u32, u32)> = "locks-at-once",
        /// Orders in which it acquires them to choose from.
        lock_order: Vec<LockOrder> = "lock-order",
        /// How often each wants the lock: from, to.
        rounds: Option<(u32, u32)> = "rounds",
        /// How many permits a semaphore has: from, to.
        permits: Option<(u32, u32)> = "permits",
        /// How long a section lasts: from, to.
        hold: Option<(Duration, Duration)> = "hold",
        /// Times between a release and the next acquire to choose from.
        think: Vec<(Duration, Duration)> = "think",
        /// Times between what arrives at a contender and what it does about it to choose from.
        processing: Vec<(Duration, Duration)> = "processing",
        /// Arrivals to choose from.
        arrive: Vec<Arrival> = "arrive",
        /// Latencies between clients and servers to choose from.
        client_latency: Vec<(Duration, Duration)> = "latency",
        /// Latencies between servers to choose from.
        server_latency: Vec<(Duration, Duration)> = "server-latency",
        /// Strategies of chance to choose from.
        chance: Vec<Strategy> = "chance",
    }
    and {
        /// Settings of the service, each by its key with the values to choose from.
        settings: Vec<(&'static str, Vec<Value>)>,
        /// Regions that machines may lie in.
        regions: Option<SampledRegions>,
        /// How one contender differs from the others, if any does.
        contender: Option<SampledContender>,
        /// Which faults may be added to those of the file.
        faults: Option<AnyFaults>,
        /// The budget of events stands in the file, and does not follow from the workload.
        budget_given: bool,
    }
}

/// Regions that a seed draws.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRegions {
    /// How many there are: from, to. One is as good as none.
    pub number: (u32, u32),
    /// Latencies between two of them to choose from.
    pub between: Vec<(Duration, Duration)>,
}

sampled! {
    /// How the contender that a seed draws differs from the others. What is `None` or empty is as with them.
    #[derive(Clone, Debug, Default, PartialEq)]
    SampledContender {
        /// How long its sections last: from, to.
        hold: Option<(Duration, Duration)> = "hold",
        /// How often it wants the lock: from, to.
        rounds: Option<(u32, u32)> = "rounds",
        /// How often it takes the lock to read.
        reads: Option<Reads> = "reads",
        /// Times between a release and its next acquire to choose from.
        think: Vec<(Duration, Duration)> = "think",
        /// Times between what arrives and what it does about it to choose from.
        processing: Vec<(Duration, Duration)> = "processing",
        /// How long it waits for the lock before it gives up: from, to.
        acquire_timeout: Option<(Duration, Duration)> = "acquire-timeout",
        /// Latencies between it and any server to choose from.
        latency: Vec<(Duration, Duration)> = "latency",
        /// By how many milliseconds its wall clock is ahead from the start: from, to.
        clock_offset_millis: Option<(i64, i64)> = "clock-offset",
    }
}

/// Faults of which a seed may draw some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyFaults {
    /// The kinds to choose from.
    pub kinds: Vec<FaultKind>,
    /// The file names these kinds, which are left out, and not those that are left.
    pub except: Vec<FaultKind>,
    /// A plan has this many of them at most.
    pub at_most: u32,
}

impl AnyFaults {
    /// Faults of a plan whose file does not say how many it may have at most.
    pub const AT_MOST: u32 = 16;
}

impl Default for AnyFaults {
    fn default() -> Self {
        Self {
            kinds: FaultKind::unasked(),
            except: Vec::new(),
            at_most: Self::AT_MOST,
        }
    }
}

impl SampledParameters {
    /// The values of a setting of the service to choose from.
    pub fn choices(&self, key: &str) -> &[Value] {
        let setting = self.settings.iter().find(|(known, _)| *known == key);
        setting.map_or(&[], |(_, choices)| choices)
    }

    /// Each service that a seed can draw, as far as it differs in this setting.
    pub fn each_with(&self, key: &str, service: &Service) -> Vec<Service> {
        let with = |choice: &Value| {
            let mut service = service.clone();
            service.set_value(key, Some(choice.clone()));
            service
        };
        match self.choices(key) {
            [] => vec![service.clone()],
            choices => choices.iter().map(with).collect(),
        }
    }

    /// A service with the most servers that are left open.
    pub fn widest(&self, service: &Service) -> Service {
        let each = self.each_with("servers", service).into_iter();
        each.max_by_key(|service| service.voters())
            .unwrap_or_else(|| service.clone())
    }

    /// The same, where as many contend as may, as often as they may.
    #[must_use]
    pub fn busiest(&self) -> Self {
        let most = |range: Option<(u32, u32)>| range.map(|(_, most)| (most, most));
        Self {
            contenders: most(self.contenders),
            rounds: most(self.rounds),
            ..self.clone()
        }
    }

    /// A workload in which as many contend as may, as often and for as many locks at once as they may.
    pub fn busiest_of(&self, workload: &Workload) -> Workload {
        let most = |range: Option<(u32, u32)>, of: u32| range.map_or(of, |(_, most)| most);
        Workload {
            contenders: most(self.contenders, workload.contenders),
            rounds: most(self.rounds, workload.rounds),
            locks_at_once: most(self.locks_at_once, workload.locks_at_once),
            ..workload.clone()
        }
    }

    /// Whether there is anything to settle.
    pub fn is_open(&self) -> bool {
        Self::KEYS.iter().any(|key| self.drawn(key).is_some())
            || !self.settings.is_empty()
            || self.regions.is_some()
            || self.contender.is_some()
            || self.faults.is_some()
    }
}
