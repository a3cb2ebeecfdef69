//! Which server was started, as it says itself.

use std::fmt;

use picklock_redis::ServerVersion;

use crate::harness::error::{Result, VerifyError};

/// A server that was started, and the version of the model that it is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    server: &'static str,
    version: String,
    pub(crate) model: ServerVersion,
}

/// `redis 7.0.15, compared with the model of redis-7.0`
impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server,
            version,
            model,
        } = self;
        let model = model.name();
        write!(
            out,
            "{server} {version}, compared with the model of {model}"
        )
    }
}

impl Found {
    /// Reads what `INFO server` answers. Valkey also tells which version of Redis it follows.
    pub(super) fn read(info: &str) -> Result<Self> {
        let field = |name: &str| {
            info.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        };
        let (server, version) = match field("valkey_version") {
            Some(version) => ("valkey", version),
            None => ("redis", field("redis_version").unwrap_or_default()),
        };
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
        let release = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        match ServerVersion::followed_by(server, release) {
            Some(model) => Ok(Self {
                server,
                version: version.to_owned(),
                model,
            }),
            None => Err(VerifyError::TooOld {
                server: format!("{server} {version}"),
                oldest: "Redis 7.0",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_compared_with_the_model_of_its_version() {
        let found = |info: &str| Found::read(info).map(|found| found.to_string());
        let redis = found("# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n");
        let expected = "redis 7.0.15, compared with the model of redis-7.0";
        assert_eq!(redis.ok().as_deref(), Some(expected));
        let valkey = found("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.0.1\r\n");
        let expected = "valkey 9.0.1, compared with the model of valkey-9.0";
        assert_eq!(valkey.ok().as_deref(), Some(expected));
        let old = found("redis_version:6.0.16\r\n").map_err(|error| error.to_string());
        let expected = "redis 6.0.16 is older than Redis 7.0, the oldest server that is modelled";
        assert_eq!(old.err().as_deref(), Some(expected));
    }
}
