//! `polling_queue`, except that the search for the node ahead begins with the number zero, and takes only what is
//! higher. Must be caught by `zookeeper/polling-queue`: no contender waits for the first node of all.
//!
//! Seen in the wild: the listing of a tutorial, whose `getpreNode` begins with `flag = 0L` and asks for
//! `serial > flag`.

use std::rc::Rc;

use super::polling_queue::{PollingQueue, REQUESTS};
use super::queue::{Ticket, number};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-polling-queue-from-one",
    summary: "The polled queue, in which no waiter waits for the node with the number zero.",
    source: "ZkDistributedLock of a tutorial, getpreNode: flag = 0L",
    flaw: Some("the numbers of a queue begin with zero"),
    requests: REQUESTS,
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(PollingQueue::new(zk, env, lock, pre_node))),
    ..super::polling_queue::RECIPE
};

fn pre_node(nodes: &[Rc<str>], path: &Ticket) -> Option<Rc<str>> {
    // The flaw: one too many.
    let mut flag = 0;
    let mut pre_node = None;
    for node in nodes {
        let serial = number(node);
        if serial < path.sequence() && serial > flag {
            flag = serial;
            pre_node = Some(Rc::clone(node));
        }
    }
    pre_node
}
