//! One of several: a bare name (`"together"`), or a name and what belongs to it (`{ within = "2s"
//! }`).

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use super::reader::{Fields, Item, Mistake, Mistakes, Zero, expected};

/// What was chosen, and what belongs to it.
pub(super) struct Chosen<'a, T> {
    /// The choice.
    pub(super) kind: T,
    /// Its name.
    pub(super) name: &'static str,
    /// Where the name stands.
    pub(super) span: Range<usize>,
    body: Option<Item<'a>>,
}

impl<'a, T> Chosen<'a, T> {
    /// The fields that belong to the choice.
    pub(super) fn fields(&self, mistakes: &mut Mistakes) -> Option<Fields<'a>> {
        match &self.body {
            Some(body) => body.table("a table of fields, as in `{ key = value }`", mistakes),
            None => Some(Fields::none(self.span.clone())),
        }
    }

    /// The duration that belongs to the choice.
    pub(super) fn duration(&self, zero: Zero, mistakes: &mut Mistakes) -> Option<Duration> {
        match &self.body {
            Some(body) => body.duration(zero, mistakes),
            None => {
                let name = self.name;
                let mistake = Mistake::new(format!("`{name}` needs a duration"));
                mistakes.add(
                    self.span.clone(),
                    mistake.help(format!("write {{ {name} = \"2s\" }}")),
                );
                None
            }
        }
    }

    /// The whole number that belongs to the choice.
    pub(super) fn integer(
        &self,
        within: RangeInclusive<i64>,
        mistakes: &mut Mistakes,
    ) -> Option<i64> {
        match &self.body {
            Some(body) => body.integer(within, mistakes),
            None => {
                let name = self.name;
                let mistake = Mistake::new(format!("`{name}` needs a number"));
                let help = format!("write {{ {name} = {} }}", within.start());
                mistakes.add(self.span.clone(), mistake.help(help));
                None
            }
        }
    }

    /// Reports what belongs to the choice if nothing should.
    pub(super) fn bare(&self, mistakes: &mut Mistakes) {
        if let Some(fields) = self.fields(mistakes) {
            fields.finish(mistakes);
        }
    }
}

/// Reads a choice between `choices`, which are each a `what`.
pub(super) fn choose<'a, T: Copy>(
    item: &Item<'a>,
    what: &str,
    choices: &[(&'static str, T)],
    mistakes: &mut Mistakes,
) -> Option<Chosen<'a, T>> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let (name, span, body) = match item.as_text() {
        Some(text) => (text, item.span.clone(), None),
        None => {
            let wanted = format!("the name of a {what}, or a table with that name as its key");
            let entries = item.table(&wanted, mistakes)?.entries();
            match entries.as_slice() {
                [(name, span, body)] => (*name, span.clone(), Some(body.clone())),
                [] => {
                    let mistake = Mistake::new(format!("there is no {what} here"));
                    mistakes.add(item.span.clone(), mistake.help(expected(&names)));
                    return None;
                }
                [_, (_, second, _), ..] => {
                    let mistake = Mistake::new(format!("only one {what} can stand here"));
                    mistakes.add(second.clone(), mistake.label("this is one too many"));
                    return None;
                }
            }
        }
    };
    match choices.iter().find(|(known, _)| *known == name) {
        Some((name, kind)) => Some(Chosen {
            kind: *kind,
            name,
            span,
            body,
        }),
        None => {
            mistakes.add(span, Mistake::unknown(what, name, &names));
            None
        }
    }
}
