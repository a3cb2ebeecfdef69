use super::*;

fn describe(machine: &str, what: ServiceEventKind) -> String {
    let event = ServiceEvent {
        at: VirtualTime::ZERO,
        after: 0,
        machine: machine.to_owned(),
        what,
    };
    event.describe(&|id| format!("contender-{}", id.0 + 1))
}

fn on(servers: &[u32], of: u32) -> KeyHolders {
    KeyHolders {
        on: servers.iter().copied().map(ServerId).collect(),
        of,
    }
}

#[test]
fn who_has_a_key_is_said_as_short_as_it_can_be() {
    let said = [on(&[], 3), on(&[0], 1), on(&[0], 3), on(&[0, 1, 2], 3)];
    let said = said.map(|holders| holders.describe());
    let expected = [
        "on no server",
        "on server-1",
        "on server-1 alone",
        "on all 3 servers",
    ];
    assert_eq!(said, expected);
    let some = on(&[0, 1, 4], 5).describe();
    assert_eq!(some, "on server-1, server-2 and server-5 of 5 servers");
}

#[test]
fn a_promotion_says_who_decided_and_whether_the_key_was_there() {
    let by = Promoter::Sentinel {
        name: "sentinel-2".to_owned(),
        epoch: 1,
    };
    let promoted = ServiceEventKind::Promoted { by, key_of: None };
    assert_eq!(
        describe("server-3", promoted),
        "server-3 is promoted by sentinel-2 in epoch 1, without a key of the lock"
    );
}

#[test]
fn a_full_resynchronisation_says_what_it_throws_away() {
    let with = |discarded, key: Option<u32>| {
        let what = ServiceEventKind::FullSync {
            primary: ServerId(2),
            discarded,
            discarded_key_of: key.map(ContenderId),
        };
        describe("server-1", what)
    };
    let begin = "server-1 takes all keys of server-3 (full resynchronisation)";
    assert_eq!(with(None, None), begin);
    assert_eq!(
        with(Some(1), None),
        format!("{begin}, and discards 1 write")
    );
    let both = ", and discards 2 writes, the key of contender-1 among them";
    assert_eq!(with(Some(2), Some(0)), format!("{begin}{both}"));
}

#[test]
fn an_event_is_the_change_of_its_own_server_alone() {
    let what = ServiceEventKind::Leading {
        epoch: 2,
        previous: None,
    };
    let event = ServiceEvent {
        at: VirtualTime::ZERO,
        after: 0,
        machine: "server-2".to_owned(),
        what,
    };
    assert!(event.is_change(ServerId(1), ServerChange::Elected));
    assert!(!event.is_change(ServerId(0), ServerChange::Elected));
    assert!(!event.is_change(ServerId(1), ServerChange::Restarted));
}
