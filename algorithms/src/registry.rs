//! Every algorithm there is: one line each, here or in the list of its service, in the order in which
//! `picklock list algorithms` shows them.

use crate::family::Family;
use crate::zookeeper as zk;
use crate::{Recipe, redis};

/// Every algorithm.
pub const RECIPES: &[Recipe] = &joined();

/// The lines of code of the file of each recipe, in the order of those files.
const LINES: &[(&str, u32)] = include!(concat!(env!("OUT_DIR"), "/recipe_lines.rs"));

/// How many lines of code the recipe of this name has in its own file: without comments, tests, and its row in the
/// registry. `None`, if it is a variant that another file builds.
pub fn lines_of_code(name: &str) -> Option<u32> {
    let found = LINES.iter().find(|(recipe, _)| *recipe == name);
    found.map(|(_, lines)| *lines)
}

const LISTED: &[Recipe] = &[
    zk::hardened::RECIPE,
    zk::predecessor_watch::RECIPE,
    zk::curator_mutex::RECIPE,
    zk::curator_mutex_owner_check::RECIPE,
    zk::curator_mutex_revocable::RECIPE,
    zk::curator_multi_lock::RECIPE,
    zk::curator_multi_lock_hardened::RECIPE,
    zk::go_zookeeper_lock_events::RECIPE,
    zk::go_zookeeper_lock::RECIPE,
    zk::rust_lock_client::RECIPE,
    zk::own_nodes::RECIPE,
    zk::own_timer::RECIPE,
    zk::children_watch::RECIPE,
    zk::callback_watch::RECIPE,
    zk::recursive_watch::RECIPE,
    zk::same_name::RECIPE,
    zk::same_name_polling::RECIPE,
    zk::polling_queue::RECIPE,
    zk::kazoo_lock::RECIPE,
    zk::shared_locks::RECIPE,
    zk::revocable_shared_locks::RECIPE,
    zk::curator_read_write_lock::RECIPE,
    zk::curator_semaphore::RECIPE,
    zk::curator_semaphore_hardened::RECIPE,
    zk::curator_semaphore_mutex::RECIPE,
    zk::kazoo_semaphore::RECIPE,
    zk::kazoo_read_write_lock::RECIPE,
    zk::leader_election::RECIPE,
    zk::curator_leader_latch::RECIPE,
    zk::curator_leader_latch_own_node::RECIPE,
    zk::curator_leader_selector::RECIPE,
    zk::kazoo_election::RECIPE,
    zk::barrier_sync::RECIPE,
    zk::double_barrier::RECIPE,
    zk::no_guid::RECIPE,
    zk::no_recheck::RECIPE,
    zk::sync_lookup::RECIPE,
    zk::sequence_token::RECIPE,
    zk::unsorted::RECIPE,
    zk::blind_unlock::RECIPE,
    zk::known_by_name::RECIPE,
    zk::curator_mutex_unprotected::RECIPE,
    zk::curator_mutex_session_policy::RECIPE,
    zk::curator_mutex_leftover::RECIPE,
    zk::curator_multi_lock_keeps_first::RECIPE,
    zk::curator_multi_lock_releases_some::RECIPE,
    zk::recursive_watch_trusting::RECIPE,
    zk::read_then_write::RECIPE,
    zk::first_path::RECIPE,
    zk::token_of_process::RECIPE,
    zk::persistent::RECIPE,
    zk::sorted_by_name::RECIPE,
    zk::best_effort_cleanup::RECIPE,
    zk::curator_mutex_any_session::RECIPE,
    zk::curator_mutex_no_search::RECIPE,
    zk::curator_mutex_revocable_once::RECIPE,
    zk::go_zookeeper_lock_expired_only::RECIPE,
    zk::late_listener::RECIPE,
    zk::acquire_in_callback::RECIPE,
    zk::shared_locks_writers_only::RECIPE,
    zk::shared_locks_later_writers::RECIPE,
    zk::shared_locks_readers_first::RECIPE,
    zk::shared_locks_writers_first::RECIPE,
    zk::revocable_shared_locks_no_look::RECIPE,
    zk::revocable_shared_locks_held_watch::RECIPE,
    zk::curator_read_write_lock_unsorted::RECIPE,
    zk::curator_read_write_lock_new_place::RECIPE,
    zk::curator_semaphore_keeps_leases::RECIPE,
    zk::curator_semaphore_off_by_one::RECIPE,
    zk::curator_semaphore_unreturned::RECIPE,
    zk::curator_semaphore_v1::RECIPE,
    zk::kazoo_semaphore_unlocked::RECIPE,
    zk::same_name_polling_blind::RECIPE,
    zk::same_name_polling_printed::RECIPE,
    zk::same_name_deleted_only::RECIPE,
    zk::reopened_session::RECIPE,
    zk::conditional_set::RECIPE,
    zk::conditional_set_anonymous::RECIPE,
    zk::persistent_queue::RECIPE,
    zk::polling_queue_constructor::RECIPE,
    zk::polling_queue_printed::RECIPE,
    zk::polling_queue_from_one::RECIPE,
    zk::error_is_acquired::RECIPE,
    zk::late_latch::RECIPE,
    zk::timed_out_waiter::RECIPE,
    zk::unlock_closes_session::RECIPE,
    zk::latch_any_event::RECIPE,
    zk::counter_not_set::RECIPE,
    zk::counter_of_all_locks::RECIPE,
    zk::guid_reentry::RECIPE,
    zk::curator_leader_latch_session_policy::RECIPE,
    zk::curator_leader_latch_any_session::RECIPE,
    zk::curator_leader_selector_ignores_state::RECIPE,
    zk::curator_leader_selector_lost_only::RECIPE,
    zk::kazoo_election_ignores_state::RECIPE,
    zk::write_lock::RECIPE,
    zk::rust_lock_client_curator_prefix::RECIPE,
    zk::tutorial_barrier::RECIPE,
    zk::curator_double_barrier::RECIPE,
    zk::curator_double_barrier_any_wake::RECIPE,
    zk::kazoo_double_barrier::RECIPE,
    zk::barrier::RECIPE,
    zk::barrier_any_event::RECIPE,
    zk::curator_barrier::RECIPE,
    zk::kazoo_barrier::RECIPE,
    redis::compare_and_delete::RECIPE,
    redis::set_nx_get::RECIPE,
    redis::fencing_token::RECIPE,
    redis::watch_exec::RECIPE,
    redis::wait::RECIPE,
    redis::waitaof::RECIPE,
    redis::set_ifeq::RECIPE,
    redis::set_ifeq::RECIPE_VALKEY,
    redis::function_lock::RECIPE,
    redis::field_ttl_semaphore::RECIPE,
    redis::redisson::RECIPE,
    redis::redisson_replicated::RECIPE,
    redis::redisson_permit_expirable_semaphore::RECIPE,
    redis::redisson_read_write_lock::RECIPE,
    redis::redisson_read_write_lock_told::RECIPE,
    redis::redisson_spin_lock::RECIPE,
    redis::redisson_fair_lock::RECIPE,
    redis::redisson_fenced_lock::RECIPE,
    redis::redisson_multi_lock::RECIPE,
    redis::redisson_multi_lock_hardened::RECIPE,
    redis::redisson_multi_lock_leased::RECIPE,
    redis::redisson_multi_lock_of_servers::RECIPE,
    redis::redisson_count_down_latch::RECIPE,
    redis::count_down_latch::RECIPE,
    redis::redis_py_lock::RECIPE,
    redis::redlock::RECIPE,
    redis::python_redis_lock::RECIPE,
    redis::python_redis_lock_auto_renewal::RECIPE_HARDENED,
    redis::redis_py_lock_reacquire::RECIPE,
    redis::bsm_redislock::RECIPE,
    redis::node_redlock_hardened::RECIPE,
    redis::redsync_hardened::RECIPE,
    redis::rslock_hardened::RECIPE,
    redis::spring_redis_lock_registry::RECIPE,
    redis::spring_redis_lock_registry::RECIPE_HARDENED,
    redis::spring_redis_lock_registry_pub_sub::RECIPE_HARDENED,
    redis::keyspace_event::RECIPE,
    redis::setnx_expire::RECIPE,
    redis::setnx_expire::RECIPE_MULTI,
    redis::getset::RECIPE,
    redis::getset::RECIPE_DEL,
    redis::set_nx_px_del::RECIPE,
    redis::get_compare_del::RECIPE,
    redis::watch_exec::RECIPE_SHARED,
    redis::watch_exec::RECIPE_ABORTED,
    redis::redlock_no_validity::RECIPE,
    redis::redlock_short_delay::RECIPE,
    redis::redisson_message_only::RECIPE,
    redis::redisson_if_held::RECIPE,
    redis::wait_ignored::RECIPE,
    redis::waitaof::RECIPE_IGNORED,
    redis::set_ifeq::RECIPE_NO_EXPIRY,
    redis::function_lock::RECIPE_LOADED_ONCE,
    redis::field_ttl_semaphore::RECIPE_HEARTBEAT,
    redis::redisson_no_latch::RECIPE,
    redis::redisson_kept_count::RECIPE,
    redis::redisson_failed_renewal::RECIPE,
    redis::redisson_scripts_sent_once::RECIPE,
    redis::redisson_client_id::RECIPE,
    redis::redisson_permit_expirable_semaphore_expired::RECIPE,
    redis::redisson_read_write_lock_not_renewed::RECIPE,
    redis::redisson_lock_and_read_lock::RECIPE,
    redis::redisson_semaphore::RECIPE,
    redis::redisson_semaphore_counts_one::RECIPE,
    redis::redisson_semaphore_reset::RECIPE,
    redis::redisson_count_down_latch_no_look::RECIPE,
    redis::redisson_spin_lock_no_latch::RECIPE,
    redis::redisson_fair_lock_kept_place::RECIPE,
    redis::redisson_fenced_lock_get_token::RECIPE,
    redis::redisson_multi_lock_blind_expire::RECIPE,
    redis::redisson_multi_lock_doubled_lease::RECIPE,
    redis::redisson_multi_lock_no_wait::RECIPE,
    redis::redisson_multi_lock_seconds::RECIPE,
    redis::redisson_red_lock::RECIPE,
    redis::redisson_red_lock_leased::RECIPE,
    redis::redis_py_lock_one_token::RECIPE,
    redis::redlock_acquired_only::RECIPE,
    redis::redlock_wall_clock::RECIPE,
    redis::redlock_one_token::RECIPE,
    redis::redlock_drift_added::RECIPE,
    redis::redlock_half_is_enough::RECIPE,
    redis::redlock_quorum_of_the_live::RECIPE,
    redis::redlock_keeps_minority::RECIPE,
    redis::error_is_refusal::RECIPE,
    redis::error_is_lock::RECIPE,
    redis::python_redis_lock::RECIPE_3,
    redis::python_redis_lock_auto_renewal::RECIPE,
    redis::keyspace_event::RECIPE_ONLY,
    redis::deadline_from_answer::RECIPE,
    redis::redis_py_lock_reacquire::RECIPE_EXTEND,
    redis::redis_py_asyncio_lock::RECIPE,
    redis::bsm_redislock_own_token::RECIPE,
    redis::node_redlock::RECIPE,
    redis::redsync::RECIPE,
    redis::rslock::RECIPE,
    redis::spring_redis_lock_registry::RECIPE_RENEWED,
    redis::spring_redis_lock_registry_pub_sub::RECIPE,
    redis::redisson_red_lock_2::RECIPE,
    redis::redisson_red_lock_2_force_unlock::RECIPE,
    redis::redisson_unlock_missing_key::RECIPE,
    redis::redisson_spin_lock_budget_first::RECIPE,
    redis::redlock_net::RECIPE,
    redis::redlock_net_whole_seconds::RECIPE,
    redis::rueidislock::RECIPE,
    redis::rueidislock_last_deadline::RECIPE,
    redis::symfony_lock::RECIPE,
    redis::symfony_lock::RECIPE_HARDENED,
    redis::symfony_lock_kept_end::RECIPE,
    redis::symfony_lock_kept_end::RECIPE_DELETED,
    redis::distributed_lock_redis::RECIPE,
    redis::distributed_lock_redis_counted_twice::RECIPE,
    redis::resque_scheduler_lock::RECIPE,
    redis::resque_scheduler_lock_not_reloaded::RECIPE,
    redis::laravel_cache_lock::RECIPE,
    redis::laravel_cache_lock_force_release::RECIPE,
    redis::bullmq_worker::RECIPE,
    redis::bull_queue_timers_first::RECIPE,
    redis::sidekiq_unique_jobs::RECIPE,
    redis::sidekiq_unique_jobs_run_names::RECIPE,
    redis::sidekiq_unique_jobs_young_locks::RECIPE,
    redis::redisson_fair_lock_seconds::RECIPE,
    redis::redisson_batch_not_redirected::RECIPE,
];

