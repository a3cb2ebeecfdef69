//! Deterministic simulation and verification of distributed locks.
//!
//! picklock runs lock algorithms in a simulation of the services they stand on, breaks that world
//! on purpose, and says which promises survive. This is the library, for tests of your own; the
//! program is called `picklock`, too, and `picklock::cli::main` is all of it, for a program with locks of your own.
//!
//! A test names a scenario, be it a file, a folder, the text itself, or one of the
//! [library](sources::library), and the seeds to run it with. It fails with the report of the failure: which contender
//! did what, when, and why that is wrong.
//!
//! ```
//! // In a #[test]: the death of a waiter does not hand the lock to the one behind it.
//! picklock::assert_as_expected("zookeeper/waiter-death", 0..20);
//! ```
//!
//! To look at what came out, ask for the [`Report`]:
//!
//! ```
//! use picklock::Standing;
//!
//! let report = picklock::check(
//!     r#"
//!     claim = "A holder that is paused for longer than its session lasts is not alone."
//!     because = "The service gives the lock to the next, and the holder does not know."
//!     source = "Martin Kleppmann, How to do distributed locking"
//!
//!     [service.zookeeper]
//!
//!     [workload]
//!     contenders = 2
//!     arrive = "in-order"
//!     hold = "1s"
//!
//!     [[fault]]
//!     when.acquired = { by = "contender-1" }
//!     inject.pause = { target = "contender-1", for = "20s" }
//!
//!     [[case]]
//!     algorithm = "zk-predecessor-watch"
//!     "#,
//!     0..10,
//! )
//! .expect("the scenario has no mistakes");
//! assert_eq!(report.standing(), Standing::Fail);
//! assert!(report.to_string().contains("mutual-exclusion violated"));
//! ```
//!
//! [`Harness`] puts algorithms of your own to the test.

#[cfg(feature = "cli")]
pub mod cli;
mod free_file_name;
mod harness;
pub mod sources;
pub mod watchdog;

pub use harness::{
    CAUSES, CheckError, Harness, Report, SingleRun, SmallestRun, assert_as_expected, check,
};
pub use picklock_checker::outcome::Standing;

pub use picklock_algorithms as algorithms;
pub use picklock_checker as checker;
pub use picklock_reports as reports;
pub use picklock_scenarios as scenarios;
pub use picklock_sim as sim;
