//! Faults between servers, and between servers and clients.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{ContenderName, Fault, ServerName};

use super::super::reader::{Item, Mistake};
use super::Body;

impl Body<'_, '_, '_> {
    pub(super) fn isolate_server(&mut self) -> Option<Fault> {
        let (target, length) = (self.server(), self.length());
        if self.cast.service == ServiceKind::Redis {
            self.refuse_without_replicas();
        } else if self.cast.servers == Some(1) {
            let mistake = Mistake::new("there is nothing to isolate the server from")
                .label("the ensemble has one server")
                .help("give [service.zookeeper] 3 or 5 `servers`");
            self.mistakes.add(self.fields.span(), mistake);
        }
        Some(Fault::IsolateServer {
            target: target?,
            length: length?,
        })
    }

    /// Only in a cluster there are slots.
    pub(super) fn move_slot(&mut self) -> Option<Fault> {
        let to = self.cast.need_server(&mut self.fields, "to", self.mistakes);
        let length = self.time("for", "for = \"20s\"");
        if !self.cast.in_cluster {
            let mistake = Mistake::new("there are no slots")
                .label("the servers are no cluster")
                .help("give [service.redis] a `cluster`");
            self.mistakes.add(self.fields.span(), mistake);
        }
        Some(Fault::MoveSlot {
            to: to?,
            length: length?,
        })
    }

    /// Between servers of Redis there are links only if some are replicas.
    pub(super) fn refuse_without_replicas(&mut self) {
        if self.cast.service == ServiceKind::Redis && !self.cast.has_links {
            let mistake = Mistake::new("there is no replica")
                .label("the servers know nothing of each other")
                .help("give [service.redis] `replicas`");
            self.mistakes.add(self.fields.span(), mistake);
        }
    }

    pub(super) fn partition(&mut self) -> Option<Fault> {
        let example = "servers = [\"server-1\"]";
        let item = self.fields.need("servers", example);
        let servers = item.as_ref().and_then(|item| self.several_servers(item));
        let contenders = self.fields.get("contenders");
        let contenders = match &contenders {
            Some(item) => self.several_contenders(item),
            None => Some(Vec::new()),
        };
        let length = self.length();
        let (servers, contenders) = (servers?, contenders?);
        let besides = self.cast.observers + self.cast.sentinels;
        let machines = self.cast.servers.map(|it| it + besides);
        if let Some(item) = item.filter(|_| machines == u8::try_from(servers.len()).ok()) {
            let mistake = Mistake::new("all servers are on one side")
                .label("nobody is left on the other")
                .help("name some; to cut off contenders from all servers, use `black-hole`");
            self.mistakes.add(item.span, mistake);
            return None;
        }
        Some(Fault::Partition {
            servers,
            contenders,
            length: length?,
        })
    }

    pub(super) fn hold_link(&mut self) -> Option<Fault> {
        self.refuse_without_replicas();
        let example = "from = [\"follower-1\"]";
        let from = self.fields.need("from", example);
        let from = from.and_then(|item| self.several_servers(&item));
        let to_item = self.fields.need("to", "to = \"leader\"");
        let to = to_item
            .as_ref()
            .and_then(|item| self.cast.server(item, self.mistakes));
        let length = self.length();
        let (from, to) = (from?, to?);
        if let Some(item) = to_item.filter(|_| from.contains(&to)) {
            let mistake = Mistake::new("no server has a link to itself")
                .label("this server also stands in `from`");
            self.mistakes
                .add(item.span, mistake.help("take it away from one of the two"));
            return None;
        }
        Some(Fault::HoldLink {
            from,
            to,
            length: length?,
        })
    }

    fn several_servers(&mut self, item: &Item) -> Option<Vec<ServerName>> {
        const WANTED: &str = r#"a list of servers such as ["server-1"]"#;
        self.several(item, ("server", WANTED), |body, item| {
            body.cast.server(item, body.mistakes)
        })
    }

    fn several_contenders(&mut self, item: &Item) -> Option<Vec<ContenderName>> {
        const WANTED: &str = r#"a list of contenders such as ["contender-1"]"#;
        self.several(item, ("contender", WANTED), |body, item| {
            body.cast.contender(item, body.mistakes)
        })
    }

    /// A list of names, of which there is at least one, and none twice.
    fn several<T: PartialEq>(
        &mut self,
        item: &Item,
        (what, wanted): (&str, &'static str),
        read: impl Fn(&mut Self, &Item) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = item.list(wanted, self.mistakes)?;
        if items.is_empty() {
            let mistake = Mistake::new(format!("`{}` names no {what}", item.name));
            let mistake = mistake.help(format!("expected {wanted}"));
            self.mistakes.add(item.span.clone(), mistake);
            return None;
        }
        // All are read before any is missed, so that all mistakes are reported together.
        let named: Vec<_> = items.iter().map(|item| read(self, item)).collect();
        let mut several = Vec::new();
        for (item, name) in items.iter().zip(named) {
            let name = name?;
            if several.contains(&name) {
                let mistake = Mistake::new(format!("this {what} is named twice"));
                let mistake = mistake.help(format!("name each {what} once"));
                self.mistakes.add(item.span.clone(), mistake);
                return None;
            }
            several.push(name);
        }
        Some(several)
    }
}
