//! How the clients of `[service.redis]` are set, there or for one case alone.

use std::ops::Range;
use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_sim::plan::{
    Deployment, Library, Plan, RedisLibrary, Service, Settings, SettingsGroup, Value,
};

use super::topology::replicas_of_each;
use crate::format::reader::{Fields, Item, Mistake, Mistakes, expected};
use crate::format::value::{Given, Special};
use crate::keys::redis::{CLIENTS, NO_LIBRARY, REDIS};

/// Which client library a file, or a case, names.
#[derive(Clone, Copy, Debug)]
enum ClientChoice {
    /// None: settings that are not given are those of no library.
    None,
    /// This one.
    Library(&'static RedisLibrary),
}

/// Keys that a case may have, too.
const SWITCHES: [&str; 3] = ["client", "read-from", "connections"];

pub(super) fn library_of_zookeeper(item: &Item) -> Option<Mistake> {
    let is_named = |name: &str| item.as_text() == Some(name);
    let (name, _) = Library::ALL.iter().find(|(name, _)| is_named(name))?;
    let mistake = Mistake::new(format!("`{name}` is a client library of ZooKeeper"));
    Some(
        mistake
            .label("the clients here are those of Redis")
            .help(expected(&(CLIENTS.names)())),
    )
}

/// Refuses settings of clients where no server is as they need it.
pub(super) fn refuse(
    fields: &Fields,
    given: &Given,
    deployment: &Deployment,
    mistakes: &mut Mistakes,
) {
    let mut refuse = |key: &str, mistake: Mistake| {
        if let Some(item) = fields.peek(key) {
            mistakes.add(item.span, mistake);
        }
    };
    let has_sentinels = deployment.sentinels.is_some();
    if deployment.cluster.is_some() {
        for key in ["retry-pause-max", "replay"] {
            refuse(key, in_cluster());
        }
    } else if !has_sentinels {
        let mistake = Mistake::new("there is no server that clients could ask")
            .label("they ask Sentinels, or the nodes of a cluster")
            .help("give `sentinels`, or `cluster`");
        refuse("poll", mistake);
    }
    if !has_sentinels {
        let mistake = Mistake::new("there are no Sentinels to subscribe to")
            .label("they publish `+switch-master`")
            .help("give `sentinels`");
        refuse("switch-master", mistake);
    }
    refuse_switches(given, deployment, mistakes);
}

/// How clients of a cluster send commands again is modelled as redis-py does it, and in no other way.
fn in_cluster() -> Mistake {
    Mistake::new("clients of a cluster follow rules of their own")
        .label("this is modelled for clients of one server, of several, and of Sentinels")
        .help("leave it out, or `cluster`")
}

/// Refuses another library in a cluster, and reads from replicas where there are none.
fn refuse_switches(given: &Given, deployment: &Deployment, mistakes: &mut Mistakes) {
    if let Some((item, Value::Named(name, _))) = given.get("client")
        && *name != NO_LIBRARY
        && deployment.cluster.is_some()
    {
        mistakes.add(item.span.clone(), in_cluster());
    }
    if let Some((item, _)) = given.get("read-from")
        && replicas_of_each(deployment) == 0
    {
        let mistake = Mistake::new("there are only primaries to read from")
            .label("no server has a replica")
            .help("give `replicas`, or `cluster` with `replicas-of-each`, or leave this out");
        mistakes.add(item.span.clone(), mistake);
    }
}

/// Refuses clients whose settings contradict each other.
pub(super) fn refuse_contradictions(
    deployment: &Deployment,
    table: Range<usize>,
    mistakes: &mut Mistakes,
) {
    if deployment.replay && deployment.retries > 0 {
        let mistake = Mistake::new("a client that replays commands counts no retries")
            .label("it sends a command again until its timeout is over")
            .help("leave out `retries`, or give `replay = false`");
        mistakes.add(table.clone(), mistake);
    }
    let first = deployment.retry_pause;
    if deployment.retry_pause_max.is_some_and(|most| most < first) {
        let mistake = Mistake::new("the longest pause before a retry is shorter than the first")
            .label("`retry-pause-max` is less than `retry-pause`")
            .help("the pause doubles from `retry-pause` up to `retry-pause-max`");
        mistakes.add(table, mistake);
    }
}

/// What a file, or a case, says of clients that a case may say, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switches {
    library: Option<ClientChoice>,
    settings: Vec<(&'static str, Value)>,
}

impl Switches {
    fn of(given: &Given) -> Self {
        let named = |value: &Value| match value {
            Value::Named(name, _) => {
                RedisLibrary::named(name).map_or(ClientChoice::None, ClientChoice::Library)
            }
            _ => ClientChoice::None,
        };
        Self {
            library: given.get("client").map(|(_, value)| named(value)),
            settings: given.values(|key| SWITCHES[1..].contains(&key.name)),
        }
    }

