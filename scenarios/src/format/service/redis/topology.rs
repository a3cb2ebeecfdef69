//! Refuses servers of Redis that do not fit together, and settings of servers that there are not.

use picklock_sim::plan::{Deployment, Sentinels, ServiceSettings, Value};

use crate::format::reader::{Fields, Mistake, Mistakes};
use crate::format::value::Given;

/// Refuses what does not fit together of a table.
pub(super) fn refuse_topology(
    fields: &Fields,
    given: &Given,
    deployment: &Deployment,
    mistakes: &mut Mistakes,
) {
    let mut refuse = |key: &str, mistake: Option<Mistake>| {
        if let (Some(item), Some(mistake)) = (fields.peek(key), mistake) {
            mistakes.add(item.span, mistake);
        }
    };
    refuse("replicas", of_replicas(deployment));
    refuse("sentinels", of_sentinels(deployment));
    refuse("cluster", of_cluster(deployment));
    refuse("min-replicas-to-write", of_writes(deployment));
    if deployment.sentinels.is_none() {
        for key in Sentinels::KEYS {
            let mistake = Mistake::new(format!("there are no Sentinels for `{}`", key.name))
                .label("this is a setting of theirs")
                .help("give `sentinels`");
            refuse(key.name, Some(mistake));
        }
    } else if let Some((item, Value::Whole(quorum))) = given.get("quorum")
        && *quorum > i64::from(deployment.sentinels())
    {
        // The row allows for the most Sentinels that there can be.
        let _ = item.integer(1..=deployment.sentinels().into(), mistakes);
    }
}

fn of_replicas(deployment: &Deployment) -> Option<Mistake> {
    (deployment.servers > 1 && deployment.replicas > 0).then(|| {
        Mistake::new("several servers that know nothing of each other have no replicas")
            .label("these would be replicas of which?")
            .help("leave out `servers`, or `replicas`")
    })
}

fn of_sentinels(deployment: &Deployment) -> Option<Mistake> {
    deployment.sentinels.as_ref()?;
    if deployment.servers > 1 {
        let mistake = Mistake::new("Sentinels watch one primary and its replicas")
            .label("several servers know nothing of each other")
            .help("leave out `servers`, or `sentinels`");
        return Some(mistake);
    }
    (deployment.replicas == 0).then(|| {
        Mistake::new("there is no replica to put in the place of the primary")
            .label("so these would have nothing to do")
            .help("give `replicas`")
    })
}

fn of_cluster(deployment: &Deployment) -> Option<Mistake> {
    let mistake = if deployment.servers > 1 {
        Mistake::new("the servers of a cluster know each other")
            .label("several servers know nothing of each other")
            .help("leave out `servers`, or `cluster`")
    } else if deployment.sentinels.is_some() {
        Mistake::new("the nodes of a cluster need no Sentinels")
            .label("they elect primaries among themselves")
            .help("leave out `sentinels`, or `cluster`")
    } else if deployment.replicas > 0 {
        Mistake::new("these would be replicas of which primary?")
            .label("the primaries of a cluster have replicas of their own")
            .help("give `replicas-of-each` in `cluster`, and leave out `replicas`")
    } else {
        return None;
    };
    Some(mistake)
}

/// A primary cannot want more replicas than it has.
fn of_writes(deployment: &Deployment) -> Option<Mistake> {
    let (wanted, most) = (
        deployment.min_replicas_to_write,
        replicas_of_each(deployment),
    );
    let there_are = match most {
        0 => "a primary has no replicas here".to_owned(),
        1 => "a primary has 1 replica here".to_owned(),
        _ => format!("a primary has {most} replicas here"),
    };
    let mistake = Mistake::new(format!("no write would ever have {wanted} good replicas"));
    (wanted > most).then(|| mistake.label(there_are).help("lower it, or give more"))
}

/// How many replicas a primary has, at most.
pub(super) fn replicas_of_each(deployment: &Deployment) -> u8 {
    let cluster = deployment.cluster.as_ref();
    cluster.map_or(deployment.replicas, |cluster| cluster.replicas)
}
