//! Tests of the client handle.
