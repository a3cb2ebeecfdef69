//! What a Sentinel answers to clients and to others of its kind.

use picklock_clients::redis::{Command, Value};
use picklock_machines::Chance;

use super::Sentinel;
use super::io::Output;
use super::settings::{CHANNEL, NAME};
use crate::ConnectionId;
use crate::replication_protocol::Address;

/// The channel that announces a new primary to clients.
const SWITCH: &str = "+switch-master";

impl Sentinel {
    pub(super) fn received(
        &mut self,
        connection: ConnectionId,
        command: &Command,
        chance: &mut dyn Chance,
    ) {
        let value = self.answer_to(connection, command, chance);
        self.context
            .out
            .push(Output::ToClient { connection, value });
    }

    fn answer_to(
        &mut self,
        connection: ConnectionId,
        command: &Command,
        chance: &mut dyn Chance,
    ) -> Value {
        let word = |index: usize| -> String {
            let words = command.word(index).unwrap_or_default();
            String::from_utf8_lossy(words).into_owned()
        };
        match word(0).to_ascii_uppercase().as_str() {
            "PING" => Value::Status("PONG".into()),
            "ROLE" => Value::array([Value::bulk("sentinel"), Value::array([Value::bulk(NAME)])]),
            "PUBLISH" if word(1) == CHANNEL => {
                self.process_hello(word(2).as_bytes());
                Value::Integer(1)
            }
            "SUBSCRIBE" if word(1) == SWITCH => {
                if !self.listeners.contains(&connection) {
                    self.listeners.push(connection);
                }
                let parts = [Value::bulk("subscribe"), Value::bulk(SWITCH)];
                Value::array(parts.into_iter().chain([Value::Integer(1)]))
            }
            "SENTINEL" => match word(1).to_ascii_uppercase().as_str() {
                "GET-MASTER-ADDR-BY-NAME" if word(2) == NAME => {
                    let Address { host, port } = self.current_primary();
                    Value::array([Value::bulk(&**host), Value::bulk(port.to_string())])
                }
                "GET-MASTER-ADDR-BY-NAME" => Value::NilArray,
                "IS-MASTER-DOWN-BY-ADDR" => {
                    let about = Address {
                        host: word(2).into(),
                        port: word(3).parse().unwrap_or(0),
                    };
                    let epoch = word(4).parse().unwrap_or(0);
                    self.opinion(&about, epoch, &word(5), chance)
                }
                "REPLICAS" | "SLAVES" if word(2) == NAME => {
                    let replicas = 0..self.replicas.len();
                    Value::array(replicas.map(|index| self.description(index)))
                }
                "REPLICAS" | "SLAVES" => Value::error("ERR No such master with that name"),
                what => Value::error(format!("ERR not modelled: SENTINEL {what}")),
            },
            what => Value::error(format!("ERR unknown command '{what}'")),
        }
    }

    /// Publishes a new primary to the subscribed clients (`+switch-master`).
    pub(super) fn publish_switch(&mut self, old: &Address, new: &Address) {
        let text = format!("{NAME} {} {} {} {}", old.host, old.port, new.host, new.port);
        for &connection in &self.listeners {
            let parts = [Value::bulk("message"), Value::bulk(SWITCH)];
            let value = Value::array(parts.into_iter().chain([Value::bulk(&*text)]));
            self.context
                .out
                .push(Output::ToClient { connection, value });
        }
    }
}
