//! A session that is renewed in the background.

use std::time::Duration;

use super::{Consul, SessionId};
use crate::StopChannel;
use crate::{Env, select};

/// How long it waits after a renewal that failed.
const RETRY: Duration = Duration::from_secs(1);

/// Why a session is not renewed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewEnd {
    /// The caller has closed its channel, and the session is destroyed if that could be done.
    Stopped,
    /// The servers have answered that there is no such session.
    Expired,
    /// No renewal has been answered for as long as the session lives.
    Failed,
}

/// Renews a session each half of its time to live, and after a failure each second, until the channel is closed; then
/// it destroys the session (`Session.RenewPeriodic`).
pub async fn renew_periodic(
    consul: &Consul,
    env: &Env,
    session: SessionId,
    ttl: Duration,
    done: &StopChannel,
) -> RenewEnd {
    let (mut ttl, mut wait) = (ttl, ttl / 2);
    let mut renewed = env.monotonic();
    loop {
        if env.monotonic().saturating_sub(renewed) > ttl {
            return RenewEnd::Failed;
        }
        let sleep = env.sleep(wait);
        let is_due = async {
            sleep.await;
            true
        };
        let stopped = async {
            done.closed().await;
            false
        };
        if !select(stopped, is_due).await {
            // What cannot be destroyed ends by itself.
            let _ = consul.destroy_session(session).await;
            return RenewEnd::Stopped;
        }
        match consul.renew_session(session).await {
            Ok(Some(granted)) => {
                (ttl, wait, renewed) = (granted, granted / 2, env.monotonic());
            }
            Ok(None) => return RenewEnd::Expired,
            Err(_) => wait = RETRY,
        }
    }
}
