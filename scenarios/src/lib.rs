//! Scenario files, the runner, and the seeds.
