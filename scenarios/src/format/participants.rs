//! Contenders and servers by name: `contender-1`, `leader`, `follower-2`, `observer-1`, `server-3`,
//! `server-of-contender-1`.

use picklock_sim::plan::{ContenderName, LockName, ServerName, Service, ServiceRow};

use super::reader::{Fields, Item, Mistake, Mistakes};
use crate::describe;
use crate::diagnostic::printable;
use crate::nearest::nearest;

/// The participants; `None` where the file is mistaken about how many there are.
#[derive(Clone, Copy)]
pub(super) struct Participants {
    pub(super) contenders: Option<u32>,
    /// How many locks there may be.
    pub(super) locks: u32,
    pub(super) servers: Option<u8>,
    /// Those that do not vote, besides.
    pub(super) observers: u8,
    pub(super) service: &'static ServiceRow,
    /// Whether servers talk to each other.
    pub(super) has_links: bool,
    pub(super) sentinels: u8,
    /// Whether the servers are the nodes of a cluster.
    pub(super) in_cluster: bool,
    /// Whether servers write to their disks, and go on if they cannot.
    pub(super) tolerates_disk_errors: bool,
    /// Whether a callback that does not return holds up anything.
    pub(super) has_event_thread: bool,
    /// Whether a lock can be deleted by its name.
    pub(super) has_names: bool,
}

impl Participants {
    /// Those of a service that has so many servers at least; one lock, and as many contenders as are named.
    pub(super) fn of(service: &Service, servers: Option<u8>) -> Self {
        Self {
            contenders: None,
            locks: 1,
            servers,
            observers: service.observers(),
            service: service.row(),
            has_links: service.has_links(),
            sentinels: service.sentinels(),
            in_cluster: service.slot_owners().is_some(),
            tolerates_disk_errors: service.tolerates_disk_errors(),
            has_event_thread: service.has_event_thread(),
            has_names: service.has_names(),
        }
    }
}

/// The number at the end of `prefix-7`: 7. Written in one way only.
fn numbered(name: &str, prefix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?.strip_prefix('-')?;
    let canonical = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    if canonical || digits == "0" {
        digits.parse().ok()
    } else {
        None
    }
}

impl Participants {
    /// A contender that takes part.
    pub(super) fn contender(self, item: &Item, mistakes: &mut Mistakes) -> Option<ContenderName> {
        let name = item.text(
            r#"the name of a contender, such as "contender-1""#,
            mistakes,
        )?;
        self.contender_named(name, item, mistakes)
    }

    fn contender_named(
        self,
        name: &str,
        item: &Item,
        mistakes: &mut Mistakes,
    ) -> Option<ContenderName> {
        let contenders = self.contenders.unwrap_or(u32::MAX);
        let range = match contenders {
            1 => "there is contender-1 only".to_owned(),
            2 => "there are contender-1 and contender-2".to_owned(),
            _ => format!("there are contender-1 to contender-{contenders}"),
        };
        let mistake = match numbered(name, "contender") {
            Some(number) if (1..=contenders).contains(&number) => {
                return Some(ContenderName(number - 1));
            }
            Some(0) => Mistake::new("there is no contender-0")
                .label("contenders are counted from 1")
                .help(range),
            Some(number) => Mistake::new(format!("there is no contender-{number}"))
                .label(format!(
                    "the workload has {}",
                    plural(contenders, "contender")
                ))
                .help(range),
            None => {
                let mistake = Mistake::new(format!("unknown contender `{}`", printable(name)));
                let near = (1..=contenders.min(9)).map(|number| format!("contender-{number}"));
                let near: Vec<String> = near.collect();
                let mistake = match nearest(name, near.iter().map(String::as_str)) {
                    Some(near) => mistake.label(format!("did you mean `{near}`?")),
                    None => mistake,
                };
                mistake.help(range)
            }
        };
        mistakes.add(item.span.clone(), mistake);
        None
    }

