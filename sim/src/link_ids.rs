//! Links have numbers: by which a message goes, and where it ends.

use crate::network::ServerId;

/// Links between servers have the numbers below this.
const OF_SERVERS: u32 = 64;

/// Servers, in the numbers of the links between them.
const SERVERS: u32 = 8;

/// The number of the link from one server to another.
pub(crate) fn between_servers(from: ServerId, to: ServerId) -> u32 {
    (u32::from(from.0) * SERVERS + u32::from(to.0)) % OF_SERVERS
}

/// The number of the link from a client to its server.
pub(crate) fn to_server(client: u32) -> u32 {
    OF_SERVERS + client * 2
}

/// The number of the link from a server to its client.
pub(crate) fn to_client(client: u32) -> u32 {
    OF_SERVERS + client * 2 + 1
}

/// Where the messages of a link meet those of others. To clients, all servers are one place.
pub(crate) fn end_of(link: u32) -> u32 {
    match link.checked_sub(OF_SERVERS) {
        None => link % SERVERS,
        Some(of_client) if of_client % 2 == 0 => SERVERS,
        Some(_) => link,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_meet_where_they_arrive() {
        let [one, two, three] = [0, 1, 2].map(ServerId);
        assert_eq!(
            end_of(between_servers(one, three)),
            end_of(between_servers(two, three))
        );
        assert_ne!(
            end_of(between_servers(one, three)),
            end_of(between_servers(one, two))
        );
        assert_eq!(end_of(to_server(0)), end_of(to_server(7)));
        assert_ne!(end_of(to_server(0)), end_of(between_servers(one, two)));
        assert_ne!(end_of(to_client(0)), end_of(to_client(1)));
    }
}
