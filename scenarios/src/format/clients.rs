//! How the clients of `[service.redis]` are set, there or for one case alone.

use picklock_sim::plan::{Cluster, ConnectionMode, Deployment, ReadFrom, Sentinels, Service};

use super::choice::choose;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};

#[derive(Clone, Copy)]
enum Shared {
    Multiplexed,
    Pool,
}

const SHARED: [(&str, Shared); 2] = [("multiplexed", Shared::Multiplexed), ("pool", Shared::Pool)];

/// How the tasks of a process share connections.
fn connections(item: &Item, mistakes: &mut Mistakes) -> Option<ConnectionMode> {
    let chosen = choose(item, "way to share connections", &SHARED, mistakes)?;
    Some(match chosen.kind {
        Shared::Multiplexed => {
            chosen.bare(mistakes);
            ConnectionMode::Multiplexed
        }
        Shared::Pool => {
            let size = chosen.integer(1..=100, mistakes)?;
            ConnectionMode::Pool(u8::try_from(size).ok()?)
        }
    })
}

/// What a file, or a case, says of clients.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Switches {
    read_from: Option<ReadFrom>,
    connections: Option<ConnectionMode>,
}

impl Switches {
    /// Reads what is said. Only where a primary has replicas is there somebody else to read from.
    pub(super) fn read(fields: &mut Fields, replicas: u8, mistakes: &mut Mistakes) -> Self {
        let item = fields.get("read-from");
        let read_from = item.and_then(|item| {
            let chosen = choose(
                &item,
                "choice of nodes to read from",
                &ReadFrom::ALL,
                mistakes,
            )?;
            chosen.bare(mistakes);
            if replicas == 0 {
                let mistake = Mistake::new("there is nobody but primaries to read from")
                    .label("no server has a replica")
                    .help(
                        "give `replicas`, or `cluster` with `replicas-of-each`, or leave this out",
                    );
                mistakes.add(item.span.clone(), mistake);
            }
            Some(chosen.kind)
        });
        let item = fields.get("connections");
        let connections = item.and_then(|item| connections(&item, mistakes));
        Self {
            read_from,
            connections,
        }
    }

    /// The same for one case: what does not stand on Redis has no such keys.
    pub(super) fn of_case(fields: &mut Fields, service: &Service, mistakes: &mut Mistakes) -> Self {
        let Service::Redis(deployment) = service else {
            return Self::default();
        };
        let cluster = deployment.cluster.as_ref();
        let replicas = cluster.map_or(deployment.replicas, |cluster| cluster.replicas);
        Self::read(fields, replicas, mistakes)
    }

    /// Sets clients so.
    pub(super) fn set(self, deployment: &mut Deployment) {
        deployment.read_from = self.read_from.unwrap_or(deployment.read_from);
        deployment.connections = self.connections.unwrap_or(deployment.connections);
    }

    /// Sets those of a case so.
    pub(super) fn set_in(self, service: &mut Service) {
        if let Service::Redis(deployment) = service {
            self.set(deployment);
        }
    }
}

/// Reads how often clients ask Sentinels, or nodes of a cluster, without another reason. It means nothing without them.
pub(super) fn poll(
    fields: &mut Fields,
    whom: (&mut Option<Sentinels>, &mut Option<Cluster>),
    mistakes: &mut Mistakes,
) {
    let asked = match whom {
        (_, Some(cluster)) => &mut cluster.poll,
        (Some(sentinels), None) => &mut sentinels.poll,
        (None, None) => {
            if let Some(item) = fields.get("poll") {
                let mistake = Mistake::new("there is nobody whom clients could ask")
                    .label("they ask Sentinels, or the nodes of a cluster")
                    .help("give `sentinels`, or `cluster`");
                mistakes.add(item.span, mistake);
            }
            return;
        }
    };
    *asked = fields.duration("poll", Zero::Senseless, mistakes);
}
