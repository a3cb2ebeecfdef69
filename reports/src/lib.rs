//! Outcomes in, bytes out: terminal, JSON, charts.
//!
//! Nothing here runs anything, reads a clock, or decides anything: the result types of
//! `picklock_checker` come in, and text or pictures go out. The same outcomes give the same bytes.
//!
//! - [`terminal`]: a line or a block per scenario, and [`summary`] at the end;
//! - [`story`]: one run told to a person, with its [`timeline`] and the argument;
//! - [`diagram`]: one run as a picture, and [`html`]: a page with all that was found;
//! - [`json`]: the same for machines, versioned;
//! - [`junit`], [`sarif`], [`github`]: the same as test reports, code scanning, and GitHub's workflows read it;
//! - [`herd`]: what a release costs, as tables, JSON, and charts;
//! - `chart`: measurements as pictures, and `run_charts`: those of runs and of searches;
//! - [`cost`]: what a lock costs while nothing breaks;
//! - [`matrix`]: algorithms by classes of faults;
//! - [`files`]: files that are written whole or not at all;
//! - [`fit`]: lines that no terminal has to break;
//! - [`style`] and [`words`]: how all of it looks and reads.

#[cfg(feature = "charts")]
pub mod chart;
mod columns;
mod commands;
pub mod compare;
pub mod cost;
pub mod diagram;
pub mod envelope;
mod escape;
mod explain;
pub mod files;
pub mod fit;
pub mod github;
pub mod herd;
pub mod html;
pub mod json;
pub mod junit;
pub mod matrix;
mod problem;
mod reasons;
#[cfg(feature = "charts")]
pub mod run_charts;
pub mod sarif;
pub mod story;
pub mod style;
pub mod summary;
pub mod terminal;
pub mod timeline;
mod triage;
pub mod words;

pub use columns::table_of;
pub use problem::Remark;
