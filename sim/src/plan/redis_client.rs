//! The client libraries of Redis by name: how each connects again, sends commands again, and finds the primary.

use std::time::Duration;

use super::{ConnectionMode, Deployment, SwitchMaster};

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
    resend: bool,
    close_on_timeout: bool,
    poll: Option<Duration>,
    switch_master: SwitchMaster,
    connections: ConnectionMode,
    event_loop: bool,
}

/// What stands for the time-out of a library that has none: its kernel gives a connection up long before.
const NO_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Every library.
pub static REDIS_LIBRARIES: [RedisLibrary; 6] = [
    RedisLibrary {
        name: "lettuce",
        meaning: "One connection for all commands. A command that is unanswered when it breaks, or comes before the \
                  next one, is sent by the next one, until its timeout is over.",
        source: "Lettuce 6.8: RedisURI (DEFAULT_TIMEOUT), SocketOptions (DEFAULT_CONNECT_TIMEOUT), ClientOptions \
                 (DEFAULT_AUTO_RECONNECT, DEFAULT_TIMEOUT_OPTIONS), ConnectionWatchdog (scheduleReconnect), \
                 DefaultClientResources (DEFAULT_RECONNECT_DELAY), ExponentialDelay (createDelay), RedisClient \
                 (getSocketAddress: lookupRedis, at each connect)",
        timeout: Duration::from_secs(60),
        connect_timeout: Duration::from_secs(10),
        retries: 0,
        retry_pause: Duration::from_millis(1),
        retry_pause_max: Some(Duration::from_secs(30)),
        replay: true,
        resend: true,
        close_on_timeout: false,
        poll: None,
        switch_master: SwitchMaster::Nowhere,
        connections: ConnectionMode::Multiplexed,
        event_loop: true,
    },
    RedisLibrary {
        name: "jedis",
        meaning: "A pool of 8 connections. Nothing is sent again: a command fails with its \
                  connection, or if there is none.",
        source: "Jedis 5.2: Protocol (DEFAULT_TIMEOUT), DefaultJedisClientConfig (connectionTimeoutMillis, \
                 socketTimeoutMillis), DefaultCommandExecutor (executeCommand), ConnectionPoolConfig over \
                 commons-pool2's GenericObjectPoolConfig (DEFAULT_MAX_TOTAL), SentineledConnectionProvider \
                 (SentinelListener, DEFAULT_SUBSCRIBE_RETRY_WAIT_TIME_MILLIS), Connection \
                 (readProtocolWithCheckingBroken)",
        timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(2),
        retries: 0,
        retry_pause: Duration::ZERO,
        retry_pause_max: None,
        replay: false,
        resend: true,
        close_on_timeout: true,
        poll: None,
        switch_master: SwitchMaster::Every,
        connections: ConnectionMode::Pool(8),
        event_loop: false,
    },
    RedisLibrary {
        name: "redis-py",
        meaning: "A pool of connections. After a broken connection or a late answer, any command is sent again by a \
                  new connection, 10 times.",
        source: "redis-py 8.1: redis/_defaults.py, redis/retry.py, redis/backoff.py (ExponentialWithJitterBackoff), \
                 redis/sentinel.py (SentinelManagedConnection.connect), redis/connection.py (read_response)",
        timeout: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(5),
        retries: 10,
        retry_pause: Duration::from_millis(10),
        retry_pause_max: Some(Duration::from_secs(1)),
        replay: false,
        resend: true,
        close_on_timeout: true,
        poll: None,
        switch_master: SwitchMaster::Nowhere,
        connections: ConnectionMode::Pool(100),
        event_loop: false,
    },
    RedisLibrary {
        name: "go-redis",
        meaning: "A pool of 10 connections. After a broken connection or a late answer, any command is sent again by \
                  another connection, 3 times.",
        source: "go-redis 9: options.go (MaxRetries, MinRetryBackoff, MaxRetryBackoff, PoolSize), redis.go, error.go \
                 (shouldRetry, isBadConn), sentinel.go (masterReplicaDialer, sentinelFailover.listen)",
        timeout: Duration::from_secs(3),
        connect_timeout: Duration::from_secs(5),
        retries: 3,
        retry_pause: Duration::from_millis(8),
        retry_pause_max: Some(Duration::from_millis(512)),
        replay: false,
        resend: true,
        close_on_timeout: true,
        poll: None,
        switch_master: SwitchMaster::One,
        connections: ConnectionMode::Pool(10),
        event_loop: false,
    },
    RedisLibrary {
        name: "ioredis",
        meaning: "One connection for all commands, and no time-out for them. A command that is unanswered when it \
                  breaks, or comes before the next one, is sent by the next one, 20 times.",
        source: "ioredis 5: lib/redis/RedisOptions.ts (DEFAULT_REDIS_OPTIONS: connectTimeout, retryStrategy, \
                 maxRetriesPerRequest, autoResendUnfulfilledCommands, failoverDetector), lib/Command.ts (setTimeout), \
                 lib/connectors/SentinelConnector",
        timeout: NO_TIMEOUT,
        connect_timeout: Duration::from_secs(10),
        retries: 20,
        retry_pause: Duration::from_millis(50),
        retry_pause_max: Some(Duration::from_secs(2)),
        replay: false,
        resend: true,
        close_on_timeout: false,
        poll: None,
        switch_master: SwitchMaster::Nowhere,
        connections: ConnectionMode::Multiplexed,
        event_loop: true,
    },
    RedisLibrary {
        name: "redisson",
        meaning: "A pool of 64 connections. A lock's script that gets no connection is tried again, 4 times; one that \
                  was sent fails with its connection. Sentinels are asked each second who the primary is.",
        source: "Redisson 4: BaseConfig (timeout, connectTimeout, retryAttempts, retryDelay), \
                 BaseMasterSlaveServersConfig (masterConnectionPoolSize), SentinelServersConfig (scanInterval), \
                 RedisExecutor (isResendAllowed), SentinelConnectionManager",
        timeout: Duration::from_secs(3),
        connect_timeout: Duration::from_secs(10),
        retries: 4,
        retry_pause: Duration::from_secs(1),
        retry_pause_max: Some(Duration::from_secs(2)),
        replay: false,
        resend: false,
        close_on_timeout: false,
        poll: Some(Duration::from_secs(1)),
        switch_master: SwitchMaster::Nowhere,
        connections: ConnectionMode::Pool(64),
        event_loop: true,
    },
];

impl RedisLibrary {
    /// The library of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        REDIS_LIBRARIES.iter().find(|library| library.name == name)
    }

    /// Whether all its connections are read in an event loop, and none by the thread that waits for its answer.
    pub fn has_event_loop(&self) -> bool {
        self.event_loop
    }

    /// Sets the clients of a deployment as this library is.
    pub fn set(&self, deployment: &mut Deployment) {
        deployment.timeout = self.timeout;
        deployment.connect_timeout = self.connect_timeout;
        deployment.retries = self.retries;
        deployment.retry_pause = self.retry_pause;
        deployment.retry_pause_max = self.retry_pause_max;
        deployment.replay = self.replay;
        deployment.resend = self.resend;
        deployment.close_on_timeout = Some(self.close_on_timeout);
        if deployment.sentinels.is_some() {
            deployment.poll = self.poll;
            deployment.switch_master = self.switch_master;
        }
        deployment.connections = self.connections;
    }
}
