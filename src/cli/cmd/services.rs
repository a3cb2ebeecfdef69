//! Services by name, as arguments give them.

use crate::algorithms::clients::ServiceKind;

/// The service of this name.
pub(in crate::cli::cmd) fn service_named(name: &str) -> Result<ServiceKind, String> {
    ServiceKind::named(name).ok_or_else(|| {
        format!(
            "expected one of {}",
            ServiceKind::ALL.map(ServiceKind::name).join(", ")
        )
    })
}

/// All services as a sentence names them: `zookeeper, redis, or lease-server`.
pub(in crate::cli::cmd) fn one_of<N: ToString>(name: impl Fn(ServiceKind) -> N) -> String {
    let mut names: Vec<String> = ServiceKind::ALL
        .iter()
        .map(|kind| name(*kind).to_string())
        .collect();
    let last = names.pop().unwrap_or_default();
    format!("{}, or {last}", names.join(", "))
}
