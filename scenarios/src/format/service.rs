//! `[service.NAME]`.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{
    Deployment, Ensemble, Fsync, KeyspaceEvents, Library, Persistence, Service, Setting,
    SettingMut, Version,
};

use super::choice::choose;
use super::clients::{self, ClientKeys, Switches};
use super::cluster::{self, OtherServers};
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};
use super::sampled_parameters::several;
use super::workload::settle;
use super::{replicas, sentinels, zookeeper_nodes};
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// Reads `[service.…]`, and what it leaves open; also the least number of servers, if the file gives it
/// without a mistake. A file that does not say stands on what the algorithms of its cases stand on, with every default.
pub(super) fn service(
    file: &mut Fields,
    catalogue: &Catalogue,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Service, Option<u8>) {
    let nothing = (Service::ZooKeeper(Ensemble::default()), None);
    let (kind, fields) = match file.get("service") {
        Some(item) => {
            let services = ServiceKind::ALL.map(|kind| (kind.name(), kind));
            let Some(chosen) = choose(&item, "service", &services, mistakes) else {
                return nothing;
            };
            (chosen.kind, chosen.fields(mistakes))
        }
        None => match service_of_first_case(file, catalogue) {
            Some(kind) => (kind, Some(Fields::none(file.span()))),
            None => return nothing,
        },
    };
    let Some(fields) = fields else {
        return nothing;
    };
    match kind {
        ServiceKind::ZooKeeper => {
            let (ensemble, servers) = ensemble(fields, open, mistakes);
            (Service::ZooKeeper(ensemble), servers)
        }
        ServiceKind::Redis => {
            let (deployment, servers) = deployment(fields, open, mistakes);
            (Service::Redis(deployment), servers)
        }
        other => {
            let mut service = Service::from(other);
            settings(fields, &mut service, mistakes);
            let servers = service.servers();
            (service, Some(servers))
        }
    }
}

/// Reads the settings of a service that has no format of its own.
fn settings(mut fields: Fields, service: &mut Service, mistakes: &mut Mistakes) {
    for Setting { key, value } in service.settings() {
        match value {
            SettingMut::Duration(length) => {
                let given = fields.duration(key, Zero::Senseless, mistakes);
                *length = given.unwrap_or(*length);
            }
        }
    }
    fields.finish(mistakes);
}

/// What the first case stands on whose algorithm is known.
fn service_of_first_case(file: &Fields, catalogue: &Catalogue) -> Option<ServiceKind> {
    let cases = file.peek("case")?.as_list()?;
    cases.iter().find_map(|case| {
        let algorithm = case.as_table()?.peek("algorithm")?.as_text()?;
        let mut known = catalogue.algorithms.iter();
        let recipe = known.find(|recipe| recipe.name == algorithm)?;
        Some(recipe.build.service())
    })
}

