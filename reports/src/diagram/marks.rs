//! What happens at a moment, as marks in the lanes.

use picklock_checker::outcome::Story;
use picklock_checker::{ContenderId, EventKind, ServiceEvent, VirtualTime, Vocabulary};

use super::range::Part;
use super::traffic::{MessageEvent, MessageState, Traffic};
use crate::style::{Glyphs, Style};
use crate::timeline::{Names, Scene, is_in_history, notes, of_service};

/// Something that happens at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// In which lane; none, if it concerns all.
    pub lane: Option<usize>,
    /// When.
    pub at: VirtualTime,
    /// So many events of the history came before it.
    pub after: usize,
    /// Its place in the history, if it is an event of that.
    pub event: Option<usize>,
    /// Of the marks, which it depends on directly.
    pub causes: Vec<usize>,
    /// How much it is needed.
    pub weight: Weight,
    /// The contender that it is about, if it is about one.
    pub about: Option<ContenderId>,
    /// Something ends badly here, or strikes.
    pub bad: bool,
    /// It changes who serves, or what is served.
    pub changes_service: bool,
    /// In a word or two, for beside the mark; empty if that is never needed.
    pub label: String,
    /// In a sentence.
    pub text: String,
}

/// How much a mark is needed to understand the violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It only happens, too.
    Other,
    /// It changes what a contender believes or does.
    Structural,
    /// The explanation shows it.
    Essential,
}

/// Where things have a lane.
pub(super) struct Places<'p> {
    pub(super) contender: &'p dyn Fn(ContenderId) -> Option<usize>,
    pub(super) name: &'p dyn Fn(&str) -> Option<usize>,
}

/// The marks of a part of a run, in the order in which they happened, without their causes.
pub(super) fn marks(story: &Story, scene: &Scene, part: &Part, places: &Places<'_>) -> Vec<Mark> {
    let history = &story.history;
    let maker = Maker {
        story,
        scene,
        places,
        names: Names {
            history,
            columns: &scene.columns,
        },
        glyphs: UNICODE.glyphs(),
    };
    let mut marks = Vec::new();
    let mut service = history.service.iter().enumerate().peekable();
    for index in part.events.clone() {
        while let Some((place, event)) = service.next_if(|(_, event)| event.after <= index) {
            if part.has(event.at) && !is_in_history(history, event) {
                marks.extend(maker.service(place, event));
            }
        }
        marks.extend(maker.event(index));
    }
    for (place, event) in service {
        if part.has(event.at) {
            marks.extend(maker.service(place, event));
        }
    }
    marks
}

const UNICODE: Style = Style::IN_A_FILE;

/// What ends of connections learn, as marks.
pub(super) fn notices(traffic: &Traffic, part: &Part, notices: &[(usize, usize)]) -> Vec<Mark> {
    let marks = notices.iter().filter_map(|&(lane, index)| {
        let message = traffic.messages.get(index)?;
        part.has(message.at).then(|| notice(lane, message))
    });
    marks.collect()
}

fn notice(lane: usize, message: &MessageEvent) -> Mark {
    let word = match message.state {
        MessageState::Notice(word) => word,
        MessageState::Sent | MessageState::Received | MessageState::Lost => "",
    };
    let MessageEvent { from, to, text, .. } = message;
    Mark {
        lane: Some(lane),
        at: message.at,
        after: message.after,
        event: None,
        causes: Vec::new(),
        weight: Weight::Other,
        about: None,
        bad: word != "opened",
        changes_service: false,
        label: String::new(),
        text: format!("{from} to {to}: {word}: {text}"),
    }
}

struct Maker<'m> {
    story: &'m Story,
    scene: &'m Scene,
    places: &'m Places<'m>,
    names: Names<'m>,
    glyphs: &'static Glyphs,
}

impl Maker<'_> {
    fn event(&self, index: usize) -> Option<Mark> {
        let history = &self.story.history;
        let event = history.events.get(index)?;
        let by = event.what.by();
        let lane = match event.what {
            EventKind::ServerChanged { server, .. } => {
                (self.places.name)(&format!("server-{}", server.0 + 1))
            }
            EventKind::Effect { .. } | EventKind::Final { .. } => (self.places.name)("resource"),
            _ => by.and_then(self.places.contender),
        };
        if lane.is_none() && by.is_some() {
            return None;
        }
        let sentence = history.describe(&event.what);
        let about = by.map_or("", |by| history.contender(by));
        let label = sentence.strip_prefix(about).unwrap_or(&sentence);
        let row = event.what.row();
        // Of a lock, the words of the terminal's timeline.
        let label = match (&event.what, history.vocabulary) {
            (EventKind::Acquired { .. }, Vocabulary::Lock) => "enters",
            (EventKind::ReleaseStarted { .. }, Vocabulary::Lock) => "leaves",
            _ => row.label.unwrap_or(label.trim().trim_start_matches("is ")),
        };
        let mut text = sentence.clone();
        for note in notes(&self.names, index, &event.what, self.glyphs) {
            if !text.contains(&note) {
                text.push_str(&format!(" ({note})"));
            }
        }
        let selected = self.scene.selection.events.binary_search(&index).is_ok();
        let weight = match (selected, row.structural) {
            (true, _) => Weight::Essential,
            (false, true) => Weight::Structural,
            (false, false) => Weight::Other,
        };
        Some(Mark {
            lane,
            at: event.at,
            after: index,
            event: Some(index),
            causes: Vec::new(),
            weight,
            about: by,
            bad: row.bad,
            changes_service: matches!(event.what, EventKind::ServerChanged { .. }),
            label: label.to_owned(),
            text,
        })
    }

    fn service(&self, place: usize, event: &ServiceEvent) -> Option<Mark> {
        let lane = (self.places.name)(&event.machine)?;
        let text = of_service(event, &self.names, self.glyphs);
        let row = event.row();
        let selected = self.scene.selection.service.binary_search(&place).is_ok();
        let weight = match (selected, row.changes_the_service) {
            (true, _) => Weight::Essential,
            (false, true) => Weight::Structural,
            (false, false) => Weight::Other,
        };
        Some(Mark {
            lane: Some(lane),
            at: event.at,
            after: event.after,
            event: None,
            causes: Vec::new(),
            weight,
            about: row.about,
            bad: row.bad,
            changes_service: row.changes_the_service,
            label: event.what.short(&|by| self.names.of(by).to_owned()),
            text: text.strip_prefix("service: ").unwrap_or(&text).to_owned(),
        })
    }
}