/// The services that list their algorithms themselves.
pub(crate) const FAMILIES: [&Family; 6] = [
    &crate::lease_server::FAMILY,
    &crate::etcd::FAMILY,
    &crate::sql::FAMILY,
    &crate::memcached::FAMILY,
    &crate::consul::FAMILY,
    &crate::chubby::FAMILY,
];

/// How many there are.
const NUMBER: usize = {
    let (mut number, mut service) = (LISTED.len(), 0);
    while service < FAMILIES.len() {
        number += FAMILIES[service].recipes.len();
        service += 1;
    }
    number
};

/// Those that are listed here, and behind them those of the others.
const fn joined() -> [Recipe; NUMBER] {
    let mut all = [LISTED[0]; NUMBER];
    let mut place = 0;
    while place < LISTED.len() {
        all[place] = LISTED[place];
        place += 1;
    }
    let mut service = 0;
    while service < FAMILIES.len() {
        let mut nth = 0;
        while nth < FAMILIES[service].recipes.len() {
            all[place] = FAMILIES[service].recipes[nth];
            (place, nth) = (place + 1, nth + 1);
        }
        service += 1;
    }
    all
}

/// The algorithm of this name.
pub fn find(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_algorithms_share_a_name() {
        for (index, recipe) in RECIPES.iter().enumerate() {
            assert!(
                RECIPES[..index]
                    .iter()
                    .all(|other| other.name != recipe.name),
                "{}",
                recipe.name
            );
        }
    }
}
