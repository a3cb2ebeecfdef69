//! How the clients of `[service.redis]` are set, there or for one case alone.

use std::ops::Range;
use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_sim::plan::{
    ConnectionMode, Deployment, Library, Plan, REDIS_LIBRARIES, ReadFrom, RedisLibrary, Service,
    SwitchMaster,
};

use crate::format::choice::choose;
use crate::format::reader::{Fields, Item, Mistake, Mistakes, Zero, expected};

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

/// Which client library a file, or a case, names.
#[derive(Clone, Copy, Debug)]
enum ClientChoice {
    /// None: settings that are not given are those of no library.
    None,
    /// This one.
    Library(&'static RedisLibrary),
}

/// The name of a choice of no library.
pub(crate) const NO_LIBRARY: &str = "none";

/// The client library that a file, or a case, names.
fn library(fields: &mut Fields, in_cluster: bool, mistakes: &mut Mistakes) -> Option<ClientChoice> {
    let item = fields.get("client")?;
    let named = REDIS_LIBRARIES.iter();
    let named = named.map(|library| (library.name, ClientChoice::Library(library)));
    let libraries: Vec<_> = named.chain([(NO_LIBRARY, ClientChoice::None)]).collect();
    let names: Vec<&str> = libraries.iter().map(|(name, _)| *name).collect();
    let is_named = |name: &str| item.as_text() == Some(name);
    if let Some((name, _)) = Library::ALL.iter().find(|(name, _)| is_named(name)) {
        let mistake = Mistake::new(format!("`{name}` is a client library of ZooKeeper"))
            .label("the clients here are those of Redis")
            .help(expected(&names));
        mistakes.add(item.span.clone(), mistake);
        return None;
    }
    let chosen = choose(&item, "client library", &libraries, mistakes)?;
    chosen.bare(mistakes);
    if let ClientChoice::Library(_) = chosen.kind {
        refuse_in_cluster(&item, in_cluster, mistakes);
    }
    Some(chosen.kind)
}

/// How clients of a cluster send commands again is modelled as redis-py does it, and in no other way.
fn refuse_in_cluster(item: &Item, in_cluster: bool, mistakes: &mut Mistakes) {
    if in_cluster {
        let mistake = Mistake::new("clients of a cluster follow rules of their own")
            .label("this is modelled for clients of one server, of several, and of Sentinels")
            .help("leave it out, or `cluster`");
        mistakes.add(item.span.clone(), mistake);
    }
}

/// What a file says of how clients connect and send again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClientKeys {
    timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
    retries: Option<u32>,
    retry_pause: Option<Duration>,
    retry_pause_max: Option<Duration>,
    replay: Option<bool>,
    resend: Option<bool>,
    close_on_timeout: Option<bool>,
    tcp_user_timeout: Option<Duration>,
    poll: Option<Duration>,
    switch_master: Option<SwitchMaster>,
}

/// The servers that clients can ask where the primary is.
#[derive(Clone, Copy)]
pub(super) struct DiscoverySources {
    pub(super) sentinels: bool,
    pub(super) cluster: bool,
}

impl ClientKeys {
    /// Reads it.
    pub(super) fn read(
        fields: &mut Fields,
        sources: DiscoverySources,
        mistakes: &mut Mistakes,
    ) -> Self {
        let in_cluster = sources.cluster;
        for key in ["retry-pause-max", "replay"] {
            if let Some(item) = fields.peek(key) {
                refuse_in_cluster(&item, in_cluster, mistakes);
            }
        }
        let mut boolean = |key, mistakes: &mut Mistakes| {
            let item = fields.get(key)?;
            item.boolean(mistakes)
        };
        let replay = boolean("replay", mistakes);
        let resend = boolean("resend", mistakes);
        let close_on_timeout = boolean("close-on-timeout", mistakes);
        refuse_without_sources(fields, sources, mistakes);
        let switch_master = fields.get("switch-master").and_then(|item| {
            let what = "choice of Sentinels to subscribe to";
            let chosen = choose(&item, what, &SwitchMaster::ALL, mistakes)?;
            chosen.bare(mistakes);
            Some(chosen.kind)
        });
        Self {
            timeout: fields.duration("timeout", Zero::Senseless, mistakes),
            connect_timeout: fields.duration("connect-timeout", Zero::Senseless, mistakes),
            retries: fields.count("retries", 0..=100, mistakes),
            retry_pause: fields.duration("retry-pause", Zero::Allowed, mistakes),
            retry_pause_max: fields.duration("retry-pause-max", Zero::Senseless, mistakes),
            replay,
            resend,
            close_on_timeout,
            tcp_user_timeout: fields.duration("tcp-user-timeout", Zero::Senseless, mistakes),
            poll: fields.duration("poll", Zero::Senseless, mistakes),
            switch_master,
        }
    }

    /// Sets clients so, after what their library has set.
    fn apply(self, it: &mut Deployment) {
        it.timeout = self.timeout.unwrap_or(it.timeout);
        it.connect_timeout = self.connect_timeout.unwrap_or(it.connect_timeout);
        it.retries = self.retries.unwrap_or(it.retries);
        it.retry_pause = self.retry_pause.unwrap_or(it.retry_pause);
        it.retry_pause_max = self.retry_pause_max.or(it.retry_pause_max);
        it.replay = self.replay.unwrap_or(it.replay);
        it.resend = self.resend.unwrap_or(it.resend);
        it.tcp_user_timeout = self.tcp_user_timeout.or(it.tcp_user_timeout);
        it.close_on_timeout = self.close_on_timeout.or(it.close_on_timeout);
        if let Some(sentinels) = &mut it.sentinels {
            sentinels.poll = self.poll.or(sentinels.poll);
            sentinels.switch_master = self.switch_master.unwrap_or(sentinels.switch_master);
        }
        if let Some(cluster) = &mut it.cluster {
            cluster.poll = self.poll;
        }
    }

