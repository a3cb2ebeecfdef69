//! Lock recipes on ZooKeeper.

pub mod acquire_in_callback;
pub mod best_effort_cleanup;
pub mod blind_unlock;
pub mod callback_watch;
pub mod children_watch;
pub mod curator_mutex;
pub mod curator_mutex_any_session;
pub mod curator_mutex_leftover;
pub mod curator_mutex_no_search;
pub mod curator_mutex_owner_check;
pub mod curator_mutex_session_policy;
pub mod curator_mutex_unprotected;
pub mod first_path;
pub mod go_zookeeper_lock;
pub mod go_zookeeper_lock_events;
pub mod go_zookeeper_lock_expired_only;
pub mod hardened;
pub mod known_by_name;
pub mod late_listener;
pub mod no_guid;
pub mod no_recheck;
pub mod own_nodes;
pub mod own_timer;
pub mod persistent;
pub mod predecessor_watch;
pub mod read_then_write;
pub mod recursive_watch;
pub mod recursive_watch_trusting;
pub mod same_name;
pub mod sequence_token;
pub mod sorted_by_name;
pub mod sync_lookup;
pub mod token_of_process;
pub mod unsorted;

pub mod queue;
