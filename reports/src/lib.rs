//! Outcomes in, bytes out: terminal, JSON, charts.
pub mod explain;
pub mod files;
pub mod json;
pub mod story;
pub mod style;
pub mod terminal;
pub mod timeline;
pub mod words;
