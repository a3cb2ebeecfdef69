//! A cluster of the model, compared with one of real servers: what each node answers, and how long it takes until a
//! replica takes the place of a dead primary, and until a primary that is alone stops.

mod model;
mod random;
mod real;
mod replica_reads;
mod slot_migration;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::redis::{Command, Value};

use super::Compared;
use super::compare::Counters;
use super::driver::Name;
use super::random::Random;
use super::real::Installed;
use super::step::{command, name};
use crate::harness::clock::{self, Clock};
use crate::harness::error::{Result, unless_stopped};
use crate::harness::pair;
use crate::harness::timing::Span;
use model::Nodes as Model;
use real::Nodes as Real;

/// A node and its command: words, of which `@1` is the name of the second node, and `:1` its port.
type Step = (usize, &'static str);

/// Primaries, and as many replicas.
const PRIMARIES: usize = 3;
/// `cluster-node-timeout`.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How often the real cluster loses a primary, and how often it is torn apart.
const REAL_TRIES: usize = 3;
/// How often the model does.
const MODEL_TRIES: u64 = 100;
/// A cluster. Nodes are named by their indices: primaries first.
pub(crate) trait ClusterBackend: Clock {
    /// Sends a command to a node. Answers nothing if there is no answer.
    fn ask(&mut self, node: usize, command: &Command) -> Result<Option<Value>>;
    /// A node dies.
    fn kill(&mut self, node: usize);
    /// A node stands still.
    fn stop(&mut self, node: usize) -> Result<()>;
    /// It goes on.
    fn go_on(&mut self, node: usize) -> Result<()>;
}

/// Both clusters.
type Pair<R, M> = pair::Pair<R, M, Counters>;

impl<R: ClusterBackend, M: ClusterBackend> Pair<R, M> {
    fn both(&mut self) -> [&mut dyn ClusterBackend; 2] {
        [&mut self.real, &mut self.model]
    }

    /// Sends a command to a node, in the words of each cluster, and compares the answers.
    fn ask_node(&mut self, node: usize, commands: [&Command; 2]) -> Result<()> {
        let real = [self.real.ask(node, commands[0])?];
        let model = [self.model.ask(node, commands[1])?];
        self.compared.operations += 1;
        self.compared.count_request(&name(commands[0]));
        let part = format!("node {} of a cluster", node + 1);
        let answers = [&real[..], &model];
        self.compared.compare(&part, commands[0], &Name(0), answers);
        Ok(())
    }

    /// Lets time pass in both.
    fn pass(&mut self, time: Duration) -> Result<()> {
        { self.both().into_iter() }.try_for_each(|cluster| cluster.pass(time))
    }
}

/// Starts a real cluster, and compares it with the model.
///
/// # Errors
///
/// [`VerifyError`](crate::VerifyError), if the comparison could not be made. The servers and their folders are
/// gone then, too.
pub fn compare(
    installed: &Installed,
    seed: u64,
    operations: u64,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<(Compared, Vec<Span>)> {
    let real = Real::start(installed, stop)?;
    let ports: Vec<u16> = real.addresses().iter().map(|node| node.port).collect();
    let model = Model::new(&real.addresses(), seed);
    let mut pair = Pair::new(real, model);
    slot_migration::moves(&mut pair, &ports)?;
    let mut random = Random::new(seed);
    for done in 0..operations {
        unless_stopped(stop)?;
        let (node, command) = random::step(&mut random);
        pair.ask_node(node, [&command; 2])?;
        progress(done + 1);
    }
    slot_migration::source_dies(&mut pair, &ports)?;
    let compared = pair.compared;
    drop(pair.real);
    Ok((compared, spans(installed, stop)?))
}

/// A key that the last primary serves, and one of the first.
const KEY: &str = "a";
const OTHER: &str = "b";
const LAST: usize = PRIMARIES - 1;

/// How long it takes until a node answers something that begins so.
fn until(
    nodes: &mut dyn ClusterBackend,
    node: usize,
    words: &[&str],
    answer: &str,
) -> Result<Option<Duration>> {
    const MOST: Duration = Duration::from_secs(12);
    const LOOK: Duration = Duration::from_millis(5);
    clock::until(nodes, (MOST, LOOK), |nodes| {
        let said = match nodes.ask(node, &command(words))? {
            Some(Value::Error(error)) => error.text().to_owned(),
            Some(Value::Status(word)) => word.into_owned(),
            Some(Value::Bulk(_)) => "a value".to_owned(),
            _ => String::new(),
        };
        Ok(said.starts_with(answer))
    })
}

/// A primary dies: when the others stop to serve, and when its replica has its place.
fn lose_primary(nodes: &mut dyn ClusterBackend) -> Result<[Option<Duration>; 2]> {
    nodes.kill(LAST);
    let down = until(nodes, 0, &["GET", KEY], "CLUSTERDOWN")?;
    let up = until(nodes, PRIMARIES + LAST, &["SET", KEY, "1"], "OK")?;
    Ok([down, up])
}

/// All but one primary stand still and go on: when that one stops to serve, and when it serves again.
fn isolate_primary(nodes: &mut dyn ClusterBackend) -> Result<[Option<Duration>; 2]> {
    let others = || (1..2 * PRIMARIES).filter(|node| *node != PRIMARIES);
    for node in others() {
        nodes.stop(node)?;
    }
    let down = until(nodes, 0, &["SET", OTHER, "1"], "CLUSTERDOWN")?;
    nodes.pass(Duration::from_secs(1))?;
    for node in others() {
        nodes.go_on(node)?;
    }
    let up = until(nodes, 0, &["SET", OTHER, "1"], "OK")?;
    Ok([down, up])
}

fn spans(installed: &Installed, stop: &AtomicBool) -> Result<Vec<Span>> {
    let names = [
        "a primary dies: until no node serves its slots",
        "then until its replica does",
        "a primary is left alone: until it stops",
        "the others are back: until it serves again",
    ];
    let mut spans = names.map(Span::of);
    for _ in 0..REAL_TRIES {
        let mut nodes = Real::start(installed, stop)?;
        let alone = isolate_primary(&mut nodes)?;
        let lost = lose_primary(&mut nodes)?;
        for (span, time) in spans.iter_mut().zip(lost.into_iter().chain(alone)) {
            span.real.all.extend(time);
        }
    }
    let addresses = model::some_addresses();
    for seed in 0..MODEL_TRIES {
        unless_stopped(stop)?;
        let alone = isolate_primary(&mut Model::new(&addresses, seed))?;
        let lost = lose_primary(&mut Model::new(&addresses, seed))?;
        for (span, time) in spans.iter_mut().zip(lost.into_iter().chain(alone)) {
            span.model.all.extend(time);
        }
    }
    Ok(spans.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_agrees_with_itself_whatever_the_seed() {
        let addresses = model::some_addresses();
        let ports: Vec<u16> = addresses.iter().map(|node| node.port).collect();
        let mut pair = Pair::new(Model::new(&addresses, 1), Model::new(&addresses, 2));
        slot_migration::moves(&mut pair, &ports).expect("the model does not fail");
        slot_migration::source_dies(&mut pair, &ports).expect("the model does not fail");
        assert_eq!(pair.compared.differences, []);
        assert!(pair.compared.answers > 150, "{:?}", pair.compared);
    }
}
