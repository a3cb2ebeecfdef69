//! `[network]`.

use picklock_sim::plan::Network;

use super::reader::{Fields, Mistakes};
use super::regions::Unread;
use super::value::Given;
use crate::sampled_parameters::SampledParameters;

/// Reads `[network]`, and what it leaves open.
/// Which machine lies in which region is read when it is known which take part.
pub(super) fn read<'a>(
    file: &mut Fields<'a>,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Network, Unread<'a>) {
    let mut network = Network::default();
    let Some(mut fields) = file
        .get("network")
        .and_then(|item| item.table("the table [network]", mistakes))
    else {
        return (network, Unread::default());
    };
    let given = Given::read(&mut fields, Network::KEYS, &[], mistakes);
    given.settle(&mut network, open);
    let regions = Unread::take(&mut fields);
    fields.finish(mistakes);
    (network, regions)
}
