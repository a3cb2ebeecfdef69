//! The client libraries of Redis by name: how each connects again and sends commands again.

use std::time::Duration;

use super::{ConnectionMode, Deployment};

/// A client library of Redis, as it is without any settings of the application.
#[derive(Debug, PartialEq, Eq)]
pub struct RedisLibrary {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What it does with a command whose answer does not come.
    pub meaning: &'static str,
    /// Its version, and the files that say so.
    pub source: &'static str,
    timeout: Duration,
    connect_timeout: Duration,
    retries: u32,
    retry_pause: Duration,
    retry_pause_max: Option<Duration>,
    replay: bool,
    connections: ConnectionMode,
}

/// Every library.
pub static REDIS_LIBRARIES: [RedisLibrary; 4] = [
    RedisLibrary {
        name: "lettuce",
        meaning: "One connection for all commands. Whatever is not answered when it breaks, and whatever comes before \
                  it stands again, is sent by the next one, until its timeout is over.",
        source: "Lettuce 6.8: RedisURI (DEFAULT_TIMEOUT), SocketOptions (DEFAULT_CONNECT_TIMEOUT), ClientOptions \
                 (DEFAULT_AUTO_RECONNECT, DEFAULT_TIMEOUT_OPTIONS), ConnectionWatchdog (scheduleReconnect), \
                 DefaultClientResources (DEFAULT_RECONNECT_DELAY), ExponentialDelay (createDelay)",
        timeout: Duration::from_secs(60),
        connect_timeout: Duration::from_secs(10),
        retries: 0,
        retry_pause: Duration::from_millis(1),
        retry_pause_max: Some(Duration::from_secs(30)),
        replay: true,
        connections: ConnectionMode::Multiplexed,
    },
    RedisLibrary {
        name: "jedis",
        meaning: "A pool of 8 connections. Nothing is sent again: a command fails with its \
                  connection, or if there is none.",
        source: "Jedis 5.2: Protocol (DEFAULT_TIMEOUT), DefaultJedisClientConfig (connectionTimeoutMillis, \
                 socketTimeoutMillis), DefaultCommandExecutor (executeCommand), ConnectionPoolConfig over \
                 commons-pool2's GenericObjectPoolConfig (DEFAULT_MAX_TOTAL)",
        timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(2),
        retries: 0,
        retry_pause: Duration::ZERO,
        retry_pause_max: None,
        replay: false,
        connections: ConnectionMode::Pool(8),
    },
    RedisLibrary {
        name: "redis-py",
        meaning: "A pool of connections. After a broken connection or a late answer, any command is sent again by a \
                  new connection, 10 times.",
        source: "redis-py 8.1: redis/_defaults.py, redis/retry.py, redis/backoff.py (ExponentialWithJitterBackoff)",
        timeout: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(5),
        retries: 10,
        retry_pause: Duration::from_millis(10),
        retry_pause_max: Some(Duration::from_secs(1)),
        replay: false,
        connections: ConnectionMode::Pool(100),
    },
    RedisLibrary {
        name: "go-redis",
        meaning: "A pool of 10 connections. After a broken connection or a late answer, any command is sent again by \
                  another connection, 3 times.",
        source: "go-redis 9: options.go (MaxRetries, MinRetryBackoff, MaxRetryBackoff, PoolSize), redis.go, error.go \
                 (shouldRetry)",
        timeout: Duration::from_secs(3),
        connect_timeout: Duration::from_secs(5),
        retries: 3,
        retry_pause: Duration::from_millis(8),
        retry_pause_max: Some(Duration::from_millis(512)),
        replay: false,
        connections: ConnectionMode::Pool(10),
    },
];

impl RedisLibrary {
    /// Sets the clients of a deployment as this library is.
    pub fn set(&self, deployment: &mut Deployment) {
        deployment.timeout = self.timeout;
        deployment.connect_timeout = self.connect_timeout;
        deployment.retries = self.retries;
        deployment.retry_pause = self.retry_pause;
        deployment.retry_pause_max = self.retry_pause_max;
        deployment.replay = self.replay;
        deployment.connections = self.connections;
    }
}
