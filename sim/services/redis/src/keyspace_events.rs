//! Which keyspace notifications a server sends (`notify-keyspace-events`).
//!
//! They are messages of channels, to clients that are subscribed at this server at that moment: no replica and no other
//! node gets them, and no server keeps them. `expired` is sent when a key is removed, and not when its time is over.

mod notify;

/// Which keyspace notifications a server sends: the classes of events, and the channels that carry them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyspaceEvents(u16);

/// A class of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Generic,
    String,
    List,
    Set,
    Hash,
    Sorted,
    Expired,
    New,
}

/// The letters of the classes that `A` stands for, and of which each is a bit, from the first on.
const ALL: &str = "g$lshzxetd";
/// Key-space channels, key-event channels, and new keys, behind those of the classes.
const OTHERS: &str = "KEn";

const fn bit(index: usize) -> u16 {
    1 << index
}

impl KeyspaceEvents {
    /// The events that these letters stand for.
    ///
    /// # Errors
    ///
    /// A letter that stands for nothing, or for what is not modelled: `m`, the keys that are looked for in vain.
    pub fn parse(letters: &str) -> Result<Self, char> {
        let mut flags = 0;
        for letter in letters.chars() {
            let among = |known: &str| known.chars().position(|other| other == letter);
            flags |= match (among(ALL), among(OTHERS)) {
                (Some(index), _) => bit(index),
                (None, Some(index)) => bit(ALL.len() + index),
                (None, None) if letter == 'A' => bit(ALL.len()) - 1,
                (None, None) => return Err(letter),
            };
        }
        Ok(Self(flags))
    }

    /// The letters, as a server answers them. New keys are not named beside `A`.
    pub fn letters(self) -> String {
        let has = |index: usize| self.0 & bit(index) != 0;
        let all = bit(ALL.len()) - 1;
        let new = ALL.len() + OTHERS.len() - 1;
        let mut letters = String::new();
        if self.0 & all == all {
            letters.push('A');
        } else {
            let named = ALL.chars().enumerate().filter(|(index, _)| has(*index));
            letters.extend(named.map(|(_, letter)| letter));
            letters.extend(has(new).then_some('n'));
        }
        letters.extend(has(ALL.len()).then_some('K'));
        letters.extend(has(ALL.len() + 1).then_some('E'));
        letters
    }

    /// All letters, new keys included: what they are read from again.
    pub fn all_letters(self) -> String {
        let mut letters = self.letters();
        if self.has(Class::New) && !letters.contains('n') {
            letters.push('n');
        }
        letters
    }

    /// Whether no event can be sent: none is meant, or no channel.
    pub fn is_none(self) -> bool {
        let channels = bit(ALL.len()) | bit(ALL.len() + 1);
        self.0 & channels == 0 || self.0 & !channels == 0
    }

    fn has(self, class: Class) -> bool {
        let index = match class {
            Class::Generic => 0,
            Class::String => 1,
            Class::List => 2,
            Class::Set => 3,
            Class::Hash => 4,
            Class::Sorted => 5,
            Class::Expired => 6,
            Class::New => ALL.len() + OTHERS.len() - 1,
        };
        self.0 & bit(index) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_are_answered_as_a_real_server_does() {
        // Measured on 7.0.15.
        for (set, answered) in [("KEA", "AKE"), ("Exg", "gxE"), ("KEAn", "AKE"), ("", "")] {
            let events = KeyspaceEvents::parse(set).expect("letters");
            assert_eq!(events.letters(), answered, "{set}");
        }
        assert_eq!(
            KeyspaceEvents::parse("Enx").map(KeyspaceEvents::letters),
            Ok("xnE".into())
        );
        assert_eq!(KeyspaceEvents::parse("Eq"), Err('q'));
        assert_eq!(KeyspaceEvents::parse("Em"), Err('m'));
    }

    #[test]
    fn without_a_channel_or_a_class_nothing_is_sent() {
        let none = |letters| KeyspaceEvents::parse(letters).expect("letters").is_none();
        assert!(none("") && none("x") && none("KE") && !none("Ex") && !none("Kn"));
    }
}