fn ensemble(
    mut fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Ensemble, Option<u8>) {
    let default = Ensemble::default();
    let servers = match fields.get("servers") {
        Some(item) => settle(several(&item, mistakes, servers), &mut open.servers),
        None => Some(default.servers),
    };
    let least = open.servers.iter().copied().min().or(servers);
    let observers = fields.get("observers");
    let observers = observers.and_then(|item| observers_of(&item, least, mistakes));
    let tick = fields.duration("tick", Zero::Senseless, mistakes);
    let tick = tick.unwrap_or(default.tick);
    let mut ticks = |key, fallback, mistakes: &mut Mistakes| {
        fields.count(key, 1..=10_000, mistakes).unwrap_or(fallback)
    };
    let sync_limit = ticks("sync-limit", default.sync_limit, mistakes);
    let init_limit = ticks("init-limit", default.init_limit, mistakes);
    let asked = fields.get("session-timeout");
    let bounds = Ensemble {
        tick,
        min_session_timeout: fields.duration("min-session-timeout", Zero::Senseless, mistakes),
        max_session_timeout: fields.duration("max-session-timeout", Zero::Senseless, mistakes),
        ..Ensemble::default()
    };
    let session_timeout = session_timeout(&fields, asked.as_ref(), &bounds, mistakes);
    let version = fields
        .get("version")
        .and_then(|item| version(&item, mistakes));
    let library = fields
        .get("client")
        .and_then(|item| library(&item, mistakes));
    let request_timeout = fields.duration("request-timeout", Zero::Senseless, mistakes);
    let read_only = fields.get("read-only");
    let read_only = read_only.and_then(|item| read_only_of(&item, least, library, mistakes));
    let jute_max_buffer = fields
        .get("jute-max-buffer")
        .and_then(|item| item.bytes(mistakes));
    let nodes = zookeeper_nodes::read(&mut fields, mistakes);
    let mut time = |key, fallback| {
        let given = fields.duration(key, Zero::Allowed, mistakes);
        given.unwrap_or(fallback)
    };
    let ensemble = Ensemble {
        servers: servers.unwrap_or(default.servers),
        observers: observers.unwrap_or(default.observers),
        tick,
        sync_limit,
        init_limit,
        session_timeout: session_timeout.unwrap_or(default.session_timeout),
        min_session_timeout: bounds.min_session_timeout,
        max_session_timeout: bounds.max_session_timeout,
        fsync: time("fsync", default.fsync),
        read_time: time("read-time", default.read_time),
        write_time: time("write-time", default.write_time),
        notification_time: time("notification-time", default.notification_time),
        proposal_time: time("proposal-time", default.proposal_time),
        version: version.unwrap_or(default.version),
        library: library.unwrap_or(default.library),
        request_timeout,
        read_only: read_only.unwrap_or(default.read_only),
        jute_max_buffer: jute_max_buffer.unwrap_or(default.jute_max_buffer),
        ..nodes
    };
    fields.finish(mistakes);
    (ensemble, servers.and(least))
}

