//! All integration tests of this crate, in one program.

mod common;
mod describe;
mod documented_keys;
mod foreign_locks;
mod herd;
mod keys;
mod late_believers;
mod library;
mod mistakes;
mod mistakes_of_barriers;
mod mistakes_of_networks;
mod mistakes_of_plans;
mod mistakes_of_several_locks;
mod never_panics;
mod observers;
mod redis_clients;
mod renamed_keys;
mod round_trip;
mod schema;
mod senses;
mod service_left_out;
mod services_of_cases;
mod tokens;
mod told;
mod what_is_asked;
mod written_plans;
