//! Real members on loopback.

pub(super) mod install;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::compare::{Awaited, Members, number};
use super::gateway;
use super::http::{Call, WebSocket};
use crate::harness::clock;
use crate::harness::error::{Result, VerifyError, unless_stopped};
use crate::harness::network::free_ports;
use crate::harness::process::Process;
use crate::harness::temporary_folder::TemporaryFolder;
use install::Installed;

/// How long members may take to find a leader, or to answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How often one looks.
const LOOK: Duration = Duration::from_millis(1);
/// How long answers and events are waited for that the model has.
const PATIENCE: Duration = Duration::from_secs(2);
/// After which time a watch that begins in the past has seen it.
const SYNC: Duration = Duration::from_millis(110);

struct Member {
    // Before the folder of all, so that it is gone when that goes.
    process: Process,
    port: u16,
}

/// The members of a cluster, and what was asked of them that is not answered yet.
pub(super) struct Real<'a> {
    installed: &'a Installed,
    stop: &'a AtomicBool,
    /// The first leads at first.
    members: Vec<Member>,
    folder: Option<TemporaryFolder>,
    streams: BTreeMap<String, WebSocket>,
    pending: BTreeMap<String, (String, Call)>,
}

impl<'a> Real<'a> {
    /// There are none yet.
    pub(super) fn new(installed: &'a Installed, stop: &'a AtomicBool) -> Self {
        Self {
            installed,
            stop,
            members: Vec::new(),
            folder: None,
            streams: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    fn port(&self, server: usize) -> u16 {
        self.members.get(server).map_or(0, |member| member.port)
    }

    fn begin_call(&mut self, server: usize, operation: &str, args: &Value) -> Result<Call> {
        let path = gateway::path(operation).unwrap_or(operation);
        let body = gateway::request(operation, args).to_string();
        let header = match args["hasleader"].as_bool() {
            Some(true) => "Grpc-Metadata-hasleader: true\r\n",
            _ => "",
        };
        let begun = Call::begin(self.port(server), path, header, &body);
        if begun.is_err() {
            self.members[server].process.check_alive()?;
        }
        begun.map_err(VerifyError::io(format!("cannot ask etcd for {operation}")))
    }

    /// Makes a call, and waits for its answer.
    fn ask(&mut self, server: usize, operation: &str, args: &Value) -> Result<Value> {
        let mut call = self.begin_call(server, operation, args)?;
        let start = clock::now();
        while clock::now() - start < TIMEOUT {
            unless_stopped(self.stop)?;
            let polled = call.poll(TIMEOUT);
            match polled.map_err(VerifyError::io("cannot read an answer of etcd"))? {
                Some(body) => return Ok(gateway::answer(operation, &body)),
                None => continue,
            }
        }
        let member = &self.members[server];
        Err(VerifyError::Late {
            server: member.process.name().to_owned(),
            waited: TIMEOUT,
            asked: format!("{operation} {args}"),
            log: member.process.last_lines(),
        })
    }

    /// Waits until each of these members knows a leader; answers the places of those that lead.
    fn await_leader(&mut self, servers: &[usize]) -> Result<Vec<usize>> {
        let mut leaders = Vec::new();
        let start = clock::now();
        for &server in servers {
            loop {
                unless_stopped(self.stop)?;
                self.members[server].process.check_starting()?;
                match self.status(server) {
                    Some((id, leader)) if leader != "0" => {
                        leaders.extend((id == leader).then_some(server));
                        break;
                    }
                    _ if clock::now() - start > TIMEOUT => {
                        let why = "it knows no leader".to_owned();
                        return Err(self.members[server].process.not_started(why));
                    }
                    _ => clock::sleep(LOOK * 10),
                }
            }
        }
        Ok(leaders)
    }

    /// The ids of a member, and of the leader that it knows.
    fn status(&self, server: usize) -> Option<(String, String)> {
        let path = "/v3/maintenance/status";
        let mut call = Call::begin(self.port(server), path, "", "{}").ok()?;
        let start = clock::now();
        while clock::now() - start < TIMEOUT {
            if let Some(body) = call.poll(LOOK * 100).ok()? {
                let body: Value = serde_json::from_str(&body).ok()?;
                let id = body["header"]["member_id"].as_str()?;
                let leader = body["leader"].as_str().unwrap_or("0");
                return Some((id.to_owned(), leader.to_owned()));
            }
        }
        None
    }

    fn watch(&mut self, server: usize, operation: &str, args: &Value) -> io::Result<()> {
        let stream = args["stream"].as_str().unwrap_or_default();
        if operation == "close" {
            self.streams.remove(stream);
            return Ok(());
        }
        if !self.streams.contains_key(stream) {
            let opened = WebSocket::open(self.port(server), "/v3/watch")?;
            self.streams.insert(stream.to_owned(), opened);
        }
        let text = gateway::request(operation, args).to_string();
        match self.streams.get_mut(stream) {
            Some(open) => open.send(&text),
            None => Ok(()),
        }
    }

    fn call(&mut self, server: usize, operation: &str, args: &Value, name: &str) -> Result<()> {
        if operation == "giveup" {
            self.pending.remove(name);
            return Ok(());
        }
        let call = self.begin_call(server, operation, args)?;
        self.pending
            .insert(name.to_owned(), (operation.to_owned(), call));
        Ok(())
    }

    fn signal(&mut self, operation: &str, server: usize) -> Result<()> {
        let process = &mut self.members[server].process;
        match operation {
            "pause" => process.signal("-STOP"),
            "resume" => process.signal("-CONT"),
            "kill" => {
                process.kill();
                Ok(())
            }
            _ => {
                process.restart()?;
                self.await_leader(&[server]).map(|_| ())
            }
        }
    }

    /// Reads what has come over streams, and for calls that wait.
    fn poll(&mut self, events: &mut Vec<Value>, answered: &mut Vec<Value>) -> io::Result<()> {
        for (name, stream) in &mut self.streams {
            let texts = stream.poll(LOOK)?;
            events.extend(texts.iter().map(|text| gateway::watch(name, text)));
        }
        let mut ended = Vec::new();
        for (name, (operation, call)) in &mut self.pending {
            if let Some(body) = call.poll(LOOK)? {
                let result = gateway::answer(operation, &body);
                answered.push(json!({"call": name, "result": result}));
                ended.push(name.clone());
            }
        }
        for name in ended {
            self.pending.remove(&name);
        }
        Ok(())
    }

    fn revisions(&mut self, awaited: &Awaited) -> Result<Vec<Option<i64>>> {
        let args = json!({"key": "\0", "serializable": true, "count_only": true});
        let revisions = awaited.revisions.iter().enumerate();
        let asked = revisions.map(|(server, revision)| match revision {
            Some(_) => {
                let answer = self.ask(server, "range", &args)?;
                Ok(Some(number(&answer["rev"])))
            }
            None => Ok(None),
        });
        asked.collect()
    }
}

impl Members for Real<'_> {
    fn begin(&mut self, record: &Value) -> Result<()> {
        (self.streams, self.pending) = (BTreeMap::new(), BTreeMap::new());
        self.members.clear();
        let folder = TemporaryFolder::new()?;
        let count = number(&record["members"]) as usize;
        let ports = free_ports(2 * count)?;
        let (clients, peers) = ports.split_at(count);
        for server in 0..count {
            let started = start(self.installed, folder.path(), (server, clients, peers))?;
            self.members.push(started);
        }
        self.folder = Some(folder);
        let servers: Vec<usize> = (0..count).collect();
        for leader in self.await_leader(&servers)? {
            self.members.swap(0, leader);
        }
        Ok(())
    }

    fn perform(&mut self, step: &Value, awaited: &Awaited) -> Result<Map<String, Value>> {
        unless_stopped(self.stop)?;
        let (operation, args) = (step["op"].as_str().unwrap_or_default(), &step["args"]);
        let server = number(&step["server"]) as usize;
        let mut result = json!({});
        if !args["stream"].is_null() {
            let done = self.watch(server, operation, args);
            done.map_err(VerifyError::io("cannot ask a stream of etcd"))?;
            if number(&args["start_revision"]) > 0 {
                clock::sleep(SYNC);
            }
        } else if let Some(name) = args["call"].as_str() {
            self.call(server, operation, args, name)?;
        } else if operation == "sleep" {
            clock::sleep(Duration::from_millis(number(&args["ms"]).unsigned_abs()));
        } else if gateway::path(operation).is_none() {
            self.signal(operation, number(&args["server"]) as usize)?;
        } else {
            result = self.ask(server, operation, args)?;
        }
        let (mut events, mut answered) = (Vec::new(), Vec::new());
        let start = clock::now();
        let revisions = loop {
            let revisions = self.revisions(awaited)?;
            let all = events.len() >= awaited.events
                && answered.len() >= awaited.answered
                && revisions == awaited.revisions;
            if all || clock::now() - start > PATIENCE {
                break revisions;
            }
            let polled = self.poll(&mut events, &mut answered);
            polled.map_err(VerifyError::io("cannot read a stream of etcd"))?;
        };
        let mut found = Map::new();
        found.insert("result".into(), result);
        found.insert("events".into(), events.into());
        found.insert("answered".into(), answered.into());
        found.insert("revisions".into(), revisions.into());
        Ok(found)
    }
}

/// Starts a member, whose ports for clients and for peers stand at its place.
fn start(
    installed: &Installed,
    folder: &Path,
    (server, clients, peers): (usize, &[u16], &[u16]),
) -> Result<Member> {
    let name = format!("m{server}");
    let home = folder.join(&name);
    fs::create_dir_all(&home).map_err(VerifyError::io("cannot make a folder for a member"))?;
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let cluster: Vec<String> = peers
        .iter()
        .enumerate()
        .map(|(place, port)| format!("m{place}={}", url(*port)))
        .collect();
    let mut program = Command::new(&installed.program);
    let (client, peer) = (url(clients[server]), url(peers[server]));
    program
        .args(["--name", &name, "--data-dir"])
        .arg(home.join("data"))
        .args(["--listen-client-urls", &client])
        .args(["--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer])
        .args(["--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &cluster.join(",")])
        .args(["--election-timeout", "1000", "--heartbeat-interval", "100"]);
    let process = Process::start(format!("etcd {name}"), program, home.join("log"))?;
    let port = clients[server];
    Ok(Member { process, port })
}
