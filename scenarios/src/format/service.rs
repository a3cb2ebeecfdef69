//! `[service.NAME]`.

mod of_case;
mod redis;
mod zookeeper;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Ensemble, Service, Setting, SettingMut};

pub(super) use of_case::of_case;
pub(crate) use redis::{FileClients, NO_LIBRARY, PERSISTENCE, Switches};

use super::choice::choose;
use super::reader::{Fields, Mistakes, Zero};
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;

/// Reads `[service.…]`, and what it leaves open; also what it says of clients of Redis, and the least number of
/// servers, if the file gives it without a mistake. A file that does not say stands on what the algorithms of its cases
/// stand on, with every default.
pub(super) fn service(
    file: &mut Fields,
    catalogue: &Catalogue,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Service, FileClients, Option<u8>) {
    let unsaid = FileClients::default();
    let nothing = (Service::ZooKeeper(Ensemble::default()), unsaid, None);
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
    read(kind, fields, open, mistakes)
}

/// Reads what stands in the table of a service.
fn read(
    kind: ServiceKind,
    fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Service, FileClients, Option<u8>) {
    let unsaid = FileClients::default();
    match kind {
        ServiceKind::ZooKeeper => {
            let (ensemble, servers) = zookeeper::read(fields, open, mistakes);
            (Service::ZooKeeper(ensemble), unsaid, servers)
        }
        ServiceKind::Redis => {
            let (deployment, clients, servers) = redis::read(fields, open, mistakes);
            (Service::Redis(deployment), clients, servers)
        }
        other => {
            let mut service = Service::from(other);
            settings(fields, &mut service, mistakes);
            let servers = service.servers();
            (service, unsaid, Some(servers))
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
