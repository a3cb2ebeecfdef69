//! `service.NAME` in a `[[case]]`: settings of the service for this case alone.

use std::ops::Range;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{FaultKind, Plan, Service, SettingsGroup};

use super::{FileClients, read};
use crate::event_budget::default_budget;
use crate::format::case::CaseScene;
use crate::format::choice::choose;
use crate::format::has_event_thread;
use crate::format::reader::{Fields, Mistake, Mistakes};
use crate::sampled_parameters::SampledParameters;
use crate::services::supported;

/// The service of one case, and what goes by it.
pub(in crate::format) struct CaseService {
    pub(in crate::format) service: Service,
    pub(in crate::format) clients: FileClients,
    pub(in crate::format) open: SampledParameters,
    span: Range<usize>,
}

/// Reads the settings of a case, if it has some: what it does not say is as in the file.
pub(in crate::format) fn of_case(
    case: &mut Fields,
    scene: &CaseScene,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> Option<CaseService> {
    let item = case.get("service")?;
    let kind = scene.service.kind();
    let services = ServiceKind::ALL.map(|kind| (kind.name(), kind));
    let chosen = choose(&item, "service", &services, mistakes)?;
    if chosen.kind != kind {
        let mistake = Mistake::new(format!("this file stands on {}", kind.title()))
            .label(format!("this case would stand on {}", chosen.kind.title()))
            .help("all cases of a file stand on one service: put this one into a file of its own");
        mistakes.add(chosen.span, mistake);
        return None;
    }
    let fields = chosen.fields(mistakes)?;
    refuse_of_file(&fields, kind, mistakes);
    let places = fields.entries().into_iter();
    let places: Vec<_> = places
        .map(|(_, key, value)| key.start..value.span.end)
        .collect();
    let of_file = scene.service_item.as_ref().and_then(|item| item.as_table());
    let of_file = of_file.and_then(|file| file.peek(kind.name())?.as_table());
    let fields = match &of_file {
        Some(of_file) => fields.over(of_file),
        None => fields,
    };
    let span = item.span.clone();
    let (mut own, mut found) = (SampledParameters::default(), mistakes.none());
    let (service, clients, _) = read(kind.into(), fields, &mut own, &mut found);
    mistakes.take_over(found, &places, &span);
    let open = SampledParameters {
        settings: own.settings,
        ..open.clone()
    };
    Some(CaseService {
        service,
        clients,
        open,
        span,
    })
}

fn refuse_of_file(fields: &Fields, kind: ServiceKind, mistakes: &mut Mistakes) {
    // What says which servers there are: the rest of a file goes by that.
    let of_file = |key: &str| {
        let mut keys = supported(kind).keys.keys();
        keys.any(|known| known.name == key && known.of == Some(SettingsGroup::Topology))
    };
    for (key, span, _) in fields.entries() {
        if of_file(key) {
            let mistake = Mistake::new(format!("`{key}` is the same in all cases of a file"))
                .label("its faults and regions name the servers that there are")
                .help(format!(
                    "give it in [service.{}], or put this case into a file of its own",
                    kind.name()
                ));
            mistakes.add(span, mistake);
        }
    }
}

impl CaseService {
    /// A plan of the file in the world of this case.
    pub(in crate::format) fn plan(&self, plan: Plan) -> Plan {
        let event_budget = match self.open.budget_given {
            true => plan.event_budget,
            false => default_budget(&plan.workload, &self.service),
        };
        Plan {
            service: self.service.clone(),
            event_budget,
            ..plan
        }
    }

    /// Refuses what the case sets if a fault of the file then has nothing to strike.
    pub(in crate::format) fn refuse_faults(&self, plan: &Plan, mistakes: &mut Mistakes) {
        for (index, fault) in plan.faults.iter().enumerate() {
            let kind = FaultKind::of(&fault.inject);
            let has_callbacks =
                kind != FaultKind::BlockEvents || has_event_thread(&self.service, &self.open);
            if !(has_callbacks && kind.can_be_tried(&self.service)) {
                let mistake = Mistake::new(format!(
                    "fault {} strikes nothing in this case: `{}`",
                    index + 1,
                    kind.name()
                ))
                .label(kind.why_not(&self.service))
                .help("put this case into a file without that fault");
                mistakes.add(self.span.clone(), mistake);
            }
        }
    }
}