    /// The same. What then contradicts itself is a mistake of the table.
    pub(super) fn set(self, it: &mut Deployment, table: Range<usize>, mistakes: &mut Mistakes) {
        self.apply(it);
        if it.replay && it.retries > 0 {
            let mistake = Mistake::new("a client that replays commands counts no retries")
                .label("it sends a command again until its timeout is over")
                .help("leave out `retries`, or give `replay = false`");
            mistakes.add(table.clone(), mistake);
        }
        if it.retry_pause_max.is_some_and(|most| most < it.retry_pause) {
            let mistake =
                Mistake::new("the longest pause before a retry is shorter than the first")
                    .label("`retry-pause-max` is less than `retry-pause`")
                    .help("the pause doubles from `retry-pause` up to `retry-pause-max`");
            mistakes.add(table, mistake);
        }
    }
}

/// What a file, or a case, says of clients.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Switches {
    library: Option<ClientChoice>,
    read_from: Option<ReadFrom>,
    connections: Option<ConnectionMode>,
}

impl Switches {
    /// Reads what is said. Clients can read from another server only where a primary has replicas.
    pub(super) fn read(
        fields: &mut Fields,
        (replicas, in_cluster): (u8, bool),
        mistakes: &mut Mistakes,
    ) -> Self {
        let library = library(fields, in_cluster, mistakes);
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
            library,
            read_from,
            connections,
        }
    }

    /// The same for one case: what does not stand on Redis has no such keys.
    pub(crate) fn of_case(fields: &mut Fields, service: &Service, mistakes: &mut Mistakes) -> Self {
        let Some(deployment) = service.get::<Deployment>() else {
            return Self::default();
        };
        let cluster = deployment.cluster.as_ref();
        let replicas = cluster.map_or(deployment.replicas, |cluster| cluster.replicas);
        Self::read(fields, (replicas, cluster.is_some()), mistakes)
    }

    /// Sets clients so.
    pub(super) fn set(self, deployment: &mut Deployment) {
        if let Some(ClientChoice::Library(library)) = self.library {
            library.set(deployment);
        }
        deployment.read_from = self.read_from.unwrap_or(deployment.read_from);
        deployment.connections = self.connections.unwrap_or(deployment.connections);
    }

    /// The client library that a case names, or its file.
    pub(crate) fn named_library(self, of_file: FileClients) -> Option<&'static RedisLibrary> {
        match self.library.or(of_file.switches.library)? {
            ClientChoice::Library(library) => Some(library),
            ClientChoice::None => None,
        }
    }

    /// Sets those of a case so, beside what its file says of them.
    pub(crate) fn set_with(self, of_file: FileClients, plan: &mut Plan) {
        of_file.set_library_of(&plan.recipe, self, &mut plan.service);
        if let Some(deployment) = plan.service.get_mut() {
            self.set(deployment);
        }
    }
}

/// Refuses what says when clients ask, or are told, who the primary is, where no server knows.
fn refuse_without_sources(fields: &mut Fields, sources: DiscoverySources, mistakes: &mut Mistakes) {
    if !sources.sentinels
        && !sources.cluster
        && let Some(item) = fields.get("poll")
    {
        let mistake = Mistake::new("there is no server that clients could ask")
            .label("they ask Sentinels, or the nodes of a cluster")
            .help("give `sentinels`, or `cluster`");
        mistakes.add(item.span, mistake);
    }
    if !sources.sentinels
        && let Some(item) = fields.get("switch-master")
    {
        let mistake = Mistake::new("there are no Sentinels to subscribe to")
            .label("they are who publishes `+switch-master`")
            .help("give `sentinels`");
        mistakes.add(item.span, mistake);
    }
}

/// What `[service.redis]` says of clients, for a case whose recipe stands on a library.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileClients {
    pub(super) keys: ClientKeys,
    pub(super) switches: Switches,
}

impl FileClients {
    /// Before Sentinels, where it depends on the library when a client finds the new primary, clients are as the
    /// library of the recipe is, unless the file or the case says which; what the file says of them counts beside it.
    fn set_library_of(self, recipe: &Recipe, of_case: Switches, service: &mut Service) {
        let Some(deployment) = service.get_mut::<Deployment>() else {
            return;
        };
        if deployment.sentinels.is_none() || self.switches.library.or(of_case.library).is_some() {
            return;
        }
        let library = recipe.client_library().and_then(RedisLibrary::named);
        if let Some(library) = library {
            library.set(deployment);
            self.refit(deployment);
        }
    }

    /// Sets again what the file says. What of the library contradicts it gives way.
    fn refit(self, deployment: &mut Deployment) {
        if self.keys.replay == Some(true) {
            deployment.retries = 0;
        }
        if self.keys.retries.is_some() {
            deployment.replay = false;
        }
        if self.keys.retry_pause.is_some() {
            deployment.retry_pause_max = None;
        }
        self.keys.apply(deployment);
        let most = deployment.retry_pause_max.unwrap_or(Duration::MAX);
        deployment.retry_pause = deployment.retry_pause.min(most);
        self.switches.set(deployment);
    }
}
