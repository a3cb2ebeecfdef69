//! Deterministic simulation and verification of distributed locks.
