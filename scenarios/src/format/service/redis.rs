//! `[service.redis]`.

mod clients;
mod cluster;
mod replicas;
mod sentinels;

use picklock_sim::plan::{
    Cluster, Deployment, Fsync, KeyspaceEvents, Persistence, Sentinels, Value,
};

pub(crate) use clients::{FileClients, NO_LIBRARY, Switches};

use self::clients::{ClientKeys, DiscoverySources};
use self::cluster::OtherServers;
use crate::format::choice::choose;
use crate::format::reader::{Fields, Item, Mistake, Mistakes, Zero};
use crate::format::sampled_parameters::{settle, several};
use crate::sampled_parameters::SampledParameters;

/// Which servers there are, and how clients find them.
struct Topology {
    /// How many there are, and how many at least, if that is given without a mistake.
    servers: Option<u8>,
    least: Option<u8>,
    replicas: Option<u8>,
    sentinels: Option<Sentinels>,
    cluster: Option<Cluster>,
}

impl Topology {
    fn read(fields: &mut Fields, open: &mut SampledParameters, mistakes: &mut Mistakes) -> Self {
        let servers = match fields.get("servers") {
            Some(item) => {
                let mut choices: Vec<u8> = Vec::new();
                let servers = settle(several(&item, mistakes, independent), &mut choices);
                if !choices.is_empty() {
                    let values = choices
                        .iter()
                        .map(|servers| Value::Whole((*servers).into()));
                    open.settings = vec![("servers", values.collect())];
                }
                servers
            }
            None => Some(Deployment::default().servers),
        };
        let least = open
            .choices("servers")
            .iter()
            .filter_map(|value| match value {
                Value::Whole(servers) => u8::try_from(*servers).ok(),
                _ => None,
            });
        let least = least.min().or(servers);
        let replicas = fields.get("replicas");
        let replicas = replicas.and_then(|item| replicas_of(&item, servers, mistakes));
        let sentinels = sentinels::read(fields, servers, replicas, mistakes);
        let others = OtherServers {
            servers,
            replicas,
            sentinels: sentinels.is_some(),
        };
        let cluster = cluster::read(fields, others, mistakes);
        Self {
            servers,
            least,
            replicas,
            sentinels,
            cluster,
        }
    }

    /// How many replicas a primary has, at most.
    fn replicas_of_each(&self) -> u8 {
        let of_each = self.cluster.as_ref().map(|cluster| cluster.replicas);
        of_each.or(self.replicas).unwrap_or(0)
    }
}

/// Reads `[service.redis]`; also the least number of servers, if it is given without a mistake.
pub(crate) fn read(
    mut fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Deployment, FileClients, Option<u8>) {
    let default = Deployment::default();
    let topology = Topology::read(&mut fields, open, mistakes);
    let most = topology.replicas_of_each();
    let in_cluster = topology.cluster.is_some();
    let sources = DiscoverySources {
        sentinels: topology.sentinels.is_some(),
        cluster: in_cluster,
    };
    let keys = ClientKeys::read(&mut fields, sources, mistakes);
    let switches = Switches::read(&mut fields, (most, in_cluster), mistakes);
    let kept = fields.get("persistence");
    let kept = kept.and_then(|item| persistence(&item, mistakes));
    let wanted = replicas::read(&mut fields, most, mistakes);
    let stale = fields.get("serve-stale-data");
    let stale = stale.and_then(|item| item.boolean(mistakes));
    let events = fields.get("notify-keyspace-events");
    let events = events.and_then(|item| keyspace_events(&item, mistakes));
    let lease = fields.duration("lease", Zero::Senseless, mistakes);
    let mut time = |key, fallback| {
        let given = fields.duration(key, Zero::Allowed, mistakes);
        given.unwrap_or(fallback)
    };
    let mut deployment = Deployment {
        servers: topology.servers.unwrap_or(default.servers),
        replicas: topology.replicas.unwrap_or(default.replicas),
        sentinels: topology.sentinels,
        cluster: topology.cluster,
        persistence: kept.unwrap_or_default(),
        load_time: time("load-time", default.load_time),
        serve_stale_data: stale.unwrap_or(default.serve_stale_data),
        min_replicas_to_write: wanted.replicas,
        min_replicas_max_lag: wanted.max_lag,
        notify_keyspace_events: events.unwrap_or_default(),
        busy_reply_threshold: time("busy-reply-threshold", default.busy_reply_threshold),
        lease: lease.unwrap_or(default.lease),
        command_time: time("command-time", default.command_time),
        ..default
    };
    switches.set(&mut deployment);
    keys.set(&mut deployment, fields.span(), mistakes);
    fields.finish(mistakes);
    let all = match &deployment.cluster {
        Some(cluster) => Some(cluster.nodes()),
        None => {
            let least = topology.least;
            least.map(|least| least + deployment.replicas)
        }
    };
    (
        deployment,
        FileClients { keys, switches },
        topology.servers.and(all),
    )
}

/// Makes one, for save points are a list.
type Make = fn() -> Persistence;

/// What servers keep on their disks, by name.
pub(crate) const PERSISTENCE: [(&str, Make); 5] = [
    ("none", || Persistence::None),
    ("rdb", Persistence::snapshots),
    ("aof-no", || Persistence::Log(Fsync::Never)),
    ("aof-everysec", || Persistence::Log(Fsync::EverySecond)),
    ("aof-always", || Persistence::Log(Fsync::Always)),
];

fn persistence(item: &Item, mistakes: &mut Mistakes) -> Option<Persistence> {
    let chosen = choose(item, "persistence", &PERSISTENCE, mistakes)?;
    chosen.bare(mistakes);
    Some((chosen.kind)())
}

/// The letters of `notify-keyspace-events`. Events that cannot come to anybody are a mistake.
fn keyspace_events(item: &Item, mistakes: &mut Mistakes) -> Option<KeyspaceEvents> {
    let letters = item.text("letters, such as \"Ex\"", mistakes)?;
    let mistake = match KeyspaceEvents::parse(letters) {
        Ok(events) if letters.is_empty() || !events.is_none() => return Some(events),
        Ok(_) => Mistake::new("nobody would be sent anything")
            .label("this names no channel, or no event")
            .help("say `K` or `E`, and which events: \"Exg\""),
        Err('m') => Mistake::new("keys that are looked for in vain are not modelled")
            .label("`m` stands for them")
            .help("leave it out"),
        Err(letter) => Mistake::new(format!("`{letter}` stands for no event"))
            .label("no such letter")
            .help("take some of `Ag$lshzxetdKEn`, such as \"Exg\""),
    };
    mistakes.add(item.span.clone(), mistake);
    None
}

fn replicas_of(item: &Item, servers: Option<u8>, mistakes: &mut Mistakes) -> Option<u8> {
    let number = item.integer(0..=5, mistakes)?;
    if number > 0 && servers.is_some_and(|servers| servers > 1) {
        let mistake =
            Mistake::new("several servers that know nothing of each other have no replicas")
                .label("these would be replicas of which?")
                .help("leave out `servers`, or `replicas`");
        mistakes.add(item.span.clone(), mistake);
    }
    u8::try_from(number).ok()
}

/// How many servers there are that know nothing of each other.
fn independent(item: &Item, mistakes: &mut Mistakes) -> Option<u8> {
    let number = item.integer(1..=15, mistakes)?;
    u8::try_from(number).ok()
}
