//! A lock that names its nodes by its session.

use picklock::algorithms::clients::zookeeper::{Path, ZooKeeper, until_answered};
use picklock::algorithms::zookeeper::queue::{
    Ticket, delete_own, if_there, make_ticket_with_guid, predecessor, session_lost,
};
use picklock::algorithms::{Held, Lock, LockError, Recipe, async_trait};
use picklock::{Harness, Standing};

struct NamedBySession {
    zk: ZooKeeper,
    lock: Path,
}

impl NamedBySession {
    /// It finds its node by the session's id, as Curator finds its own by a guid.
    async fn ticket(&self) -> Result<Ticket, LockError> {
        let session = self.zk.session().0;
        assert_ne!(session, 0, "there is a session when `acquire` is called");
        let name = format!("{session:016x}");
        Ok(make_ticket_with_guid(&self.zk, &self.lock, &name).await?)
    }
}

#[async_trait(?Send)]
impl Lock for NamedBySession {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let ticket = self.ticket().await?;
        loop {
            let queue = until_answered(|| self.zk.children(&self.lock)).await?;
            let Some(ahead) = predecessor(queue, &self.lock, &ticket)? else {
                return Ok(Held::at(ticket.path).with_token(ticket.czxid.0));
            };
            let watch = until_answered(|| self.zk.exists_and_watch(&ahead)).await?;
            if let Some(gone) = if_there(watch) {
                gone.next().await;
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        delete_own(&self.zk, &held.path_or_key).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}

#[test]
fn a_lock_that_names_its_nodes_by_its_session_is_not_blamed() {
    let recipe = Recipe::over_zookeeper("named-by-session", |zk, _env, lock| {
        Box::new(NamedBySession { zk, lock })
    });
    let harness = Harness::new().with_recipe(recipe).with_seeds(0..50);
    for arrive in ["together", "in-order", "behind-holder"] {
        let text = format!(
            "[workload]\nrounds = 2\narrive = \"{arrive}\"\n\
             [[fault]]\nwhen.sent = {{ by = \"contender-2\", request = \"create\" }}\n\
             inject.cut = {{ target = \"contender-2\" }}\n\
             [[case]]\nalgorithm = \"named-by-session\"\n"
        );
        let report = harness.check(&text).expect("the text has no mistakes");
        assert_eq!(report.standing(), Standing::Holds, "{report}");
    }
}
