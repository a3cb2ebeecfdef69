//! Changes of the list of servers, which are disabled by default.

use std::rc::Rc;

use picklock_clients::zookeeper::{CreateMode, Reconfiguration, Request, Zxid};

use super::{Build, Case};

/// Every reconfiguration of every client is refused; that is a transaction like any other.
pub(super) const DISABLED: Case = Case {
    name: "reconfiguration is disabled",
    servers: 1,
    steps: |root, first, servers| {
        let mut build = Build::new(root, first, servers);
        let client = build.client(servers - 1);
        let text = |text: &str| Some(Rc::from(text));
        let asked = [
            Reconfiguration::default(),
            Reconfiguration {
                joining: text("server.9=127.0.0.1:1:2;3"),
                leaving: text("2"),
                ..Reconfiguration::default()
            },
            Reconfiguration {
                members: text("nonsense"),
                from_config: Some(Zxid(0)),
                ..Reconfiguration::default()
            },
        ];
        let reconfig = |asked: Reconfiguration| Request::Reconfig(Rc::new(asked));
        for asked in asked {
            build.ask(client, [reconfig(asked), build.exists("")]);
        }
        build.ask(client, [build.create("/a", CreateMode::Persistent)]);
        // So is a session that has moved on: its server is not looked at.
        if servers > 1 {
            let moved = build.resume(client, 0, false);
            let asked = || reconfig(Reconfiguration::default());
            build.ask(client, [asked()]);
            build.ask(moved, [asked(), build.exists("/a")]);
        }
        build.steps
    },
};
