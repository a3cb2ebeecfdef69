//! `[service.NAME]`.

mod of_case;
pub(crate) mod redis;
mod variant;
pub(crate) mod zookeeper;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;

pub(super) use of_case::of_case;
pub(crate) use redis::{FileClients, Switches};
pub(super) use variant::{MANY, refuse_on_other_variant};

use super::choice::choose;
use super::reader::{Fields, Item, Mistakes};
use super::value::Given;
use crate::nearest::nearest;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Catalogue;
use crate::services::supported;

/// Reads `[service.…]`, and what it leaves open; also what it says of clients of Redis, and the least number of
/// servers, if the file gives it without a mistake. A file that does not say stands on what the algorithms of its cases
/// stand on, with every default.
pub(super) fn service(
    file: &mut Fields,
    catalogue: &Catalogue,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Service, FileClients, Option<u8>) {
    let any = Service::from(ServiceKind::ALL[0]);
    let nothing = (any, FileClients::default(), None);
    let (service, fields) = match file.get("service") {
        Some(item) => {
            let services = ServiceKind::ALL.map(|kind| (kind.name(), kind));
            match choose(&item, "service", &services, mistakes) {
                Some(chosen) => (chosen.kind.into(), chosen.fields(mistakes)),
                None => match meant(&item) {
                    Some((kind, fields)) => (kind.into(), Some(fields)),
                    None => return nothing,
                },
            }
        }
        None => match service_of_first_case(file, catalogue) {
            Some(service) => (service, Some(Fields::none(file.span()))),
            None => return nothing,
        },
    };
    let Some(fields) = fields else {
        return nothing;
    };
    read(service, fields, open, mistakes)
}

/// The service that a misspelt name comes nearest to, and its fields: what follows is read as that.
fn meant<'a>(item: &Item<'a>) -> Option<(ServiceKind, Fields<'a>)> {
    let names = ServiceKind::ALL.map(ServiceKind::name);
    let named = item.as_table()?.entries();
    let (name, _, body) = named.first()?;
    let kind = ServiceKind::named(nearest(name, names)?)?;
    Some((kind, body.as_table()?))
}

/// Reads what stands in the table of a service.
fn read(
    mut service: Service,
    fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Service, FileClients, Option<u8>) {
    let kind = service.kind();
    if let Some(read) = supported(kind).read {
        return read(service, fields, open, mistakes);
    }
    let mut fields = fields;
    let given = Given::read(&mut fields, supported(kind).keys.keys(), &[], mistakes);
    given.set(&mut *service);
    open.settings = given.choices();
    fields.finish(mistakes);
    let servers = service.servers();
    (service, FileClients::default(), Some(servers))
}

/// What the first case stands on whose algorithm is known.
fn service_of_first_case(file: &Fields, catalogue: &Catalogue) -> Option<Service> {
    let cases = file.peek("case")?.as_list()?;
    cases.iter().find_map(|case| {
        let algorithm = case.as_table()?.peek("algorithm")?.as_text()?;
        let mut known = catalogue.algorithms.iter();
        let recipe = known.find(|recipe| recipe.name == algorithm)?;
        Some(Service::for_build(recipe.build))
    })
}
