//! How long messages take from one to another: by the regions in which they lie, or as the network says otherwise.

use std::collections::BTreeMap;

use super::SimulatedService;
use super::World;
use crate::network::{Latency, ServerId};
use crate::plan::{Plan, Regions, ServerName};
use crate::process::ProcessId;
use crate::world::Tasks;

/// The regions of all machines, by their places in the plan.
#[derive(Debug)]
pub(crate) struct Places {
    /// Of processes that have contenders.
    processes: Vec<Option<usize>>,
    servers: Vec<Option<usize>>,
    resource: Option<usize>,
    between: BTreeMap<(usize, usize), Latency>,
}

impl Places {
    /// The regions of all machines, if there are regions.
    pub(crate) fn of(plan: &Plan) -> Option<Box<Self>> {
        let Regions { all, between } = &plan.network.regions;
        if all.is_empty() {
            return None;
        }
        let of_server = |machine: u8| {
            let name = plan.service.name_of(machine);
            all.iter().position(|region| {
                let mut servers = region.servers.iter();
                servers.any(|server| machine_name(*server).as_ref() == Some(&name))
            })
        };
        let of_contender = |index: u32| {
            all.iter()
                .position(|region| region.contenders.iter().any(|name| name.0 == index))
        };
        let tasks = Tasks::of_workload(&plan.workload);
        let index = |name: &str| all.iter().position(|region| region.name == name);
        let between = between.iter().filter_map(|((one, other), range)| {
            let (one, other) = (index(one)?, index(other)?);
            Some((sorted(one, other), Latency::new(*range)))
        });
        Some(Box::new(Self {
            processes: (0..tasks.processes())
                .map(|index| tasks.of(ProcessId(index)).find_map(of_contender))
                .collect(),
            servers: (0..plan.service.machines()).map(of_server).collect(),
            resource: all.iter().position(|region| region.resource),
            between: between.collect(),
        }))
    }

    fn between(&self, one: Option<usize>, other: Option<usize>) -> Option<Latency> {
        self.between.get(&sorted(one?, other?)).copied()
    }

    fn of_process(&self, process: ProcessId) -> Option<usize> {
        self.processes.get(process.0 as usize).copied().flatten()
    }

    fn of_server(&self, server: ServerId) -> Option<usize> {
        self.servers.get(usize::from(server.0)).copied().flatten()
    }
}

fn sorted(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

/// The name of the machine, if a server is named by its machine.
fn machine_name(name: ServerName) -> Option<String> {
    let (what, index) = match name {
        ServerName::Number(index) => ("server", index),
        ServerName::Observer(index) => ("observer", index),
        ServerName::Sentinel(index) => ("sentinel", index),
        ServerName::Leader | ServerName::Primary | ServerName::Follower(_) | ServerName::Of(_) => {
            return None;
        }
    };
    Some(format!("{what}-{}", u64::from(index) + 1))
}

impl<S: SimulatedService> World<S> {
    /// The latency between a process and a server.
    #[inline]
    pub(crate) fn latency_between(&self, process: ProcessId, server: ServerId) -> Latency {
        match &self.places {
            None => self.latency_of(process),
            Some(indices) => indices
                .between(indices.of_process(process), indices.of_server(server))
                .unwrap_or_else(|| self.latency_of(process)),
        }
    }

    /// The latency between a process and the resource.
    #[inline]
    pub(crate) fn latency_to_resource(&self, process: ProcessId) -> Latency {
        match &self.places {
            None => self.latency_of(process),
            Some(indices) => indices
                .between(indices.of_process(process), indices.resource)
                .unwrap_or_else(|| self.latency_of(process)),
        }
    }

    /// The latency between two servers.
    #[inline]
    pub(crate) fn latency_of_servers(&self, from: ServerId, to: ServerId) -> Latency {
        match &self.places {
            None => self.server_latency,
            Some(indices) => indices
                .between(indices.of_server(from), indices.of_server(to))
                .unwrap_or(self.server_latency),
        }
    }

    /// The latency between a process and other machines, unless their regions say otherwise.
    #[inline]
    fn latency_of(&self, process: ProcessId) -> Latency {
        match self.own_latencies.is_empty() {
            true => self.client_latency,
            false => self.own_latency_of(process),
        }
    }

    #[cold]
    fn own_latency_of(&self, process: ProcessId) -> Latency {
        let own = self.own_latencies.get(&process);
        own.copied().unwrap_or(self.client_latency)
    }
}
