//! The topics of `picklock help`: pages of the documentation, and parts of them.

use crate::cli::markdown;

/// A topic: a page of the documentation, or a part of one.
pub(in crate::cli::cmd) struct Topic {
    /// Its name.
    pub(in crate::cli::cmd) name: &'static str,
    /// Other names for it.
    others: &'static [&'static str],
    /// What it is about.
    pub(super) about: &'static str,
    page: &'static str,
    /// The heading of the part, if it is not the whole page.
    heading: Option<&'static str>,
}

impl Topic {
    /// Whether this is one of its names.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.others.contains(&name)
    }

    /// Its text, as Markdown.
    pub(super) fn page(&self) -> &'static str {
        let section = |heading| markdown::section(self.page, heading);
        let part = self.heading.map(section);
        part.flatten().unwrap_or(self.page)
    }
}

const SCENARIOS: &str = include_str!("../../../../docs/scenarios.md");
const CI: &str = include_str!("../../../../docs/ci.md");
const COMMAND_LINE: &str = include_str!("../../../../docs/command-line.md");

/// Every topic, in the order in which they are shown.
pub(in crate::cli::cmd) const TOPICS: &[Topic] = &[
    Topic {
        name: "timeline",
        others: &["story", "reading"],
        about: "how to read a failure: lanes, signs, undecided, excuses",
        page: include_str!("../../../../docs/guide/timeline.md"),
        heading: None,
    },
    Topic {
        name: "truths",
        others: &["three-truths"],
        about: "what a contender believes, what the service says, and what the resource accepts",
        page: include_str!("../../../../docs/guide/three-truths.md"),
        heading: None,
    },
    Topic {
        name: "incident",
        others: &["your-incident"],
        about: "how to write down an incident as a scenario",
        page: include_str!("../../../../docs/guide/your-incident.md"),
        heading: None,
    },
    Topic {
        name: "scenarios",
        others: &["scenario-format", "scenario-files", "format"],
        about: "the format of scenario files: every key",
        page: SCENARIOS,
        heading: None,
    },
    Topic {
        name: "scenario-keys",
        others: &["keys"],
        about: "every key of a scenario file",
        page: include_str!("../../../../docs/scenario-keys.md"),
        heading: None,
    },
    Topic {
        name: "faults",
        others: &["fault-format", "triggers"],
        about: "what can break, and when: `[[fault]]` of a scenario file",
        page: SCENARIOS,
        heading: Some("## `[[fault]]`"),
    },
    Topic {
        name: "storm-and-calm",
        others: &["phases", "for-good"],
        about: "the two parts of a run, and what stays broken",
        page: SCENARIOS,
        heading: Some("## Storm, calm, and for good"),
    },
    Topic {
        name: "plans",
        others: &["drawn-plans", "swarms"],
        about: "faults that seeds draw, hunting for failures, and how soon they are found",
        page: include_str!("../../../../docs/plans.md"),
        heading: None,
    },
    Topic {
        name: "seeds",
        others: &["which-seeds"],
        about: "which seeds run, and how to run the same again",
        page: CI,
        heading: Some("## Which seeds"),
    },
    Topic {
        name: "shrinking",
        others: &["search", "why-it-fails"],
        about: "from a failure to the smallest run that fails alike, and to its reason",
        page: include_str!("../../../../docs/search.md"),
        heading: None,
    },
    Topic {
        name: "results",
        others: &["json", "html", "formats"],
        about: "what JSON, JUnit, SARIF, pages, and pictures hold",
        page: include_str!("../../../../docs/results.md"),
        heading: None,
    },
    Topic {
        name: "ci",
        others: &["continuous-integration", "junit", "sarif", "github"],
        about: "jobs for GitHub, GitLab, and Jenkins",
        page: CI,
        heading: None,
    },
    Topic {
        name: "shards",
        others: &["many-machines"],
        about: "one run on many machines",
        page: CI,
        heading: Some("## Many machines"),
    },
    Topic {
        name: "exit-codes",
        others: &["exit-code", "exit"],
        about: "what the exit code says",
        page: CI,
        heading: Some("## Exit codes"),
    },
    Topic {
        name: "environment",
        others: &["env", "variables"],
        about: "the environment variables that picklock reads",
        page: COMMAND_LINE,
        heading: Some("## Environment"),
    },
    Topic {
        name: "config",
        others: &["picklock.toml", "configuration"],
        about: "`picklock.toml`: what a project always passes",
        page: COMMAND_LINE,
        heading: Some("## picklock.toml"),
    },
    Topic {
        name: "install",
        others: &["shell", "manual-pages"],
        about: "how to install completions and manual pages",
        page: COMMAND_LINE,
        heading: Some("## Completions and manual pages"),
    },
    Topic {
        name: "your-lock",
        others: &["own-lock"],
        about: "a lock of your own, in a program and in `cargo test`",
        page: include_str!("../../../../docs/your-lock.md"),
        heading: None,
    },
    Topic {
        name: "settings",
        others: &["curator", "redisson"],
        about: "settings of Curator, Redisson, and Redis that follow from the runs",
        page: include_str!("../../../../docs/guide/settings.md"),
        heading: None,
    },
    Topic {
        name: "questions",
        others: &["faq"],
        about: "questions that are asked often",
        page: include_str!("../../../../docs/guide/faq.md"),
        heading: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_its_part_of_a_page_and_names_of_its_own() {
        let mut names: Vec<&str> = Vec::new();
        for topic in TOPICS {
            if let Some(heading) = topic.heading {
                assert!(topic.page().starts_with(heading), "{}", topic.name);
                assert!(topic.page().len() < topic.page.len(), "{}", topic.name);
            }
            let own = [topic.name].into_iter().chain(topic.others.iter().copied());
            for name in own {
                assert!(!names.contains(&name), "{name} is of two topics");
                names.push(name);
            }
        }
    }

    #[test]
    fn every_topic_reads_on_a_terminal_of_eighty_columns() {
        for topic in TOPICS {
            let text = markdown::render(topic.page(), 80);
            for line in text
                .lines()
                .filter(|line| !line.contains("    ") && !line.contains('`'))
            {
                let long_word = line
                    .split_whitespace()
                    .any(|word| word.chars().count() > 40);
                assert!(
                    long_word || line.chars().count() <= 80,
                    "{}: {line}",
                    topic.name
                );
            }
        }
    }
}
