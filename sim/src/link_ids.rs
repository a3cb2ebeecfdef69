//! The numbers of links, by their two ends.

use picklock_machines::Link;

use crate::network::ServerId;

/// Links between servers have the numbers below this.
const OF_SERVERS: u32 = 64;

/// Servers, in the numbers of the links between them. To clients, all servers are one place, which has this number.
const SERVERS: u32 = 8;

/// The link from one server to another.
pub(crate) fn between_servers(from: ServerId, to: ServerId) -> Link {
    let (from, to) = (u32::from(from.0), u32::from(to.0));
    Link {
        number: (from * SERVERS + to) % OF_SERVERS,
        destination: to % SERVERS,
    }
}

/// The link from a client to its server.
pub(crate) fn to_server(client: u32) -> Link {
    Link {
        number: OF_SERVERS + client * 2,
        destination: SERVERS,
    }
}

/// The link from a server to its client.
pub(crate) fn to_client(client: u32) -> Link {
    let number = OF_SERVERS + client * 2 + 1;
    Link {
        number,
        destination: number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_meet_where_they_arrive() {
        let [one, two, three] = [0, 1, 2].map(ServerId);
        let index = |link: Link| link.destination;
        let to_three = index(between_servers(one, three));
        assert_eq!(to_three, index(between_servers(two, three)));
        assert_ne!(to_three, index(between_servers(one, two)));
        assert_eq!(index(to_server(0)), index(to_server(7)));
        assert_ne!(index(to_server(0)), to_three);
        assert_ne!(index(to_client(0)), index(to_client(1)));
    }
}
