//! `polling_queue` as it is printed: for each node of the queue it takes the number of its own path. Must be caught by
//! `zookeeper/polling-queue`: no contender is ever ahead, and all enter.
//!
//! Seen in the wild: the listing of a tutorial, whose loop over `nodes` parses `path`.

use std::rc::Rc;

use super::polling_queue::{PollingQueue, REQUESTS};
use super::queue::Ticket;
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-polling-queue-printed",
    summary: "The polled queue, in which the number of every node is taken from one's own path.",
    source: "ZkDistributedLock of a tutorial, getpreNode as it is printed",
    flaw: Some("no number is lower than the waiter's own, so all enter"),
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(PollingQueue::new(zk, env, lock, pre_node))),
    ..super::polling_queue::RECIPE
};

fn pre_node(nodes: &[Rc<str>], path: &Ticket) -> Option<Rc<str>> {
    let cur_serial = path.sequence();
    // The flaw: `path`, not `node`.
    let serial_of = |_node: &Rc<str>| path.sequence();
    let ahead = nodes.iter().filter(|node| serial_of(node) < cur_serial);
    ahead.max_by_key(|node| serial_of(node)).cloned()
}