fn deployment(
    mut fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Deployment, Option<u8>) {
    let default = Deployment::default();
    let servers = match fields.get("servers") {
        Some(item) => settle(several(&item, mistakes, independent), &mut open.servers),
        None => Some(default.servers),
    };
    let least = open.servers.iter().copied().min().or(servers);
    let followers = fields.get("replicas");
    let followers = followers.and_then(|item| replicas_of(&item, servers, mistakes));
    let mut sentinels = sentinels::read(&mut fields, servers, followers, mistakes);
    let others = OtherServers {
        servers,
        replicas: followers,
        sentinels: sentinels.is_some(),
    };
    let mut cluster = cluster::read(&mut fields, others, mistakes);
    clients::poll(&mut fields, (&mut sentinels, &mut cluster), mistakes);
    let of_each = cluster.as_ref().map(|cluster| cluster.replicas);
    let most = of_each.or(followers).unwrap_or(0);
    let clients = ClientKeys::read(&mut fields, cluster.is_some(), mistakes);
    let switches = Switches::read(&mut fields, (most, cluster.is_some()), mistakes);
    let persistence = fields.get("persistence");
    let persistence = persistence.and_then(|item| {
        let chosen = choose(&item, "persistence", &PERSISTENCE, mistakes)?;
        chosen.bare(mistakes);
        Some((chosen.kind)())
    });
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
        servers: servers.unwrap_or(default.servers),
        replicas: followers.unwrap_or(default.replicas),
        sentinels,
        cluster,
        persistence: persistence.unwrap_or_default(),
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
    clients.set(&mut deployment, fields.span(), mistakes);
    fields.finish(mistakes);
    let all = match &deployment.cluster {
        Some(cluster) => Some(cluster.nodes()),
        None => least.map(|least| least + deployment.replicas),
    };
    (deployment, servers.and(all))
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

fn version(item: &Item, mistakes: &mut Mistakes) -> Option<Version> {
    let chosen = choose(item, "version of ZooKeeper", &Version::ALL, mistakes)?;
    chosen.bare(mistakes);
    Some(chosen.kind)
}

fn library(item: &Item, mistakes: &mut Mistakes) -> Option<Library> {
    let chosen = choose(item, "client library", &Library::ALL, mistakes)?;
    chosen.bare(mistakes);
    Some(chosen.kind)
}

/// How many servers do not vote. It takes those that do.
fn observers_of(item: &Item, servers: Option<u8>, mistakes: &mut Mistakes) -> Option<u8> {
    let number = item.integer(0..=5, mistakes)?;
    if number > 0 && servers == Some(1) {
        let mistake = Mistake::new("a server that stands alone has no observers")
            .label("whom would they observe?")
            .help("take 3 or 5 servers, or leave out `observers`");
        mistakes.add(item.span.clone(), mistake);
        return None;
    }
    u8::try_from(number).ok()
}

/// Whether servers without a leader answer reads. It takes an ensemble, and a client that is modelled so.
fn read_only_of(
    item: &Item,
    servers: Option<u8>,
    library: Option<Library>,
    mistakes: &mut Mistakes,
) -> Option<bool> {
    let read_only = item.boolean(mistakes)?;
    let mistake = if read_only && servers == Some(1) {
        Mistake::new("a server that stands alone has no leader to lose")
            .label("it would never answer reads alone")
            .help("take 3 or 5 servers, or leave out `read-only`")
    } else if read_only && library.is_some_and(|library| library != Library::Java) {
        Mistake::new("only the Java client is modelled with read-only servers")
            .label("the clients are others")
            .help("leave out `client`, or `read-only`")
    } else {
        return Some(read_only);
    };
    mistakes.add(item.span.clone(), mistake);
    None
}

fn servers(item: &Item, mistakes: &mut Mistakes) -> Option<u8> {
    let number = item.integer(i64::MIN..=i64::MAX, mistakes)?;
    if let Some(servers) = [1, 3, 5]
        .into_iter()
        .find(|servers| i64::from(*servers) == number)
    {
        return Some(servers);
    }
    let mistake = Mistake::new(format!("there are no ensembles of {number} servers"));
    let mistake = match number {
        2 | 4 => mistake.label("it would survive no more faults than one server less"),
        _ => mistake,
    };
    mistakes.add(item.span.clone(), mistake.help("expected 1, 3, or 5"));
    None
}

/// The session timeout must be one that ZooKeeper grants, between 2 and 20 ticks, unless the file says what is granted:
/// then clients may ask for more, or for less.
fn session_timeout(
    fields: &Fields,
    asked: Option<&Item>,
    bounds: &Ensemble,
    mistakes: &mut Mistakes,
) -> Option<Duration> {
    let shown = |duration| crate::units::write_duration(duration);
    let (least, most) = bounds.granted_timeouts();
    let said = bounds.min_session_timeout.is_some() || bounds.max_session_timeout.is_some();
    if said && least > most {
        mistakes.add(
            fields.span(),
            Mistake::new("the shortest session timeout is longer than the longest")
                .label(format!("from {} to {}", shown(least), shown(most)))
                .help(
                    "without `min-session-timeout` it is 2 ticks, and without `max-session-timeout` 20 ticks",
                ),
        );
    }
    let (span, asked) = match asked {
        Some(item) => (item.span.clone(), item.duration(Zero::Senseless, mistakes)?),
        None => (fields.span(), Ensemble::default().session_timeout),
    };
    if said || (least..=most).contains(&asked) {
        return Some(asked);
    }
    mistakes.add(
        span,
        Mistake::new("ZooKeeper grants no such session timeout")
            .label(format!("the session timeout is {}", shown(asked)))
            .help(format!(
                "expected between 2 and 20 ticks of {}: from \"{}\" to \"{}\"",
                shown(bounds.tick),
                shown(least),
                shown(most)
            )),
    );
    None
}
