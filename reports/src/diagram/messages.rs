//! Messages as arrows: where each was sent, and where it arrived or was lost.

use std::collections::BTreeMap;

use picklock_checker::VirtualTime;

use super::traffic::{MessageEvent, MessageState};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The lane from which it comes.
    pub from: usize,
    /// The lane to which it goes.
    pub to: usize,
    /// When it is sent.
    pub sent: VirtualTime,
    /// When it arrives or is lost; when it was sent if nobody knows.
    pub ends: VirtualTime,
    /// It never arrives.
    pub lost: bool,
    /// What kind it is.
    pub kind: ArrowKind,
    /// What it says.
    pub text: String,
    /// So many events of the history came before it was sent.
    pub after: usize,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowKind {
    /// From a client to a server.
    Request,
    /// The answer of a server to a client.
    Answer,
    /// Unasked, from a server to a client: a watch that fired, a message of a channel.
    Notification,
    /// From a server to another.
    BetweenServers,
    /// A write to the resource.
    Write,
}

/// Two ends of a link, and the connection.
type Way<'m> = (&'m str, &'m str, Option<u32>);

/// The messages among these, from the lanes of these names; and what happened that is no message, with its lane.
pub(super) fn arrows(
    messages: &[MessageEvent],
    lane: &dyn Fn(&str) -> Option<usize>,
) -> (Vec<Arrow>, Vec<(usize, usize)>) {
    let mut arrows: Vec<Arrow> = Vec::new();
    // The whole text of each, by which its end is found.
    let mut texts: Vec<&str> = Vec::new();
    let mut notices = Vec::new();
    let mut under_way: BTreeMap<Way<'_>, Vec<usize>> = BTreeMap::new();
    for (index, message) in messages.iter().enumerate() {
        let (from, to) = (lane(&message.from), lane(&message.to));
        if let MessageState::Notice(_) = message.state {
            notices.extend(from.or(to).map(|lane| (lane, index)));
            continue;
        }
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        let way = (
            message.from.as_str(),
            message.to.as_str(),
            message.connection,
        );
        let open = under_way.entry(way).or_default();
        let sent = open.iter().position(|&arrow| texts[arrow] == message.text);
        match (message.state, sent) {
            (MessageState::Received | MessageState::Lost, Some(sent)) => {
                let arrow = &mut arrows[open.remove(sent)];
                arrow.ends = message.at;
                arrow.lost = message.state == MessageState::Lost;
            }
            (state, _) => {
                if state == MessageState::Sent {
                    open.push(arrows.len());
                }
                texts.push(&message.text);
                arrows.push(Arrow {
                    from,
                    to,
                    sent: message.at,
                    ends: message.at,
                    // Of what is still under way, nobody has heard.
                    lost: state != MessageState::Received,
                    kind: kind(message),
                    text: beginning(&message.text),
                    after: message.after,
                });
            }
        }
    }
    (arrows, notices)
}

/// So many letters of a message are shown.
pub(super) const TEXT: usize = 160;

/// As much of a text as is shown.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn kind(message: &MessageEvent) -> ArrowKind {
    let is_client = |name: &str| {
        ["contender-", "process-", "bystander-", "operator"]
            .iter()
            .any(|it| name.starts_with(it))
    };
    let pushed = ["event ", "[\"message\"", ">message"];
    if message.between_servers {
        ArrowKind::BetweenServers
    } else if is_client(&message.from) {
        ArrowKind::Request
    } else if pushed.iter().any(|it| message.text.starts_with(it)) {
        ArrowKind::Notification
    } else {
        ArrowKind::Answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(at: u64, state: MessageState, text: &str) -> MessageEvent {
        MessageEvent {
            at: VirtualTime::from_micros(at),
            after: 0,
            from: "contender-1".to_owned(),
            to: "server-1".to_owned(),
            connection: Some(1),
            state,
            between_servers: false,
            text: text.to_owned(),
        }
    }

    fn lane(name: &str) -> Option<usize> {
        ["contender-1", "server-1"]
            .iter()
            .position(|it| *it == name)
    }

    #[test]
    fn each_message_ends_where_it_is_received_or_lost() {
        use MessageState::{Lost, Received, Sent};
        let messages = [
            message(1, Sent, "a"),
            message(2, Sent, "b"),
            message(3, Sent, "a"),
            message(5, Lost, "b"),
            message(6, Received, "a"),
        ];
        let (arrows, _) = arrows(&messages, &lane);
        let ends = arrows
            .iter()
            .map(|it| (it.text.as_str(), it.ends.micros(), it.lost));
        assert_eq!(
            ends.collect::<Vec<_>>(),
            [("a", 6, false), ("b", 5, true), ("a", 3, true)]
        );
    }

    #[test]
    fn what_an_end_learns_is_no_message() {
        let (arrows, notices) = arrows(&[message(1, MessageState::Notice("closed"), "")], &lane);
        assert_eq!((arrows.len(), notices), (0, vec![(0, 0)]));
    }
}
