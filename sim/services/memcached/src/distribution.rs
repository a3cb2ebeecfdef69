//! How a client finds the server of a key (libmemcached, `MEMCACHED_BEHAVIOR_DISTRIBUTION`), by the hash FNV-1a.

use picklock_machines::ServerId;

/// How keys are distributed over servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// The hash of the key, modulo the number of servers that are left: most keys move when a server goes.
    Modula,
    /// Points of all servers on a ring, as ketama has it: the keys of a server that goes move, and no others.
    Consistent,
}

/// How many points a server has on the ring.
const POINTS: u32 = 100;

impl Distribution {
    /// Both, with their names in scenario files.
    pub const ALL: [(&'static str, Self); 2] =
        [("modula", Self::Modula), ("consistent", Self::Consistent)];

    /// The server of a key, of these that are left; `None` if none is.
    pub fn server_of(self, key: &str, left: &[ServerId]) -> Option<ServerId> {
        let hash = fnv1a(key.bytes());
        match self {
            Self::Modula => {
                let place = hash.checked_rem(u32::try_from(left.len()).ok()?)?;
                left.get(place as usize).copied()
            }
            Self::Consistent => {
                let points = left.iter().flat_map(|server| {
                    (0..POINTS).map(|point| (place_of(*server, point), *server))
                });
                // The first point behind the hash, around the ring.
                let nearest = points.min_by_key(|(place, _)| place.wrapping_sub(hash));
                nearest.map(|(_, server)| server)
            }
        }
    }
}

fn place_of(server: ServerId, point: u32) -> u32 {
    fnv1a(format!("server-{}-{point}", server.0 + 1).bytes())
}

fn fnv1a(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ServerId; 3] = [ServerId(0), ServerId(1), ServerId(2)];
    const LEFT: [ServerId; 2] = [ServerId(0), ServerId(2)];

    /// How many of a hundred keys have another server, although theirs is left.
    fn moved(distribution: Distribution) -> usize {
        let keys = (0..100).map(|number| format!("lock-{number}"));
        keys.filter(|key| {
            let before = distribution.server_of(key, &ALL);
            before != Some(ServerId(1)) && before != distribution.server_of(key, &LEFT)
        })
        .count()
    }

    #[test]
    fn a_server_that_goes_moves_other_keys_only_by_modula() {
        assert_eq!(moved(Distribution::Consistent), 0);
        assert!(moved(Distribution::Modula) > 20);
    }

    #[test]
    fn no_server_has_the_key_if_none_is_left() {
        for (_, distribution) in Distribution::ALL {
            assert_eq!(distribution.server_of("k", &[]), None);
            assert_eq!(distribution.server_of("k", &ALL[..1]), Some(ServerId(0)));
        }
    }
}
