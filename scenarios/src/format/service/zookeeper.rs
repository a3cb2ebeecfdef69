//! `[service.zookeeper]`.

use picklock_sim::plan::{Ensemble, REDIS_LIBRARIES, Service, Value};

use crate::format::reader::{Fields, Item, Mistake, Mistakes};
use crate::format::value::{Given, Special};
use crate::sampled_parameters::SampledParameters;

/// Reads `[service.zookeeper]`; also the least number of servers, if it is given without a mistake.
pub(crate) fn read(
    mut fields: Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Ensemble, Option<u8>) {
    let mut ensemble = Ensemble::default();
    let special: [Special; 2] = [("servers", other_servers), ("client", library_of_redis)];
    let given = Given::read(&mut fields, Ensemble::KEYS, &special, mistakes);
    given.set(&mut ensemble);
    open.settings = given.choices();
    let each = open.each_with("servers", &Service::ZooKeeper(ensemble.clone()));
    let least = each.iter().map(|service| service.voters()).min();
    let least = least.filter(|_| !given.is_mistaken(&fields, "servers"));
    refuse_alone(&given, least, mistakes);
    if !given.is_mistaken(&fields, "session-timeout") {
        refuse_session_timeout(&fields, &ensemble, mistakes);
    }
    fields.finish(mistakes);
    (ensemble, least)
}

fn other_servers(item: &Item) -> Option<Mistake> {
    let number = item.as_whole()?;
    let mistake = Mistake::new(format!("there are no ensembles of {number} servers"));
    match number {
        1 | 3 | 5 | 7 => None,
        2 | 4 | 6 => Some(mistake.label("it would survive no more faults than one server less")),
        _ => Some(mistake),
    }
    .map(|mistake| mistake.help("expected 1, 3, 5, or 7"))
}

fn library_of_redis(item: &Item) -> Option<Mistake> {
    let is_named = |name: &str| item.as_text() == Some(name);
    let other = REDIS_LIBRARIES
        .iter()
        .find(|library| is_named(library.name))?;
    let mistake = Mistake::new(format!("`{}` is a client library of Redis", other.name));
    Some(
        mistake
            .label("the clients here are ZooKeeper's")
            .help("expected one of `java`, `kazoo`, `rust`, or `go`"),
    )
}

/// Refuses what a server that stands alone cannot have, and read-only servers for clients that are not modelled so.
fn refuse_alone(given: &Given, least: Option<u8>, mistakes: &mut Mistakes) {
    let is_java = |value: &Value| *value == Value::Named("java", None);
    let stands_alone = least == Some(1);
    if let Some((item, Value::Whole(1..))) = given.get("observers")
        && stands_alone
    {
        let mistake = Mistake::new("a server that stands alone has no observers")
            .label("there is no leader that they could follow")
            .help("take 3 or 5 servers, or leave out `observers`");
        mistakes.add(item.span.clone(), mistake);
    }
    let Some((item, Value::Flag(true))) = given.get("read-only") else {
        return;
    };
    let mistake = if stands_alone {
        Mistake::new("a server that stands alone has no leader to lose")
            .label("it would never answer reads alone")
            .help("take 3 or 5 servers, or leave out `read-only`")
    } else if !given.all("client").all(is_java) {
        Mistake::new("only the Java client is modelled with read-only servers")
            .label("the clients are others")
            .help("leave out `client`, or `read-only`")
    } else {
        return;
    };
    mistakes.add(item.span.clone(), mistake);
}

/// The session timeout must be one that ZooKeeper grants, between 2 and 20 ticks, unless the file says what is granted:
/// then clients may ask for more, or for less.
fn refuse_session_timeout(fields: &Fields, ensemble: &Ensemble, mistakes: &mut Mistakes) {
    let shown = crate::units::write_duration;
    let (least, most) = ensemble.granted_timeouts();
    let said = ensemble.min_session_timeout.is_some() || ensemble.max_session_timeout.is_some();
    let asked = ensemble.session_timeout;
    if said && least > most {
        mistakes.add(
            fields.span(),
            Mistake::new("the shortest session timeout is longer than the longest")
                .label(format!("from {} to {}", shown(least), shown(most)))
                .help(
                    "without `min-session-timeout` it is 2 ticks, and without `max-session-timeout` 20 ticks",
                ),
        );
    } else if !said && !(least..=most).contains(&asked) {
        let item = fields.peek("session-timeout");
        mistakes.add(
            item.map_or(fields.span(), |item| item.span),
            Mistake::new("ZooKeeper grants no such session timeout")
                .label(format!("the session timeout is {}", shown(asked)))
                .help(format!(
                    "expected between 2 and 20 ticks of {}: from \"{}\" to \"{}\"",
                    shown(ensemble.tick),
                    shown(least),
                    shown(most)
                )),
        );
    }
}
