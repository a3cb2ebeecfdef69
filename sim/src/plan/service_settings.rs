//! What is asked of every service, whichever it is.

use std::time::Duration;

use picklock_clients::ServiceKind;

/// A setting of a service that a scenario file may give, by its key.
pub struct Setting<'a> {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: SettingMut<'a>,
}

/// The value of a setting, by its type.
pub enum SettingMut<'a> {
    /// How long something takes, not nothing.
    Duration(&'a mut Duration),
}

/// What a plan says of a service, as far as it does not matter which it is.
pub trait ServiceSettings {
    /// Its settings, for a service that has no format of its own in scenario files.
    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    /// Which it is.
    fn kind(&self) -> ServiceKind;

    /// How many servers there are, without observers.
    fn servers(&self) -> u8;

    /// How many of them know what is written for themselves, and not only because they follow another.
    fn voters(&self) -> u8 {
        self.servers()
    }

    /// Lets there be so many voters.
    fn set_servers(&mut self, voters: u8);

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

    /// How long the lock outlives the last sign of life of who holds it: the session timeout, or the lease.
    fn lease(&self) -> Duration;

    /// The same with what may come on top of it, and some grace: how long it can take until nobody owns what a dead
    /// owner has left.
    fn lease_at_most(&self) -> Duration {
        // For messages on their way.
        self.lease() + Duration::from_secs(1)
    }

    /// How long it can take until the service serves again after what has broken it is over.
    fn recovery(&self) -> Duration {
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
