//! Sends keyspace notifications.

use super::{ALL, Class, KeyspaceEvents, bit};
use crate::db::Core;
use crate::pubsub::Channel;

impl Core {
    /// Sends an event of a key of the selected database to its subscribers.
    #[inline]
    pub(crate) fn notify(&mut self, class: Class, event: &str, key: &[u8]) {
        if self.keyspace_events.has(class) {
            self.send_event(event, key);
        }
    }

    fn send_event(&mut self, event: &str, key: &[u8]) {
        let KeyspaceEvents(flags) = self.keyspace_events;
        let (db, out) = (self.selected, &mut self.out);
        if flags & bit(ALL.len()) != 0 {
            let channel = [format!("__keyspace@{db}__:").as_bytes(), key].concat();
            let subscriptions = &mut self.subscriptions;
            subscriptions.publish(Channel::Named, &channel, event.as_bytes(), out);
        }
        if flags & bit(ALL.len() + 1) != 0 {
            let channel = format!("__keyevent@{db}__:{event}");
            let subscriptions = &mut self.subscriptions;
            subscriptions.publish(Channel::Named, channel.as_bytes(), key, out);
        }
    }
}
