//! Messages as arrows: where each was sent, and where it arrived or was lost.

use std::collections::BTreeMap;

use picklock_checker::VirtualTime;

use super::range::Part;
use super::traffic::{MessageEvent, MessageState, TEXT};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The lane from which it comes.
    pub from: usize,
    /// The lane to which it goes.
    pub to: usize,
    /// When it is sent; where the diagram begins, if it was sent before.
    pub sent: VirtualTime,
    /// When it arrives or is lost; where the diagram ends, if it is under way there.
    pub ends: VirtualTime,
    /// It was sent before the diagram begins.
    pub comes_in: bool,
    /// What becomes of it.
    pub end: ArrowEnd,
    /// What kind it is.
    pub kind: ArrowKind,
    /// What it says.
    pub text: String,
    /// So many events of the history came before it was sent.
    pub after: usize,
}

/// What becomes of a message, as far as a diagram shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowEnd {
    /// It arrives.
    Arrives,
    /// It is lost on its way.
    Lost,
    /// It is still under way where the diagram ends.
    UnderWay,
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

/// The messages that are sent or end in a part of a run, from the lanes of these names; and what happened that is no
/// message, with its lane.
///
/// Sends and ends are paired first: what ends outside of the part is no less sent, and the other way round.
pub(super) fn arrows(
    messages: &[MessageEvent],
    part: &Part,
    lane: &dyn Fn(&str) -> Option<usize>,
) -> (Vec<Arrow>, Vec<(usize, usize)>) {
    let (mut arrows, notices) = paired(messages, part.between_servers, lane);
    arrows.retain_mut(|arrow| arrow.cut(part));
    (arrows, notices)
}

/// All messages, each with its end. What has none is still under way when the run ends.
fn paired(
    messages: &[MessageEvent],
    between_servers: bool,
    lane: &dyn Fn(&str) -> Option<usize>,
) -> (Vec<Arrow>, Vec<(usize, usize)>) {
    let mut arrows: Vec<Arrow> = Vec::new();
    // The whole text of each, by which its end is found.
    let mut texts: Vec<&str> = Vec::new();
    let mut notices = Vec::new();
    let mut under_way: BTreeMap<Way<'_>, Vec<usize>> = BTreeMap::new();
    for (index, message) in messages.iter().enumerate() {
        if message.between_servers && !between_servers {
            continue;
        }
        let (from, to) = (lane(&message.from), lane(&message.to));
        let end = match message.state {
            MessageState::Notice(_) => {
                notices.extend(from.or(to).map(|lane| (lane, index)));
                continue;
            }
            MessageState::Sent => ArrowEnd::UnderWay,
            MessageState::Received => ArrowEnd::Arrives,
            MessageState::Lost => ArrowEnd::Lost,
        };
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
        match (end, sent) {
            (ArrowEnd::Arrives | ArrowEnd::Lost, Some(sent)) => {
                let arrow = &mut arrows[open.remove(sent)];
                (arrow.ends, arrow.end) = (message.at, end);
            }
            (ArrowEnd::Arrives | ArrowEnd::Lost | ArrowEnd::UnderWay, _) => {
                if end == ArrowEnd::UnderWay {
                    open.push(arrows.len());
                }
                texts.push(&message.text);
                arrows.push(Arrow {
                    from,
                    to,
                    sent: message.at,
                    ends: message.at,
                    comes_in: false,
                    end,
                    kind: kind(message),
                    text: beginning(&message.text),
                    after: message.after,
                });
            }
        }
    }
    (arrows, notices)
}

impl Arrow {
    /// Cuts the message to the part. Whether it is sent or ends there.
    pub(super) fn cut(&mut self, part: &Part) -> bool {
        let ends = self.end != ArrowEnd::UnderWay && part.has(self.ends);
        if !ends && !part.has(self.sent) {
            return false;
        }
        if !ends {
            (self.ends, self.end) = (part.until, ArrowEnd::UnderWay);
        }
        self.comes_in = self.sent < part.from;
        self.sent = self.sent.max(part.from);
        true
    }
}

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
            .any(|kind| name.starts_with(kind))
    };
    let pushed = ["event ", "[\"message\"", ">message"];
    if message.between_servers {
        ArrowKind::BetweenServers
    } else if is_client(&message.from) {
        ArrowKind::Request
    } else if pushed.iter().any(|start| message.text.starts_with(start)) {
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
            .position(|lane| *lane == name)
    }

    /// A part of a run, from when until when.
    fn part(from: u64, until: u64) -> Part {
        Part {
            events: 0..0,
            from: VirtualTime::from_micros(from),
            until: VirtualTime::from_micros(until),
            between_servers: true,
            notes: Vec::new(),
        }
    }

    /// What becomes of these messages in a part: text, sent, ends, and how.
    fn ends(messages: &[MessageEvent], part: &Part) -> Vec<(String, u64, u64, ArrowEnd)> {
        let (arrows, _) = arrows(messages, part, &lane);
        let ends = arrows.into_iter();
        let ends = ends.map(|arrow| {
            (
                arrow.text,
                arrow.sent.micros(),
                arrow.ends.micros(),
                arrow.end,
            )
        });
        ends.collect()
    }

    fn of(text: &str, sent: u64, ends: u64, end: ArrowEnd) -> (String, u64, u64, ArrowEnd) {
        (text.to_owned(), sent, ends, end)
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
        assert_eq!(
            ends(&messages, &part(0, 9)),
            [
                of("a", 1, 6, ArrowEnd::Arrives),
                of("b", 2, 5, ArrowEnd::Lost),
                of("a", 3, 9, ArrowEnd::UnderWay),
            ]
        );
    }

    #[test]
    fn what_is_under_way_at_an_edge_is_not_lost() {
        use MessageState::{Lost, Received, Sent};
        let messages = [
            message(1, Sent, "before"),
            message(2, Received, "before"),
            message(3, Sent, "comes in"),
            message(6, Received, "comes in"),
            message(7, Sent, "goes out"),
            message(8, Sent, "is lost outside"),
            message(12, Received, "goes out"),
            message(13, Lost, "is lost outside"),
        ];
        let part = part(5, 10);
        assert_eq!(
            ends(&messages, &part),
            [
                of("comes in", 5, 6, ArrowEnd::Arrives),
                of("goes out", 7, 10, ArrowEnd::UnderWay),
                of("is lost outside", 8, 10, ArrowEnd::UnderWay),
            ]
        );
        let (arrows, _) = arrows(&messages, &part, &lane);
        let come_in: Vec<bool> = arrows.iter().map(|arrow| arrow.comes_in).collect();
        assert_eq!(come_in, [true, false, false]);
    }

    #[test]
    fn what_an_end_learns_is_no_message() {
        let messages = [message(1, MessageState::Notice("closed"), "")];
        let (arrows, notices) = arrows(&messages, &part(0, 9), &lane);
        assert_eq!((arrows.len(), notices), (0, vec![(0, 0)]));
    }
}
