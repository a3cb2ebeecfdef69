//! The cluster of `[service.redis]`.

use picklock_sim::plan::Cluster;

use crate::format::reader::{Fields, Item, Mistake, Mistakes, Zero};

/// What else a file says of servers.
#[derive(Clone, Copy)]
pub(super) struct OtherServers {
    pub(super) servers: Option<u8>,
    pub(super) replicas: Option<u8>,
    pub(super) sentinels: bool,
}

/// Reads how many primaries and replicas there are, and how they are set.
pub(super) fn read(
    fields: &mut Fields,
    others: OtherServers,
    mistakes: &mut Mistakes,
) -> Option<Cluster> {
    const WANTED: &str = "a table such as { primaries = 3, replicas-of-each = 1 }";
    let item = fields.get("cluster")?;
    refuse(&item, others, mistakes);
    let mut fields = item.table(WANTED, mistakes)?;
    let primaries = fields.need("primaries", "primaries = 3");
    let primaries = primaries.and_then(|item| primaries_of(&item, mistakes));
    let replicas = fields.count("replicas-of-each", 0..=3, mistakes);
    let node_timeout = fields.duration("node-timeout", Zero::Senseless, mistakes);
    let validity_factor = fields.count("validity-factor", 0..=1_000, mistakes);
    fields.finish(mistakes);
    let default = Cluster::of(primaries?, replicas.unwrap_or(0));
    Some(Cluster {
        node_timeout: node_timeout.unwrap_or(default.node_timeout),
        validity_factor: validity_factor.unwrap_or(default.validity_factor),
        ..default
    })
}

fn refuse(item: &Item, others: OtherServers, mistakes: &mut Mistakes) {
    let mistake = if others.servers.is_some_and(|servers| servers > 1) {
        Mistake::new("the servers of a cluster know each other")
            .label("several servers know nothing of each other")
            .help("leave out `servers`, or `cluster`")
    } else if others.sentinels {
        Mistake::new("the nodes of a cluster need no Sentinels")
            .label("they elect primaries among themselves")
            .help("leave out `sentinels`, or `cluster`")
    } else if others.replicas.is_some_and(|replicas| replicas > 0) {
        Mistake::new("these would be replicas of which primary?")
            .label("the primaries of a cluster have replicas of their own")
            .help("give `replicas-of-each` in `cluster`, and leave out `replicas`")
    } else {
        return;
    };
    mistakes.add(item.span.clone(), mistake);
}

/// As many as `redis-cli --cluster create` takes, and no more than a run bears.
fn primaries_of(item: &Item, mistakes: &mut Mistakes) -> Option<u8> {
    let number = item.integer(1..=9, mistakes)?;
    if number < 3 {
        let mistake = Mistake::new("a cluster has at least three primaries")
            .label("if one of these fails, those that are left are no majority")
            .help("expected a whole number from 3 to 9");
        mistakes.add(item.span.clone(), mistake);
        return None;
    }
    u8::try_from(number).ok()
}
