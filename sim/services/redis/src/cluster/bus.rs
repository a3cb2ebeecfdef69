//! The messages of the cluster bus.

use std::rc::Rc;

use picklock_clients::redis::{Bytes, ErrorReply};

use super::slots::SlotSet;
use crate::value::Data;

/// A node of a cluster, by its index among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u8);

/// What a node tells another.
#[derive(Clone, Debug, PartialEq)]
pub struct BusMessage {
    pub(crate) header: Rc<Header>,
    pub(crate) body: Body,
}

/// What every message says of its sender.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) from: NodeId,
    /// The largest epoch that it knows.
    pub(crate) epoch: u64,
    /// That of the slots below.
    pub(crate) config_epoch: u64,
    /// The slots that it serves, or that its primary does.
    pub(crate) slots: Rc<SlotSet>,
    /// Its primary, if it is a replica.
    pub(crate) primary: Option<NodeId>,
    /// How far it is in the stream of its shard.
    pub(crate) offset: u64,
}

/// What a message is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// Are you there?
    Ping(Rc<[Gossip]>),
    /// I am here.
    Pong(Rc<[Gossip]>),
    /// A majority has given up on this node.
    Failed(NodeId),
    /// I want to take the place of my primary.
    VoteWanted,
    /// You may.
    Vote,
    /// Another node serves these slots by a larger epoch than the receiver believes.
    Newer {
        node: NodeId,
        config_epoch: u64,
        slots: Rc<SlotSet>,
    },
    /// A message for the subscribers of a channel.
    Published {
        shard: bool,
        channel: Bytes,
        message: Bytes,
    },
    /// Keys that come to live with you.
    Keys {
        number: u64,
        replace: bool,
        payloads: Rc<[KeyPayload]>,
    },
    /// What has become of each of them: why it was not taken, if it was not.
    KeysTaken {
        number: u64,
        refusals: Vec<Option<ErrorReply>>,
    },
}

/// What a node thinks of a third one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gossip {
    pub(crate) node: NodeId,
    /// It has not answered for too long, or a majority has given up on it.
    pub(crate) down: bool,
    /// When it answered last, in milliseconds of the sender's wall clock.
    pub(crate) heard: i64,
}

/// A key on its way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyPayload {
    pub(super) key: Bytes,
    pub(super) data: Data,
    /// What is left of its time, in milliseconds; `None` if it does not expire.
    pub(super) left: Option<i64>,
}

impl BusMessage {
    /// Its sender.
    pub fn from(&self) -> NodeId {
        self.header.from
    }

    /// Whether it is about keys on their way, which go over connections of their own: it is no sign of life.
    pub(super) fn is_about_keys(&self) -> bool {
        matches!(self.body, Body::Keys { .. } | Body::KeysTaken { .. })
    }
}
