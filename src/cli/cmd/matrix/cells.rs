//! A cell: measured, and in the form of the report.

use crate::algorithms::{FaultClass, Recipe};
use crate::checker::invariants;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::reports::matrix::{MatrixCell, MatrixFinding, ShrunkRun, Standing};
use crate::scenarios::matrix::{self, Word};
use crate::scenarios::replay_command::ReplayCommand;
use crate::scenarios::shrink::{Budget, SearchLimit, shrink};
use crate::scenarios::{Case, Scenario};

/// What is spent to make the run of one broken claim smaller: counted, so that it ends alike on every machine.
const SPENT: Budget = Budget {
    runs: 2_000,
    events: 2_000_000,
};

/// Measures a cell. `None`, if there is nothing that faults of this class could strike.
pub(super) fn cell(
    scenario: &Scenario,
    recipe: &Recipe,
    class: FaultClass,
    seeds: u64,
    work: &Work,
) -> Result<Option<MatrixCell>, Failure> {
    let mut cases = scenario.cases.iter();
    let Some(case) = cases.find(|case| case.name == recipe.name) else {
        return Ok(None);
    };
    let cell = matrix::measure(scenario, case, class, 0..seeds, work.stop());
    let Some(cell) = cell else {
        return Err(Failure::Interrupted);
    };
    if let Some((seed, why)) = &cell.broken_off {
        return Err(Failure::broken(scenario, case, *seed, why));
    }
    let word = cell.word();
    let findings = cell
        .findings
        .iter()
        .map(|found| finding(scenario, case, found));
    let mut findings: Vec<MatrixFinding> = findings.collect();
    let standings = findings.iter().filter(|found| found.word == word.name());
    let standing = standings.map(|found| found.standing).next();
    let standing = standing.unwrap_or(match word {
        Word::Undecided => Standing::Undecided,
        _ => Standing::Kept,
    });
    if standing == Standing::ClaimBroken
        && let Some(main) = findings.iter_mut().find(|found| found.word == word.name())
    {
        main.shrunk = shrunk(scenario, case, main, work);
    }
    Ok(Some(MatrixCell {
        word: word.name().to_owned(),
        standing,
        seeds: cell.seeds,
        told: cell.told,
        findings,
        undecided: cell.undecided,
    }))
}

fn finding(scenario: &Scenario, case: &Case, found: &matrix::Finding) -> MatrixFinding {
    let (standing, shown_by, because) = match &found.standing {
        matrix::Standing::ClaimBroken => (Standing::ClaimBroken, None, None),
        matrix::Standing::NotClaimed { scenario, because } => {
            (Standing::NotClaimed, *scenario, Some(because.clone()))
        }
        matrix::Standing::Excused => (Standing::Excused, None, None),
    };
    MatrixFinding {
        word: found.word.name().to_owned(),
        invariant: found.invariant.to_owned(),
        standing,
        runs: found.runs,
        scenario: scenario.path.clone(),
        case: case.name.clone(),
        seed: found.seed,
        summary: found.summary.clone(),
        faults: found.faults.clone(),
        replay: again(scenario, case, found.seed).replay_of(found.invariant),
        shown_by: shown_by.map(str::to_owned),
        because,
        shrunk: None,
    }
}

fn again<'a>(scenario: &'a Scenario, case: &'a Case, seed: u64) -> ReplayCommand<'a> {
    ReplayCommand {
        scenario,
        case,
        seed,
        hash: None,
    }
}

/// The smallest run that breaks the promise as this one does.
fn shrunk(
    scenario: &Scenario,
    case: &Case,
    finding: &MatrixFinding,
    work: &Work,
) -> Option<ShrunkRun> {
    let invariant = invariants::find(&finding.invariant)?;
    let limit = SearchLimit::until(work.stop());
    let shrunk = shrink(case, finding.seed, invariant, SPENT, &limit)?;
    Some(ShrunkRun {
        sizes: shrunk.sizes(),
        faults: shrunk
            .plan
            .faults
            .iter()
            .map(|remark| remark.text.clone())
            .collect(),
        summary: shrunk.witness.summary.clone(),
        command: again(scenario, case, finding.seed).shrink(invariant.name),
    })
}
