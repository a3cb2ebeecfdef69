//! What a primary of `[service.redis]` wants of its replicas.

use std::time::Duration;

use picklock_sim::plan::Deployment;

use crate::format::reader::{Fields, Mistake, Mistakes, Zero};

/// What a primary wants of its replicas before it takes a write.
pub(super) struct Wanted {
    pub(super) replicas: u8,
    pub(super) max_lag: Duration,
}

/// Reads how many replicas must be there, and how lately they must have said so. `most` is how many there are.
pub(super) fn read(fields: &mut Fields, most: u8, mistakes: &mut Mistakes) -> Wanted {
    let default = Deployment::default();
    let item = fields.get("min-replicas-to-write");
    let replicas = item.as_ref().and_then(|item| {
        let number = item.integer(0..=5, mistakes)?;
        u8::try_from(number).ok()
    });
    if let Some(item) = item
        && let Some(replicas) = replicas.filter(|replicas| *replicas > most)
    {
        let there_are = match most {
            0 => "a primary has no replicas here".to_owned(),
            1 => "a primary has 1 replica here".to_owned(),
            _ => format!("a primary has {most} replicas here"),
        };
        let mistake = Mistake::new(format!("no write would ever have {replicas} good replicas"));
        mistakes.add(
            item.span,
            mistake.label(there_are).help("lower it, or give more"),
        );
    }
    let max_lag = fields.get("min-replicas-max-lag").and_then(|item| {
        let lag = item.duration(Zero::Senseless, mistakes)?;
        if lag.subsec_nanos() > 0 {
            let mistake = Mistake::new("Redis measures this lag in whole seconds");
            mistakes.add(
                item.span,
                mistake.help("expected a duration such as \"10s\""),
            );
            return None;
        }
        Some(lag)
    });
    Wanted {
        replicas: replicas.unwrap_or(default.min_replicas_to_write),
        max_lag: max_lag.unwrap_or(default.min_replicas_max_lag),
    }
}
