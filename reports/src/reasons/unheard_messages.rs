//! Why no message of a channel woke a contender that waits in vain.

use std::collections::BTreeSet;

use picklock_checker::{ContenderId, EventKind, ServiceEvent, ServiceEventKind, VirtualTime};

use super::Search;

/// A message as one waiter sees it.
struct Message<'a> {
    at: VirtualTime,
    by: Option<ContenderId>,
    machine: &'a str,
    channel: &'a str,
    to: &'a [ContenderId],
    /// Its place among the events of the service.
    index: usize,
}

impl Search<'_> {
    /// A contender that waits for a message that never reached it, or that was never published.
    pub(super) fn unheard(&self) -> Vec<String> {
        let who = self.who().into_iter();
        who.filter_map(|by| self.unheard_by(by)).collect()
    }

    fn unheard_by(&self, waiter: ContenderId) -> Option<String> {
        let since = self.waits(waiter)?;
        let service = &self.history.service;
        let subscribed = service.iter().filter_map(|event| match &event.what {
            ServiceEventKind::Subscribed { by, channel } if *by == waiter => {
                Some((event.at, channel.as_str()))
            }
            _ => None,
        });
        let subscribed: Vec<(VirtualTime, &str)> = subscribed.collect();
        let channels: BTreeSet<&str> = subscribed.iter().map(|(_, channel)| *channel).collect();
        if channels.is_empty() {
            return None;
        }
        let mut latest = service.iter().enumerate().rev().filter_map(message);
        let last = latest.find(|message| message.at >= since && channels.contains(message.channel));
        let Some(last) = last else {
            return self.unpublished(waiter, since, &channels);
        };
        let name = self.name(waiter);
        let why = if last.to.contains(&waiter) {
            match self.lost(waiter, &last) {
                Some(why) => why.to_owned(),
                // It came; but then another had the lock, and no message said that this one is gone.
                None => return self.unpublished(waiter, last.at, &channels),
            }
        } else {
            let on_channel = |subscription: &&(VirtualTime, &str)| subscription.1 == last.channel;
            let before = subscribed.iter().filter(on_channel);
            let mut after = before.clone().filter(|(at, _)| *at > last.at);
            match (after.next(), before.clone().any(|(at, _)| *at <= last.at)) {
                (Some((at, _)), false) => format!("it subscribed only at {at}"),
                (Some((at, _)), true) => {
                    format!("its connection was gone, and it subscribed again only at {at}")
                }
                (None, _) => "its connection was gone".to_owned(),
            }
        };
        let by = match last.by {
            Some(by) => self.name(by),
            None => last.machine.to_owned(),
        };
        Some(format!(
            "the message that {by} published on {} at {} never reached {name}: {why}",
            last.channel, last.at
        ))
    }

    /// Why a message never reached a subscriber, if it did not.
    fn lost(&self, waiter: ContenderId, message: &Message<'_>) -> Option<&'static str> {
        let mut later = self.history.service[message.index..].iter();
        later.find_map(|event| match &event.what {
            ServiceEventKind::MessageLost { to, channel, why }
                if (*to, channel.as_str()) == (waiter, message.channel) =>
            {
                Some(why.describe())
            }
            _ => None,
        })
    }

    /// The lock was given back or has expired while a contender waited, and nothing was published.
    fn unpublished(
        &self,
        waiter: ContenderId,
        since: VirtualTime,
        channels: &BTreeSet<&str>,
    ) -> Option<String> {
        let mut events = self.history.events.iter().rev();
        let ended = events.find(|event| {
            let is_end = matches!(event.what, EventKind::Disowned { .. });
            is_end && event.at > since && event.what.by() != Some(waiter)
        })?;
        let channels: Vec<&str> = channels.iter().copied().collect();
        let (owner, waiter) = (self.name(ended.what.by()?), self.name(waiter));
        Some(format!(
            "{owner} ceased to own the lock at {}, and no message to {waiter} was published then on {}",
            ended.at,
            channels.join(" or ")
        ))
    }
}

fn message((index, event): (usize, &ServiceEvent)) -> Option<Message<'_>> {
    match &event.what {
        ServiceEventKind::Published { by, channel, to } => Some(Message {
            at: event.at,
            by: *by,
            machine: &event.machine,
            channel,
            to,
            index,
        }),
        _ => None,
    }
}
