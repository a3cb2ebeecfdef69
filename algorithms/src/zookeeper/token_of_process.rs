//! `sequence_token`, except that a process never takes a token that is not higher than its last one: so a lock node
//! that was deleted and made again is to do no harm. It keeps one last token for all of its locks. Must be caught by
//! `zookeeper/one-counter-for-all-locks`: it takes the count of one lock to the next, and the next holder there has a
//! lower token.

use std::cell::Cell;

use async_trait::async_trait;

use super::predecessor_watch::wait_for_turn;
use super::queue::{delete_own, make_ticket_with_guid, session_lost};
use crate::clients::zookeeper::{Path, ZooKeeper};
use crate::{Build, Env, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-token-of-process",
    summary: "The predecessor watch, with the sequence number as fencing token, or the process's last token and one.",
    source: "A repair of zk-sequence-token that comes to mind",
    flaw: Some("the process keeps one last token for all of its locks"),
    build: Build::ZooKeeper(&|zk, env, lock| Box::new(TokenOfProcess { zk, env, lock })),
    ..super::predecessor_watch::RECIPE
};

/// The highest token that the process has had, of any lock.
#[derive(Default)]
struct LastToken(Cell<Option<u64>>);

struct TokenOfProcess {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
}

#[async_trait(?Send)]
impl Lock for TokenOfProcess {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let guid = self.env.guid();
        let ticket = make_ticket_with_guid(&self.zk, &self.lock, &guid).await?;
        wait_for_turn(&self.zk, &self.lock, &ticket).await?;
        let LastToken(last) = &*self.env.process_wide(LastToken::default);
        let least = last.get().map_or(0, |last| last + 1);
        let token = ticket.sequence().max(least);
        last.set(Some(token));
        Ok(Held::at(ticket.path).with_token(token))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
