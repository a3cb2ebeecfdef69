//! The questions that the core asks of the settings of a service.

use std::any::Any;
use std::time::Duration;

use picklock_clients::{RequestKind, ServiceKind};

use super::fault::FaultKind;
use super::names::ServerName;
use super::service_row::ServiceRow;
use super::setting_type::Settings;

/// What a plan says of a service, as far as it does not matter which it is.
pub trait ServiceSettings: Settings + Any {
    /// What is true of it however it is set.
    fn row(&self) -> &'static ServiceRow;

    /// Which it is.
    fn kind(&self) -> ServiceKind {
        self.row().kind
    }

    /// Which of several that answer differently it is, as the key and the word of a scenario file; `None` if they all
    /// answer alike.
    fn variant(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// How many servers there are, without observers.
    fn servers(&self) -> u8;

    /// How many of them know what is written for themselves, and not only because they follow another.
    fn voters(&self) -> u8 {
        self.servers()
    }

    /// Lets there be so many voters.
    fn set_servers(&mut self, voters: u8);

    /// The keys of settings that say how soon a failover begins.
    fn failover_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// The lease, if nothing else has to fit it.
    fn lease_mut(&mut self) -> Option<&mut Duration> {
        None
    }

    /// How many observers there are.
    fn observers(&self) -> u8 {
        0
    }

    /// How many Sentinels there are.
    fn sentinels(&self) -> u8 {
        0
    }

    /// How many machines there are that messages travel between: servers, observers, and Sentinels.
    fn machines(&self) -> u8 {
        self.servers() + self.observers() + self.sentinels()
    }

    /// Whether servers talk to each other.
    fn has_links(&self) -> bool {
        false
    }

    /// In which steps the service ends the sessions of its clients, in which a contender has a place in a queue; `None`
    /// if there are none.
    fn session_tick(&self) -> Option<Duration> {
        None
    }

    /// Whether each of several servers decides by what it alone knows.
    fn decides_alone(&self) -> bool {
        false
    }

    /// Whether recipes ask several servers that know nothing of each other, of which a majority decides.
    fn asks_majority(&self) -> bool {
        false
    }

    /// The place of the server that has the lock at first, if it is not on several.
    fn first_primary(&self) -> u8 {
        0
    }

    /// The places of that server's replicas.
    fn first_replicas(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Whether the server at this place is a primary before anything happens.
    fn is_primary_at_first(&self, _place: u32) -> bool {
        true
    }

    /// Over how many servers the keys of the lock are spread by slots, which can migrate; `None` if there are no slots.
    fn slot_owners(&self) -> Option<u8> {
        None
    }

    /// Whether the servers elect among themselves which of them takes the place of a lost one.
    fn elects(&self) -> bool {
        false
    }

    /// How long it takes at most until another server leads, if the leader or the primary is away and nothing else
    /// breaks; `None` if none comes to.
    fn failover(&self) -> Option<Duration> {
        None
    }

    /// How many turns a kind of fault has among those that seeds begin with. What befalls every process sooner or later
    /// has several: standing still, silence, death, an answer that is lost. So has what there is much to find with. An
    /// ensemble survives the death of a server, unless it is the only one; but while it does not agree no contender
    /// knows what has been done, and one that gives up leaves a node behind.
    fn turns(&self, kind: FaultKind) -> usize {
        match kind {
            FaultKind::Pause => 7,
            FaultKind::BlackHole => 5,
            FaultKind::CrashServer if self.servers() == 1 => 2,
            FaultKind::PowerLoss if self.tolerates_disk_errors() => 2,
            FaultKind::IsolateServer if self.reads_without_leader() => 2,
            FaultKind::Cancel
            | FaultKind::Promote
            | FaultKind::HoldLink
            | FaultKind::Crash
            | FaultKind::LoseReply => 2,
            _ => 1,
        }
    }

    /// Whether enough servers are left to serve without these, for recipes that wait until a replica has heard of a
    /// write, and if an operator promotes a replica: a majority of all, where nothing else is said.
    fn can_serve_without(&self, dead: &[ServerName], _waits: bool, _is_promoted: bool) -> bool {
        dead.len() * 2 < usize::from(self.servers())
    }

    /// Whether the node that recipes queue up below has yet to be made.
    fn lacks_lock_node(&self) -> bool {
        false
    }

    /// Whether servers that find no leader answer reads.
    fn reads_without_leader(&self) -> bool {
        false
    }

    /// How long the lock outlives the last sign of life of its holder: the session timeout, or the lease.
    fn lease(&self) -> Duration;

    /// The same with delays that may come on top, and some grace: the longest time until the lock of a dead owner has
    /// no owner.
    fn lease_at_most(&self) -> Duration {
        // For messages on their way.
        self.lease() + Duration::from_secs(1)
    }

    /// How long it can take until the service serves again after what has broken it is over.
    fn recovery(&self) -> Duration {
        Duration::ZERO
    }

    /// How long a server may wait in an acquisition before it answers one of these requests.
    fn wait_at_server(&self, _requests: &[RequestKind]) -> Duration {
        Duration::ZERO
    }

    /// How long a recipe waits for a server that does not answer, if it needs an answer or a time-out of each.
    fn timeout_of_each_server(&self) -> Duration {
        Duration::ZERO
    }

    /// How much later answers may come for a client to put up with it.
    fn tolerated_delay(&self) -> Duration;

    /// How long a client waits for an answer before it gives up what it asked for, by the keys of a scenario file.
    fn answer_timeouts(&self) -> Vec<(&'static str, Duration)> {
        Vec::new()
    }

    /// Whether its servers write to disks, and go on if they cannot: one that must write before it answers ends.
    fn tolerates_disk_errors(&self) -> bool {
        false
    }

    /// Whether a callback that does not return holds up anything in its clients.
    fn has_event_thread(&self) -> bool {
        false
    }

    /// Whether a lock can be deleted by its name.
    fn has_names(&self) -> bool {
        false
    }

    /// Whether its clients give up a request that is not answered.
    fn has_request_timeout(&self) -> bool {
        true
    }

    /// What a machine that is no server is called.
    fn other_machine(&self) -> &'static str {
        "observer"
    }

    /// What a machine is called: `server-1`, `observer-1`, `sentinel-2`.
    fn name_of(&self, machine: u8) -> String {
        match machine.checked_sub(self.servers()) {
            None => format!("server-{}", machine + 1),
            Some(index) => format!("{}-{}", self.other_machine(), index + 1),
        }
    }
}
