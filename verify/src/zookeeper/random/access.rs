//! Random lists of who may do what, and random claims of identities.

use picklock_clients::zookeeper::{Acl, Identity, Permissions, Permit, Request};

use super::Random;
use crate::zookeeper::step::{Client, Step};

/// What clients say that they are; the last is none of the schemes that there are.
const SAID: [(&str, &str); 8] = [
    ("digest", "alice:a"),
    ("digest", "alice:a"),
    ("digest", "bob:b"),
    ("digest", "bob:wrong"),
    ("digest", "unknown"),
    ("digest", "carol:c:c"),
    ("ip", "10.0.0.1"),
    ("magic", "wand"),
];

/// Who may be in a list: identities that exist or not, and what is no identity.
const WHO: [(&str, &str); 18] = [
    ("world", "anyone"),
    ("world", "anyone"),
    ("auth", ""),
    ("auth", ""),
    ("auth", "alice"),
    ("digest", "alice:AIueg8ag5ALfqeEyKdLnva1Wvi0="),
    ("digest", "alice:AIueg8ag5ALfqeEyKdLnva1Wvi0="),
    ("digest", "dave:AIueg8ag5ALfqeEyKdLnva1Wvi0="),
    ("ip", "127.0.0.1"),
    ("ip", "127.0.0.0/8"),
    ("ip", "10.0.0.0/8"),
    ("ip", "0.0.0.0/0"),
    ("ip", "127.0.0.1/33"),
    ("ip", "localhost"),
    ("digest", "alice"),
    ("digest", "a:b:c"),
    ("world", "unknown"),
    ("magic", "wand"),
];

impl Random {
    /// Mostly every client may do everything: a node that none may touch is not worth asking for long.
    pub(super) fn acl(&mut self) -> Acl {
        if self.percent(85) {
            return Acl::OPEN;
        }
        let lines = self.one_of(&[1, 1, 1, 1, 2, 2, 3, 0]);
        let permits: Vec<Permit> = (0..lines).map(|_| self.permit()).collect();
        Acl::new(permits)
    }

    fn permit(&mut self) -> Permit {
        let (scheme, id) = self.one_of(&WHO);
        let permissions = if self.percent(40) {
            Permissions::ALL
        } else {
            Permissions(self.below(32) as i32)
        };
        Permit {
            permissions,
            who: Identity::new(scheme, id),
        }
    }

    /// A list of its own step: a server checks what comes soon after it against the old list or the new one. The
    /// node that everything is below stays open.
    pub(super) fn set_acl(&mut self, client: Client) -> Step {
        let path = self.path();
        let request = if path == self.paths[0] {
            Request::GetAcl { path }
        } else {
            Request::SetAcl {
                path,
                acl: self.acl(),
                version: self.version(),
            }
        };
        Step::Ask {
            client,
            requests: vec![request],
        }
    }

    pub(super) fn authenticate(&mut self, client: Client) -> Step {
        let (scheme, secret) = self.one_of(&SAID);
        Step::Authenticate {
            client,
            scheme,
            secret,
        }
    }
}