    /// A lock that there is: `lock-a`.
    pub(super) fn lock(self, item: &Item, mistakes: &mut Mistakes) -> Option<LockName> {
        let name = item.text(r#"the name of a lock, such as "lock-a""#, mistakes)?;
        let mut letters = name.strip_prefix("lock-").unwrap_or_default().chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        let lock = letter.and_then(LockName::of_letter);
        if let Some(lock) = lock.filter(|lock| lock.0 < self.locks) {
            return Some(lock);
        }
        let mistake = Mistake::new(format!("there is no lock `{}`", printable(name)));
        let last = describe::lock(LockName(self.locks.saturating_sub(1)));
        let mistake = mistake.help(match self.locks {
            1 => "there is `lock-a` only: give [workload] `locks`".to_owned(),
            2 => "there are `lock-a` and `lock-b`".to_owned(),
            _ => format!("there are `lock-a` to `{last}`"),
        });
        mistakes.add(item.span.clone(), mistake);
        None
    }

    /// The contender of a field that must be there.
    pub(super) fn need_contender(
        self,
        fields: &mut Fields,
        key: &'static str,
        mistakes: &mut Mistakes,
    ) -> Option<ContenderName> {
        let item = fields.need(key, &format!("{key} = \"contender-1\""))?;
        self.contender(&item, mistakes)
    }

    /// A server, by its role or its number.
    pub(super) fn server(self, item: &Item, mistakes: &mut Mistakes) -> Option<ServerName> {
        let name = item.text(r#"the name of a server, such as "server-1""#, mistakes)?;
        match self.service.has_roles {
            true => self.server_by_role(name, item, mistakes),
            false => self.server_by_number(name, item, mistakes),
        }
    }

    /// Servers that know nothing of each other have numbers, and no primary.
    fn server_by_number(
        self,
        name: &str,
        item: &Item,
        mistakes: &mut Mistakes,
    ) -> Option<ServerName> {
        if name == "primary" && self.has_links {
            return Some(ServerName::Primary);
        }
        let servers = u32::from(self.servers.unwrap_or(u8::MAX));
        if let Some(number) = numbered(name, "server")
            && (1..=servers).contains(&number)
        {
            return Some(ServerName::Number(number - 1));
        }
        let sentinels = u32::from(self.sentinels);
        if let Some(number) = numbered(name, "sentinel")
            && (1..=sentinels).contains(&number)
        {
            return Some(ServerName::Sentinel(number - 1));
        }
        let mistake = Mistake::new(format!("there is no server `{}`", printable(name)));
        mistakes.add(
            item.span.clone(),
            mistake.help(match (servers, sentinels) {
                (1, _) => "expected `server-1`, the only one".to_owned(),
                (_, 0) if self.has_links => {
                    format!("expected `primary`, or one of `server-1` to `server-{servers}`")
                }
                (_, 0) => format!("expected one of `server-1` to `server-{servers}`"),
                _ => format!(
                    "expected `primary`, one of `server-1` to `server-{servers}`, or `sentinel-1` \
                     to `sentinel-{sentinels}`"
                ),
            }),
        );
        None
    }

    fn server_by_role(
        self,
        name: &str,
        item: &Item,
        mistakes: &mut Mistakes,
    ) -> Option<ServerName> {
        if name == "leader" {
            return Some(ServerName::Leader);
        }
        if let Some(contender) = name.strip_prefix("server-of-") {
            return self
                .contender_named(contender, item, mistakes)
                .map(ServerName::Of);
        }
        if let Some(number) = numbered(name, "observer") {
            return self.observer(number, item, mistakes);
        }
        let servers = u32::from(self.servers.unwrap_or(u8::MAX));
        let followers = servers.saturating_sub(1);
        let (number, prefix, there_are) = match numbered(name, "follower") {
            Some(number) => (number, "follower", followers),
            None => match numbered(name, "server") {
                Some(number) => (number, "server", servers),
                None => {
                    self.unknown_server(name, item, mistakes);
                    return None;
                }
            },
        };
        if !(1..=there_are).contains(&number) {
            let label = match (number, followers) {
                (0, _) => format!("{prefix}s are counted from 1"),
                (_, 0) => "the ensemble has one server, and it leads".to_owned(),
                (_, _) => format!(
                    "the ensemble has {}: a leader and {}",
                    plural(servers, "server"),
                    plural(followers, "follower")
                ),
            };
            let mistake = Mistake::new(format!("there is no {prefix}-{number}")).label(label);
            mistakes.add(item.span.clone(), mistake.help(self.servers_there_are()));
            return None;
        }
        Some(match prefix {
            "follower" => ServerName::Follower(number - 1),
            _ => ServerName::Number(number - 1),
        })
    }

    fn observer(self, number: u32, item: &Item, mistakes: &mut Mistakes) -> Option<ServerName> {
        let observers = u32::from(self.observers);
        if (1..=observers).contains(&number) {
            return Some(ServerName::Observer(number - 1));
        }
        let mistake = Mistake::new(format!("there is no observer-{number}"));
        let mistake = match (number, observers) {
            (_, 0) => mistake.label("every server of the ensemble votes"),
            (0, _) => mistake.label("observers are counted from 1"),
            (_, _) => mistake.label(format!(
                "the ensemble has {}",
                plural(observers, "observer")
            )),
        };
        let mistake = match observers {
            0 => mistake.help("give [service.zookeeper] `observers`"),
            _ => mistake.help(self.servers_there_are()),
        };
        mistakes.add(item.span.clone(), mistake);
        None
    }

    fn unknown_server(self, name: &str, item: &Item, mistakes: &mut Mistakes) {
        let mistake = Mistake::new(format!("unknown server `{}`", printable(name)));
        let near = [
            "leader",
            "follower-1",
            "follower-2",
            "observer-1",
            "server-1",
            "server-2",
            "server-3",
            "server-of-contender-1",
        ];
        let mistake = match nearest(name, near) {
            Some(near) => mistake.label(format!("did you mean `{near}`?")),
            None => mistake,
        };
        mistakes.add(item.span.clone(), mistake.help(self.servers_there_are()));
    }

    fn servers_there_are(self) -> String {
        let of = "`server-of-contender-1` and the like";
        let observers = match self.observers {
            0 => String::new(),
            1 => "`observer-1`, ".to_owned(),
            more => format!("`observer-1` to `observer-{more}`, "),
        };
        match self.servers {
            Some(1) => format!("expected `leader`, `server-1`, or {of}"),
            Some(servers) => format!(
                "expected `leader`, `follower-1` to `follower-{}`, `server-1` to \
                 `server-{servers}`, {observers}or {of}",
                servers.saturating_sub(1)
            ),
            None => format!("expected `leader`, `follower-1`, `server-1`, or {of}"),
        }
    }

    /// The server of a field that must be there.
    pub(super) fn need_server(
        self,
        fields: &mut Fields,
        key: &'static str,
        mistakes: &mut Mistakes,
    ) -> Option<ServerName> {
        let example = match self.service.has_roles {
            true => "leader",
            false => "server-1",
        };
        let item = fields.need(key, &format!("{key} = \"{example}\""))?;
        self.server(&item, mistakes)
    }
}

/// `1 server`, `3 servers`.
pub(super) fn plural(number: u32, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
