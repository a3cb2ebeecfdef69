//! `bsm_redislock`, except that the token is the name of the machine. Must be caught by
//! `redis/bsm-redislock-own-token`.

use super::bsm_redislock::{self, BsmRedislock};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "bsm-redislock-own-token",
    summary: "bsm/redislock whose Options.Token is the name of the machine.",
    source: "bsm/redislock 0.10.0, Options.Token and obtain.lua",
    flaw: Some("a token that another's begins with passes for it"),
    build: Build::Redis(&|redis, env, lease| {
        Box::new(BsmRedislock::new(redis, env, lease).with_own_token())
    }),
    ..bsm_redislock::RECIPE
};
