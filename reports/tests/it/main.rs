//! All integration tests of this crate, in one program.

mod common;
mod diagram;
mod files;
mod github;
mod herd;
mod html;
mod json;
mod junit;
mod lanes;
mod reasons;
mod run_charts;
mod sarif;
mod story;
mod terminal;
