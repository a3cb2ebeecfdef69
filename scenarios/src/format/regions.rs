//! `[network.regions]` and `[network.between]`: who lies where, and how far regions are from each other.

use std::collections::BTreeMap;
use std::ops::Range;

use picklock_sim::plan::{ContenderName, ContenderSettings, Region, Regions, ServerName};

use super::participants::Participants;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::sampled_parameters::{ranges, whole};
use crate::sampled_parameters::{SampledParameters, SampledRegions};

/// What stands in `[network]` and can be read when it is known who takes part.
#[derive(Default)]
pub(super) struct Unread<'a> {
    regions: Option<Item<'a>>,
    between: Option<Item<'a>>,
}

/// The resource, by its word in the file.
const RESOURCE: &str = "resource";

impl<'a> Unread<'a> {
    /// Takes both from the table, for later.
    pub(super) fn take(network: &mut Fields<'a>) -> Self {
        Self {
            regions: network.get("regions"),
            between: network.get("between"),
        }
    }

    /// Reads both.
    pub(super) fn read(
        self,
        participants: Participants,
        settings: &BTreeMap<ContenderName, ContenderSettings>,
        open: &mut SampledParameters,
        mistakes: &mut Mistakes,
    ) -> Regions {
        let Some(regions) = self.regions else {
            if let Some(item) = self.between {
                let mistake = Mistake::new("there are no regions to have latencies between them")
                    .help(
                        "write [network.regions] and below it us = [\"server-1\", \"contender-1\"]",
                    );
                mistakes.add(item.span, mistake);
            }
            return Regions::default();
        };
        if regions.as_table().is_none() && regions.as_list().is_none() {
            open.regions = drawn(&regions, self.between.as_ref(), mistakes);
            return Regions::default();
        }
        let Some(fields) = regions.table("a table of regions, each a list of names", mistakes)
        else {
            return Regions::default();
        };
        let mut reader = Reader {
            participants,
            settings,
            open,
            named: Vec::new(),
        };
        let mut all = Vec::new();
        for (name, span, item) in fields.entries() {
            if is_kebab(name) {
                all.push(reader.region(name, &item, mistakes));
            } else {
                let mistake = Mistake::new("a region has a name in small letters")
                    .help("expected a name such as `us` or `eu-west`");
                mistakes.add(span, mistake);
            }
        }
        let between = match &self.between {
            Some(item) => between(item, &all, mistakes),
            None => BTreeMap::new(),
        };
        let span = self.between.map_or(regions.span, |item| item.span);
        refuse_gaps(&all, &between, span, mistakes);
        Regions { all, between }
    }
}

/// The most regions that a seed may draw.
const MOST_DRAWN: i64 = 16;

/// Regions that each seed draws: how many, and how far any two may be from each other.
fn drawn(number: &Item, between: Option<&Item>, mistakes: &mut Mistakes) -> Option<SampledRegions> {
    let range = whole(number, 1..=MOST_DRAWN, mistakes);
    let Some(item) = between else {
        let mistake = Mistake::new("regions that each seed draws have no latency between them")
            .help("add between = \"40ms..50ms\", or a list of such ranges to choose from");
        mistakes.add(number.span.clone(), mistake);
        return None;
    };
    let between = ranges(item, mistakes)?;
    let range = range?;
    if range.1 < 2 {
        let mistake = Mistake::new("one region changes nothing")
            .label("its members are as far from the others as without it")
            .help("say how many there may be, such as \"1..3\"");
        mistakes.add(number.span.clone(), mistake);
        return None;
    }
    Some(SampledRegions {
        number: range,
        between: match between.choices.is_empty() {
            true => vec![between.first],
            false => between.choices,
        },
    })
}

fn is_kebab(name: &str) -> bool {
    let is_part = |part: &str| {
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !part.is_empty() && part.bytes().all(letters)
    };
    name.split('-').all(is_part)
}

struct Reader<'r> {
    participants: Participants,
    settings: &'r BTreeMap<ContenderName, ContenderSettings>,
    open: &'r SampledParameters,
    /// The participants that lie in a region by now.
    named: Vec<String>,
}