    /// Those of one case: what does not stand on Redis has no such keys.
    pub(crate) fn of_case(fields: &mut Fields, service: &Service, mistakes: &mut Mistakes) -> Self {
        let Some(deployment) = service.get::<Deployment>() else {
            return Self::default();
        };
        let keys = REDIS.keys();
        let keys = keys.filter(|key| SWITCHES.contains(&key.name));
        let special: [Special; 1] = [("client", library_of_zookeeper)];
        let given = Given::read(fields, keys, &special, mistakes);
        refuse_switches(&given, deployment, mistakes);
        Self::of(&given)
    }

    /// Sets clients so.
    fn set(&self, deployment: &mut Deployment) {
        if let Some(ClientChoice::Library(library)) = self.library {
            library.set(deployment);
        }
        set(&self.settings, deployment);
    }

    /// The client library that a case names, or its file.
    pub(crate) fn named_library(&self, of_file: &FileClients) -> Option<&'static RedisLibrary> {
        match self.library.or(of_file.switches.library)? {
            ClientChoice::Library(library) => Some(library),
            ClientChoice::None => None,
        }
    }

    /// Sets those of a case so, beside what its file says of them.
    pub(crate) fn set_with(&self, of_file: &FileClients, plan: &mut Plan) {
        let Some(deployment) = plan.service.get_mut() else {
            return;
        };
        of_file.set_library_of(&plan.recipe, self, deployment);
        self.set(deployment);
    }
}

fn set(values: &[(&'static str, Value)], deployment: &mut Deployment) {
    for (key, value) in values {
        deployment.set_value(key, Some(value.clone()));
    }
}

/// What `[service.redis]` says of clients, for a case whose recipe stands on a library.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileClients {
    settings: Vec<(&'static str, Value)>,
    switches: Switches,
}

impl FileClients {
    pub(super) fn of(given: &Given) -> Self {
        let is_setting = |name| !SWITCHES.contains(&name);
        Self {
            settings: given
                .values(|key| key.of == Some(SettingsGroup::Clients) && is_setting(key.name)),
            switches: Switches::of(given),
        }
    }

    /// Sets clients so.
    pub(super) fn set(&self, deployment: &mut Deployment) {
        self.switches.set(deployment);
        set(&self.settings, deployment);
    }

    /// Before Sentinels, where it depends on the library when a client finds the new primary, clients are as the
    /// library of the recipe is, unless the file or the case says which; what the file says of them counts beside it.
    fn set_library_of(&self, recipe: &Recipe, of_case: &Switches, deployment: &mut Deployment) {
        let is_named = self.switches.library.or(of_case.library).is_some();
        if deployment.sentinels.is_none() || is_named {
            return;
        }
        let library = recipe.client_library().and_then(RedisLibrary::named);
        if let Some(library) = library {
            library.set(deployment);
            self.refit(deployment);
        }
    }

    /// Sets again what the file says. What of the library contradicts it gives way.
    fn refit(&self, deployment: &mut Deployment) {
        let said = |key: &str| self.settings.iter().find(|(known, _)| *known == key);
        if said("replay").is_some_and(|(_, value)| *value == Value::Flag(true)) {
            deployment.retries = 0;
        }
        if said("retries").is_some() {
            deployment.replay = false;
        }
        if said("retry-pause").is_some() {
            deployment.retry_pause_max = None;
        }
        self.set(deployment);
        let most = deployment.retry_pause_max.unwrap_or(Duration::MAX);
        deployment.retry_pause = deployment.retry_pause.min(most);
    }
}
