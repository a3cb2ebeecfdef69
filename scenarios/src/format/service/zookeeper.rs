//! `[service.zookeeper]`.

mod nodes;

use std::time::Duration;

use picklock_sim::plan::{Ensemble, Library, REDIS_LIBRARIES, Version};

use crate::format::choice::choose;
use crate::format::reader::{Fields, Item, Mistake, Mistakes, Zero};
use crate::format::sampled_parameters::{settle, several};
use crate::sampled_parameters::SampledParameters;

/// Reads `[service.zookeeper]`; also the least number of servers, if it is given without a mistake.
pub(crate) fn read(
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
        .and_then(|item| settle(several(&item, mistakes, client_library), &mut open.clients));
    let request_timeout = fields.duration("request-timeout", Zero::Senseless, mistakes);
    let read_only = fields.get("read-only");
    let read_only =
        read_only.and_then(|item| read_only_of(&item, least, (library, &open.clients), mistakes));
    let jute_max_buffer = fields
        .get("jute-max-buffer")
        .and_then(|item| item.bytes(mistakes));
    let nodes = nodes::read(&mut fields, mistakes);
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

fn servers(item: &Item, mistakes: &mut Mistakes) -> Option<u8> {
    let number = item.integer(i64::MIN..=i64::MAX, mistakes)?;
    if let Some(servers) = [1, 3, 5, 7]
        .into_iter()
        .find(|servers| i64::from(*servers) == number)
    {
        return Some(servers);
    }
    let mistake = Mistake::new(format!("there are no ensembles of {number} servers"));
    let mistake = match number {
        2 | 4 | 6 => mistake.label("it would survive no more faults than one server less"),
        _ => mistake,
    };
    mistakes.add(item.span.clone(), mistake.help("expected 1, 3, 5, or 7"));
    None
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

fn version(item: &Item, mistakes: &mut Mistakes) -> Option<Version> {
    let chosen = choose(item, "version of ZooKeeper", &Version::ALL, mistakes)?;
    chosen.bare(mistakes);
    Some(chosen.kind)
}

fn client_library(item: &Item, mistakes: &mut Mistakes) -> Option<Library> {
    let is_named = |name: &str| item.as_text() == Some(name);
    if let Some(other) = REDIS_LIBRARIES.iter().find(|it| is_named(it.name)) {
        let mistake = Mistake::new(format!("`{}` is a client library of Redis", other.name))
            .label("the clients here are ZooKeeper's")
            .help("expected one of `java`, `kazoo`, `rust`, or `go`");
        mistakes.add(item.span.clone(), mistake);
        return None;
    }
    let chosen = choose(item, "client library", &Library::ALL, mistakes)?;
    chosen.bare(mistakes);
    Some(chosen.kind)
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

/// Whether servers without a leader answer reads. It takes an ensemble, and a client that is modelled so.
fn read_only_of(
    item: &Item,
    servers: Option<u8>,
    (library, others): (Option<Library>, &[Library]),
    mistakes: &mut Mistakes,
) -> Option<bool> {
    let read_only = item.boolean(mistakes)?;
    let mut libraries = library.iter().chain(others);
    let mistake = if read_only && servers == Some(1) {
        Mistake::new("a server that stands alone has no leader to lose")
            .label("it would never answer reads alone")
            .help("take 3 or 5 servers, or leave out `read-only`")
    } else if read_only && libraries.any(|library| *library != Library::Java) {
        Mistake::new("only the Java client is modelled with read-only servers")
            .label("the clients are others")
            .help("leave out `client`, or `read-only`")
    } else {
        return Some(read_only);
    };
    mistakes.add(item.span.clone(), mistake);
    None
}