impl Reader<'_> {
    fn region(&mut self, name: &str, item: &Item, mistakes: &mut Mistakes) -> Region {
        const WANTED: &str = r#"a list of names such as ["server-1", "contender-1", "resource"]"#;
        let mut region = Region {
            name: name.to_owned(),
            ..Region::default()
        };
        let members = item.list(WANTED, mistakes).unwrap_or_default();
        if members.is_empty() && mistakes.is_empty() {
            let mistake = Mistake::new(format!("the region `{name}` has no members"));
            mistakes.add(
                item.span.clone(),
                mistake.help(format!("expected {WANTED}")),
            );
        }
        for member in members {
            self.member(&mut region, &member, mistakes);
        }
        region
    }

    fn member(&mut self, region: &mut Region, item: &Item, mistakes: &mut Mistakes) {
        let Some(name) = item.text(r#"a name such as "server-1""#, mistakes) else {
            return;
        };
        if self.named.iter().any(|other| other == name) {
            let mistake = Mistake::new(format!("`{name}` lies in a region already"));
            mistakes.add(item.span.clone(), mistake.help("name it once"));
            return;
        }
        self.named.push(name.to_owned());
        if name == RESOURCE {
            region.resource = true;
        } else if name.starts_with("contender") {
            if let Some(contender) = self.participants.contender(item, mistakes) {
                self.refuse_own_latency(contender, item, mistakes);
                region.contenders.push(contender);
            }
        } else if let Some(server) = self.participants.server(item, mistakes) {
            match server {
                ServerName::Number(_) | ServerName::Observer(_) | ServerName::Sentinel(_) => {
                    region.servers.push(server);
                }
                ServerName::Leader
                | ServerName::Primary
                | ServerName::Follower(_)
                | ServerName::Of(_) => {
                    let mistake = Mistake::new(format!("`{name}` is not always the same machine"))
                        .label("a machine stays where it is")
                        .help("name a machine, such as `server-1`");
                    mistakes.add(item.span.clone(), mistake);
                }
            }
        }
    }

    /// A contender is as far away as it says, or as its region does.
    fn refuse_own_latency(&self, contender: ContenderName, item: &Item, mistakes: &mut Mistakes) {
        let own = self.settings.get(&contender);
        let said = own.is_some_and(|own| own.latency.is_some());
        let drawn = self.open.contender.as_ref();
        let drawn = drawn.is_some_and(|any| !any.latency.is_empty());
        if said || drawn {
            let mistake = Mistake::new("this contender has a latency of its own")
                .label("but its region says how far it is from the others")
                .help("take `latency` out of [[contender]], or the contender out of the region");
            mistakes.add(item.span.clone(), mistake);
        }
    }
}

type Latencies = BTreeMap<(String, String), (std::time::Duration, std::time::Duration)>;

/// Latencies by two names: `us.eu = "40ms..50ms"`.
fn between(item: &Item, all: &[Region], mistakes: &mut Mistakes) -> Latencies {
    let names: Vec<&str> = all.iter().map(|region| region.name.as_str()).collect();
    let mut found = Latencies::new();
    let Some(fields) = item.table("latencies such as us.eu = \"40ms..50ms\"", mistakes) else {
        return found;
    };
    for (one, span, item) in fields.entries() {
        if !names.contains(&one) {
            mistakes.add(span, Mistake::unknown("region", one, &names));
            continue;
        }
        let wanted = format!("a region and a latency, as in {one}.other = \"40ms..50ms\"");
        let Some(others) = item.table(&wanted, mistakes) else {
            continue;
        };
        for (other, span, item) in others.entries() {
            if !names.contains(&other) {
                mistakes.add(span, Mistake::unknown("region", other, &names));
                continue;
            }
            let Some(range) = item.range(mistakes) else {
                continue;
            };
            if found.insert(Regions::pair(one, other), range).is_some() {
                let mistake = Mistake::new(format!("`{one}` and `{other}` have two latencies"));
                mistakes.add(span, mistake.help("say it once, whichever comes first"));
            }
        }
    }
    found
}

/// Every two regions have a latency, and one that is alone has one of its own.
fn refuse_gaps(all: &[Region], known: &Latencies, span: Range<usize>, mistakes: &mut Mistakes) {
    if !mistakes.is_empty() {
        return;
    }
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            let (one, other) = (&one.name, &other.name);
            if !known.contains_key(&Regions::pair(one, other)) {
                let mistake = Mistake::new(format!("`{one}` and `{other}` have no latency"))
                    .help(format!("write between.{one}.{other} = \"40ms..50ms\""));
                mistakes.add(span.clone(), mistake);
            }
        }
    }
    if let [only] = all
        && known.is_empty()
    {
        let mistake = Mistake::new("one region changes nothing")
            .label("its members are as far from the others as without it")
            .help(format!(
                "name another, or write between.{0}.{0} = \"1ms\"",
                only.name
            ));
        mistakes.add(span, mistake);
    }
}
