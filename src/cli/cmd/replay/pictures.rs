//! `picklock replay --html`, `--svg`, `--png`: the diagram of a run, as a page and as pictures.

use std::path::PathBuf;

use crate::checker::outcome::{Standing, Story};
use crate::cli::cmd::page;
use crate::cli::cmd::traffic::traffic;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::reports::diagram::png::png;
use crate::reports::diagram::svg::svg;
use crate::reports::diagram::{Diagram, Scope};
use crate::scenarios::{Case, Scenario};
use crate::sim::trace::TracedMessage;

/// Which pictures are wanted.
#[derive(Debug, clap::Args)]
pub struct Pictures {
    /// Write a page about the run to this file: its story, a space-time diagram to move about in, and its plan.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw what the story tells as a space-time diagram, with messages and servers, to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The same as PNG.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

impl Pictures {
    /// Whether there are any.
    pub fn are_wanted(&self) -> bool {
        self.html.is_some() || self.svg.is_some() || self.png.is_some()
    }

    /// Checks that they can be written.
    ///
    /// # Errors
    ///
    /// [`Failure`], if one cannot.
    pub fn can_write(&self, work: &Work) -> Result<(), Failure> {
        let all = [
            (&self.html, "--html", page::EXAMPLE),
            (&self.svg, "--svg", "diagram.svg"),
            (&self.png, "--png", "diagram.png"),
        ];
        for (path, option, example) in all {
            if let Some(path) = path {
                work.can_write_report(path, option, example)?;
            }
        }
        Ok(())
    }

    /// Draws and writes them.
    ///
    /// # Errors
    ///
    /// [`Failure`], if one cannot be drawn or written.
    pub fn write(
        &self,
        (scenario, case): (&Scenario, &Case),
        judged: (Standing, &[String]),
        story: &Story,
        messages: &[TracedMessage],
        work: &Work,
    ) -> Result<(), Failure> {
        if !self.are_wanted() {
            return Ok(());
        }
        if let Some(path) = &self.html {
            let page = page::of_run((scenario, case), judged, story, messages, None);
            work.write(path, page.as_bytes())?;
        }
        if self.svg.is_none() && self.png.is_none() {
            return Ok(());
        }
        let plan = case.plan_for(story.seed);
        let none = |_| Vec::new();
        let diagram = Diagram::of(story, &traffic(&plan, messages), Scope::Essential, &none);
        let title = title(scenario, case, story);
        if let Some(path) = &self.svg {
            work.write(path, svg(&diagram, &title).as_bytes())?;
        }
        if let Some(path) = &self.png {
            let bytes = png(&diagram, &title).map_err(|error| Failure::Chart(error.to_string()))?;
            work.write(path, &bytes)?;
        }
        Ok(())
    }
}

/// What stands above the picture.
fn title(scenario: &Scenario, case: &Case, story: &Story) -> Vec<String> {
    let which = match &case.recorded {
        Some(_) => "the recorded run".to_owned(),
        None => format!("seed {}", story.seed),
    };
    let run = format!("{}, {}, {which}", scenario.name, case.name);
    let came = match &story.violated {
        Some((invariant, witness)) => format!("{invariant} violated: {}", witness.summary),
        None => "nothing is violated".to_owned(),
    };
    vec![run, came]
}
