//! A holder that changes the mode in which it holds a read-write lock: it reads on when it has written, or wants to
//! write what it has read.

use futures_lite::future;
use picklock_algorithms::Held;
use picklock_checker::{ConversionStep, EventKind, Mode, Token};

use super::{Contender, Interrupted, Recorded};
use crate::plan::{ContenderName, Conversion};
use crate::world::SimulatedService;

impl<S: SimulatedService> Contender<S> {
    /// To which mode it converts when its section is done, if it does.
    pub(super) fn conversion(&self) -> Option<Mode> {
        let name = ContenderName(self.id.0);
        match (self.world().plan.workload.conversion_of(name)?, self.mode) {
            (Conversion::Downgrade, Mode::Exclusive) => Some(Mode::Shared),
            (Conversion::Upgrade, Mode::Shared) => Some(Mode::Exclusive),
            (Conversion::Downgrade, Mode::Shared) | (Conversion::Upgrade, Mode::Exclusive) => None,
        }
    }

    /// Acquires the lock in this mode, too, and does another section in it: a writer gives its write back before that,
    /// a reader that has been let in to write afterwards. Answers what is held in the end, and how that has come.
    pub(super) async fn convert(
        &mut self,
        held: Held,
        to: Mode,
    ) -> (Held, Result<(), Interrupted>) {
        let from = self.mode;
        self.converts(to, ConversionStep::Asks).await;
        self.mode = to;
        let result = self.call().await;
        self.world().set_acquiring(self.id, false);
        let Some(Ok(other)) = result else {
            self.mode = from;
            self.converts(to, ConversionStep::Fails).await;
            return (held, Ok(()));
        };
        if to == Mode::Shared {
            let ended = match self.gives_back(held, &other, to).await {
                Ok(()) => self.section_of(&other).await,
                Err(lost) => Err(lost),
            };
            return (other, ended);
        }
        self.believes_instead(&other, to).await;
        let ended = self.section_of(&other).await;
        let given_back = self.gives_back(other, &held, from).await;
        self.mode = from;
        (held, ended.and(given_back))
    }

    /// Gives back what it holds in one mode, and goes on by its hold in another.
    async fn gives_back(
        &mut self,
        held: Held,
        other: &Held,
        mode: Mode,
    ) -> Result<(), Interrupted> {
        self.believes_instead(other, mode).await;
        let lock = self.lock;
        let released = self.locks.of_mut(lock).release(held).await;
        released.map_err(|why| Interrupted { lock, why })
    }

    /// From here on it believes in this hold alone.
    fn believes_instead(&self, held: &Held, mode: Mode) -> Recorded<'_, S> {
        let (by, lock) = (self.id, self.lock);
        self.world().belief_ends(by, lock);
        self.world().belief_begins(by, lock, held);
        self.converts(mode, ConversionStep::Converts)
    }

    /// The section of a hold, until it is done or its contender learns of the loss.
    pub(super) async fn section_of(&self, held: &Held) -> Result<(), Interrupted> {
        let (lock, token) = (self.lock, held.token.map(Token));
        let lost = async {
            let why = self.locks.of(lock).lost(held).await;
            Err(Interrupted { lock, why })
        };
        // A contender that has decided to write when it stood still writes before it hears of anything.
        future::or(self.section(&[(lock, token)]), lost).await
    }

    fn converts(&self, mode: Mode, step: ConversionStep) -> Recorded<'_, S> {
        let (by, lock) = (self.id, self.lock);
        self.record(EventKind::Conversion {
            by,
            lock,
            mode,
            step,
        })
    }
}
