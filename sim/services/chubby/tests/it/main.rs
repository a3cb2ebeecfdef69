//! What the paper says of a cell and of its client library, statement by statement.

mod cell;
mod fail_over;
mod locks;
mod sessions;
