//! Recipes over Redis.

pub mod compare_and_delete;
pub mod deadline_from_answer;
pub mod error_is_lock;
pub mod error_is_refusal;
pub mod fencing_token;
pub mod get_compare_del;
pub mod keyspace_event;
pub mod leased;
pub mod python_redis_lock;
pub mod redisson;
pub mod redisson_failed_renewal;
pub mod redisson_if_held;
pub mod redisson_message_only;
pub mod redisson_no_latch;
pub mod redisson_replicated;
pub mod redlock;
pub mod redlock_acquired_only;
pub mod redlock_no_validity;
pub mod set_nx_get;
pub mod set_nx_px_del;
pub mod setnx_expire;
mod unanswered_set;
pub mod wait;
pub mod wait_ignored;
pub mod watch_exec;
