//! A session: a lease that is kept alive (`concurrency.Session`).

use std::rc::Rc;

use super::{Bytes, Client, EtcdResult, KeepAlive, LeaseId};

/// A session of a client: a lease that the library keeps alive until the session is closed.
#[derive(Clone)]
pub struct Session {
    client: Client,
    lease: LeaseId,
    kept: Rc<KeepAlive>,
}

impl Session {
    /// Makes a session with a lease of so many seconds.
    ///
    /// # Errors
    ///
    /// What the grant has failed with.
    pub async fn new(client: &Client, ttl: i64) -> EtcdResult<Self> {
        let (lease, _granted) = client.grant(ttl).await?;
        Ok(Self {
            client: client.clone(),
            lease,
            kept: Rc::new(client.keep_alive(lease)),
        })
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The lease.
    pub fn lease(&self) -> LeaseId {
        self.lease
    }

    /// Whether [`done`](Self::done) is.
    pub fn is_done(&self) -> bool {
        self.kept.has_ended()
    }

    /// Resolves when the library has given the lease up: up to a second after it could have ended, or later.
    pub async fn done(&self) {
        self.kept.ended().await;
    }

    /// Ends the lease, with the keys that go with it.
    ///
    /// # Errors
    ///
    /// What the revocation has failed with: then the lease ends by itself.
    pub async fn close(self) -> EtcdResult<()> {
        let Self {
            client,
            lease,
            kept,
        } = self;
        drop(kept);
        client.revoke(lease).await
    }
}

/// The key of a lease below a prefix, in Go's hexadecimal.
pub fn key_of(prefix: &[u8], LeaseId(lease): LeaseId) -> Bytes {
    let sign = if lease < 0 { "-" } else { "" };
    let hex = format!("{sign}{:x}", lease.unsigned_abs());
    [prefix, hex.as_bytes()].concat().into()
}
