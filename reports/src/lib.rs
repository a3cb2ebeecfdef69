//! Outcomes in, bytes out: terminal, JSON, charts.
pub mod files;
pub mod style;
pub mod words;
