//! Outcomes in, bytes out: terminal, JSON, charts.
