//! The keys of `[service.redis]`: those of its settings, and the library that its clients are of.

use picklock_sim::plan::{
    Deployment, Holds, Key, KeyTable, REDIS_LIBRARIES, Sentinels, SettingsGroup, Words,
};

/// [service.redis].
pub(crate) const REDIS: KeyTable = KeyTable {
    title: "[service.redis]",
    about: "The servers, and how their clients are set.",
    keys: &[Deployment::KEYS, Sentinels::KEYS, &[CLIENT]],
};

/// The library that clients are of. It is no setting: it sets others.
const CLIENT: Key = Key {
    of: Some(SettingsGroup::Clients),
    ..Key::new(
        "client",
        Holds::Words(CLIENTS),
        "with `sentinels` that of the recipe, otherwise `\"none\"`",
        "A client library that sets `timeout`, `connect-timeout`, `retries`, `retry-pause`, `retry-pause-max`, \
         `replay`, `resend`, `close-on-timeout`, `poll`, `switch-master`, and `connections` as it has them: \
         `\"lettuce\"`, `\"jedis\"`, `\"redis-py\"`, `\"go-redis\"`, `\"ioredis\"`, or `\"redisson\"` (`picklock list \
         clients`); keys beside it override it; a case may say otherwise; not in a cluster.",
    )
};

/// The libraries, and none.
pub(crate) const CLIENTS: Words = Words {
    what: "client library",
    names: || {
        let libraries = REDIS_LIBRARIES.iter().map(|library| library.name);
        libraries.chain([NO_LIBRARY]).collect()
    },
};

/// The name of a choice of no library.
pub(crate) const NO_LIBRARY: &str = "none";
