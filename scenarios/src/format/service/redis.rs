//! `[service.redis]`.

mod clients;
mod topology;

use picklock_sim::plan::{Deployment, Service, Settings, SettingsGroup};

pub(crate) use clients::{FileClients, Switches};

use self::topology::refuse_topology;
use crate::format::reader::{Fields, Item, Mistake, Mistakes};
use crate::format::value::{Given, Special};
use crate::keys::redis::REDIS;
use crate::sampled_parameters::SampledParameters;
use crate::units;

/// Reads `[service.redis]` into the usual settings; also the least number of servers, if it is given without a mistake.
pub(crate) fn read(
    mut deployment: Deployment,
    mut fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Deployment, FileClients, Option<u8>) {
    let special: [Special; 3] = [
        ("primaries", too_few_primaries),
        ("min-replicas-max-lag", fraction_of_a_second),
        ("client", clients::library_of_zookeeper),
    ];
    let given = Given::read(&mut fields, REDIS.keys(), &special, mistakes);
    for (key, value) in given.values(|key| key.of != Some(SettingsGroup::Clients)) {
        deployment.set_value(key, Some(value));
    }
    open.settings = given.choices();
    refuse_topology(&fields, &given, &deployment, mistakes);
    clients::refuse(&fields, &given, &deployment, mistakes);
    let clients = FileClients::of(&given);
    clients.set(&mut deployment);
    clients::refuse_contradictions(&deployment, fields.span(), mistakes);
    let each = open.each_with("servers", &Service::Redis(deployment.clone()));
    let least = each.iter().map(|service| service.servers()).min();
    let least = least.filter(|_| !given.is_mistaken(&fields, "servers"));
    fields.finish(mistakes);
    (deployment, clients, least)
}

/// A cluster has as many primaries as `redis-cli --cluster create` takes.
fn too_few_primaries(item: &Item) -> Option<Mistake> {
    let few = item.as_whole().filter(|number| (1..3).contains(number));
    few.map(|_| {
        Mistake::new("a cluster has at least three primaries")
            .label("if one of these fails, those that are left are no majority")
            .help("expected a whole number from 3 to 9")
    })
}

fn fraction_of_a_second(item: &Item) -> Option<Mistake> {
    let lag = units::parse_duration(item.as_text()?).ok()?;
    (lag.subsec_nanos() > 0).then(|| {
        Mistake::new("Redis measures this lag in whole seconds")
            .help("expected a duration such as \"10s\"")
    })
}
