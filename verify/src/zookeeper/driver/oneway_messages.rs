//! Messages of a client that have no reply.

use picklock_zookeeper::messages::{ClientMessage, WatchTables};

use super::Driver;
use crate::zookeeper::backend::EnsembleBackend;
use crate::zookeeper::step::Step;

impl<B: EnsembleBackend> Driver<B> {
    /// The message that a step sends; a ping if it sends none of these.
    pub(super) fn oneway_message(&self, step: &Step) -> ClientMessage {
        match step {
            Step::SetWatches {
                client,
                answers_ago,
                data,
                exist,
                child,
                persistent,
                recursive,
            } => {
                let zxids = &self.clients[client.0].zxids;
                let since = zxids.iter().rev().nth(*answers_ago).copied();
                ClientMessage::SetWatches(Box::new(WatchTables {
                    relative_zxid: since.unwrap_or_default(),
                    data: data.clone(),
                    exist: exist.clone(),
                    child: child.clone(),
                    persistent: persistent.clone(),
                    recursive: recursive.clone(),
                }))
            }
            Step::Authenticate { scheme, secret, .. } => ClientMessage::Authenticate {
                scheme: (*scheme).into(),
                secret: secret.as_bytes().into(),
            },
            _ => ClientMessage::Ping,
        }
    }
}
