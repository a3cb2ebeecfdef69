//! The Sentinels of `[service.redis]`.

use picklock_sim::plan::Sentinels;

use crate::format::reader::{Fields, Mistake, Mistakes, Zero};

/// The settings that mean nothing without Sentinels.
const SETTINGS: [&str; 4] = ["quorum", "down-after", "failover-timeout", "parallel-syncs"];

/// Reads how many Sentinels there are, and how they are set.
pub(super) fn read(
    fields: &mut Fields,
    servers: Option<u8>,
    replicas: Option<u8>,
    mistakes: &mut Mistakes,
) -> Option<Sentinels> {
    let item = fields.get("sentinels");
    let number = item.as_ref().and_then(|item| {
        let number = item.integer(0..=7, mistakes)?;
        u8::try_from(number).ok()
    });
    let Some(number) = number.filter(|number| *number > 0) else {
        refuse_settings(fields, mistakes);
        return None;
    };
    if let Some(item) = item {
        let alone = replicas.unwrap_or(0) == 0;
        if servers.is_some_and(|servers| servers > 1) {
            let mistake = Mistake::new("Sentinels watch one primary and its replicas")
                .label("several servers know nothing of each other")
                .help("leave out `servers`, or `sentinels`");
            mistakes.add(item.span.clone(), mistake);
        } else if alone {
            let mistake = Mistake::new("there is no replica to put in the place of the primary")
                .label("so these would have nothing to do")
                .help("give `replicas`");
            mistakes.add(item.span.clone(), mistake);
        }
    }
    let default = Sentinels::of(number);
    let mut small = |key, most: u8, fallback: u8, mistakes: &mut Mistakes| {
        let given = fields.count(key, 1..=i64::from(most), mistakes);
        given.unwrap_or(fallback)
    };
    let quorum = small("quorum", number, default.quorum, mistakes);
    let parallel_syncs = small("parallel-syncs", 5, default.parallel_syncs, mistakes);
    let mut time = |key| fields.duration(key, Zero::Senseless, mistakes);
    Some(Sentinels {
        quorum,
        parallel_syncs,
        down_after: time("down-after").unwrap_or(default.down_after),
        failover_timeout: time("failover-timeout").unwrap_or(default.failover_timeout),
        ..default
    })
}

fn refuse_settings(fields: &mut Fields, mistakes: &mut Mistakes) {
    for key in SETTINGS {
        if let Some(item) = fields.get(key) {
            let mistake = Mistake::new(format!("there are no Sentinels for `{key}`"))
                .label("this is a setting of theirs")
                .help("give `sentinels`");
            mistakes.add(item.span.clone(), mistake);
        }
    }
}
