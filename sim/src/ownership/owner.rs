//! An owner of a lock, and what becomes of it that its claim does not show.

use picklock_checker::{ContenderId, Mode, NameId, Token};

use super::Ownership;

#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub by: ContenderId,
    pub mode: Mode,
    pub token: Token,
    pub name: NameId,
    /// Whether its process has died since.
    pub is_dead: bool,
    /// The contender that has been sent the name of the owner, and may give the hold back.
    pub restored_by: Option<ContenderId>,
}

impl Owner {
    pub fn exclusive(by: ContenderId, token: Token, name: NameId) -> Self {
        let mode = Mode::Exclusive;
        Self {
            by,
            mode,
            token,
            name,
            is_dead: false,
            restored_by: None,
        }
    }
}

impl Ownership {
    /// The process of a contender dies.
    pub fn dies(&mut self, by: ContenderId) {
        let owned = self.owners.iter_mut().filter(|owner| owner.by == by);
        owned.for_each(|owner| owner.is_dead = true);
    }

    /// A contender sends another the name of the owner.
    pub fn sends_owner(&mut self, by: ContenderId, to: ContenderId) {
        let owned = self.owners.iter_mut().filter(|owner| owner.by == by);
        owned.for_each(|owner| owner.restored_by = Some(to));
    }
}
