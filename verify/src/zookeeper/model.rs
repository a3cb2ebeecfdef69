//! The model: simulated servers, and a network that takes a fixed time.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::time::whole_micros;
use picklock_clients::zookeeper::SessionId;
use picklock_testkit::Cluster;
use picklock_zookeeper::messages::{ClientMessage, ConnectionId, Password};
use picklock_zookeeper::state::{QuorumPeerConfig, Server};
use picklock_zookeeper::test_ensemble::{Connection, Ensemble};

use crate::harness::clock::Clock;
use crate::harness::error::VerifyError;
use crate::zookeeper::backend::{ConnectRequest, EnsembleBackend, Handle, Incoming, ServerIndex};

/// One way between any two.
const LATENCY: Duration = Duration::from_micros(100);

/// Simulated servers, and what is on its way.
pub struct Model {
    ensemble: Ensemble<()>,
}

impl Model {
    /// Servers that have formed an ensemble and serve; or one that stands alone.
    pub fn formed(settings: QuorumPeerConfig) -> Self {
        Self {
            ensemble: Ensemble::new(&Rc::new(settings), &[], LATENCY),
        }
    }

    fn server(&self, place: ServerIndex) -> &Server {
        &self.ensemble.servers[place.0]
    }

    fn connection(&mut self, link: Handle) -> Option<&mut Connection> {
        self.ensemble.connections.get_mut(&id(link))
    }
}

fn id(link: Handle) -> ConnectionId {
    ConnectionId(link.0 as u32)
}

impl Clock for Model {
    fn pass(&mut self, time: Duration) -> Result<(), VerifyError> {
        self.ensemble.run_for(time);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.ensemble.now().since_start()
    }
}

impl EnsembleBackend for Model {
    fn connect(
        &mut self,
        place: ServerIndex,
        hello: &ConnectRequest,
    ) -> Result<Handle, VerifyError> {
        let mut known = self.ensemble.connections.values().rev();
        let known =
            known.find(|known| known.session == hello.session && known.session != SessionId(0));
        let mut password = known.map(|connection| connection.password);
        if hello.wrong_password {
            password = password.map(|right| Password(!right.0));
        }
        let message = ClientMessage::Connect {
            session: hello.session,
            password: password.unwrap_or_default(),
            timeout: whole_micros(hello.timeout),
            last_zxid: hello.last_zxid,
            read_only: hello.read_only,
        };
        let id = self.ensemble.open(place.0 as u8, message);
        Ok(Handle(id.0 as usize))
    }

    fn send(&mut self, link: Handle, message: &ClientMessage) -> Result<(), VerifyError> {
        self.ensemble.send(id(link), message.clone());
        Ok(())
    }

    fn receive(&mut self, link: Handle, timeout: Duration) -> Result<Incoming, VerifyError> {
        let until = self.ensemble.now() + timeout;
        self.ensemble.run_until_met(until, |ensemble| {
            let connection = ensemble.connections.get(&id(link));
            connection.is_none_or(|link| !link.open || !link.inbox.is_empty())
        });
        Ok(match self.connection(link) {
            Some(link) if !link.inbox.is_empty() => Incoming::Message(link.inbox.remove(0)),
            Some(link) if link.open => Incoming::Nothing,
            _ => Incoming::Closed,
        })
    }

    fn cut(&mut self, link: Handle) {
        self.ensemble.cut(id(link));
    }

    fn kill(&mut self, place: ServerIndex) -> Result<(), VerifyError> {
        self.ensemble.crash(place.0 as u8);
        Ok(())
    }

    fn start(&mut self, place: ServerIndex) -> Result<(), VerifyError> {
        self.ensemble.restart(place.0 as u8);
        Ok(())
    }

    fn leader(&mut self) -> Result<Option<ServerIndex>, VerifyError> {
        let leads = |server: &Server| server.is_leader() && server.is_serving();
        Ok(self
            .ensemble
            .servers
            .iter()
            .position(leads)
            .map(ServerIndex))
    }

    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool, VerifyError> {
        let server = self.server(place);
        Ok(server.is_serving() && server.is_read_only())
    }

    fn serves(&mut self, place: ServerIndex) -> Result<bool, VerifyError> {
        let server = self.server(place);
        Ok(server.is_serving() && !server.is_read_only())
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// It is an answer like any other, and the real server will have another.
    fn silent(&mut self, _link: Handle, _asked: &str) -> Result<(), VerifyError> {
        Ok(())
    }
}
