//! What a client tells its server without asking for anything.

use picklock_zookeeper::messages::{ClientMessage, WatchTables};

use super::Driver;
use crate::backend::Side;
use crate::step::Step;

impl<S: Side> Driver<S> {
    /// The message that a step sends; a ping if it sends none of these.
    pub(super) fn told(&self, step: &Step) -> ClientMessage {
        match step {
            Step::Watch {
                wire,
                answers_ago,
                data,
                exist,
                child,
                persistent,
                recursive,
            } => {
                let zxids = &self.wires[wire.0].zxids;
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
            Step::Say { scheme, secret, .. } => ClientMessage::Authenticate {
                scheme: (*scheme).into(),
                secret: secret.as_bytes().into(),
            },
            Step::Open { .. }
            | Step::LeaveAlone { .. }
            | Step::Resume(_)
            | Step::Ask { .. }
            | Step::Close { .. }
            | Step::Silence { .. }
            | Step::KillLeader
            | Step::KillFollower
            | Step::Return => ClientMessage::Ping,
        }
    }
}
