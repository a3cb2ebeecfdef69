//! The protected resource: a small storage service on a machine of its own.

use picklock_checker::Token;

/// One number per lock, which sections read and write. With fencing on, it refuses a write whose token is lower than
/// one that it has seen, and a write without a token.
///
/// Source: Kleppmann, *How to do distributed locking* (2016), "Making the lock safe with fencing".
#[derive(Clone, Debug)]
pub struct Storage {
    fenced: bool,
    value: i64,
    highest: Option<Token>,
}

/// A write to the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// What it shall hold.
    pub value: i64,
    /// The value that the writer has read before, if it has.
    pub based_on: Option<i64>,
    /// The writer's fencing token.
    pub token: Option<Token>,
}

impl Storage {
    /// A resource that holds this value.
    pub fn new(value: i64, fenced: bool) -> Self {
        Self {
            fenced,
            value,
            highest: None,
        }
    }

    /// What it holds.
    pub fn value(&self) -> i64 {
        self.value
    }

    /// Takes a write or refuses it; answers whether it took it.
    pub fn write(&mut self, write: &Write) -> bool {
        if self.fenced {
            match (write.token, self.highest) {
                (None, _) => return false,
                (Some(token), Some(highest)) if token < highest => return false,
                (Some(token), _) => self.highest = Some(token),
            }
        }
        self.value = write.value;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(token: u64) -> Write {
        Write {
            value: token.cast_signed(),
            based_on: None,
            token: Some(Token(token)),
        }
    }

    #[test]
    fn a_fenced_resource_refuses_an_older_token_and_one_that_is_missing() {
        let mut storage = Storage::new(0, true);
        assert!(storage.write(&write(5)));
        assert!(storage.write(&write(5)), "the same holder may write twice");
        assert!(!storage.write(&write(4)));
        assert!(!storage.write(&Write {
            token: None,
            ..write(0)
        }));
        assert_eq!(storage.value(), 5);
    }

    #[test]
    fn an_unfenced_resource_takes_everything() {
        let mut storage = Storage::new(0, false);
        assert!(storage.write(&write(5)) && storage.write(&write(4)));
        assert_eq!(storage.value(), 4);
    }
}
