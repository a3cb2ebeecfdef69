//! What commands have changed, as the commands that replicas and the log are told.

use picklock_clients::redis::Command;

/// What commands have changed, as the commands that replicas and the log are told.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    /// Changes so far.
    pub(crate) dirty: u64,
    /// The database in which it is done.
    pub(crate) selected: u8,
    /// Whether changes are to be propagated.
    pub(crate) wanted: bool,
    /// The command to propagate instead of the one that is being run.
    pub(crate) instead: Option<Command>,
    /// What the command, transaction, or script that is being run has come to so far.
    unit: Vec<Told>,
    /// The commands to propagate.
    told: Vec<Told>,
}

/// A propagated command, and the database that it is meant for; none if that does not matter.
pub(crate) type Told = (Option<u8>, Command);

impl Effects {
    pub(crate) fn new() -> Self {
        Self {
            dirty: 0,
            selected: 0,
            wanted: false,
            instead: None,
            unit: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Adds a command to the propagated unit. It does not count as a change of the command that has come upon it.
    pub(crate) fn add_with(&mut self, command: impl FnOnce() -> Command) {
        if self.wanted {
            self.unit.push((Some(self.selected), command()));
        }
    }

    /// Adds a message that was published.
    pub(crate) fn message(&mut self, command: &Command) {
        if self.wanted {
            self.unit.push((Some(self.selected), command.clone()));
        }
    }

    /// Notes that a command has been run, which had found so many changes before it.
    pub(crate) fn ran(&mut self, dirty_before: u64, command: &Command) {
        if !self.wanted {
            return;
        }
        let instead = self.instead.take();
        if self.dirty > dirty_before {
            let told = instead.unwrap_or_else(|| command.clone());
            self.unit.push((Some(self.selected), told));
        }
    }

    /// Ends the unit: what it has come to is told, as a transaction if it is more than one command.
    #[inline]
    pub(crate) fn flush(&mut self) {
        if !self.unit.is_empty() {
            self.end_unit();
        }
    }

    fn end_unit(&mut self) {
        match self.unit.len() {
            1 => self.told.append(&mut self.unit),
            _ => {
                // The first database is named before it, and others in the middle.
                let first = self.unit.first().and_then(|(db, _)| *db);
                self.told.push((first, Command::new("MULTI")));
                self.told.append(&mut self.unit);
                self.told.push((None, Command::new("EXEC")));
            }
        }
    }

    /// Whether commands wait to be propagated.
    pub(crate) fn has_pending(&self) -> bool {
        !self.told.is_empty()
    }

    /// What is to be told, once.
    pub(crate) fn take(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }
}
