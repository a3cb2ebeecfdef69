//! What servers do, against what real ones have answered, and against claims about locks.

mod driver;
mod innodb;
mod postgres;
mod properties;
mod replication;
mod script;
mod sql_text;
mod vectors;
