//! How a report looks: in colour or not, with line-drawing characters or in plain ASCII.

use anstyle::AnsiColor;
use picklock_checker::outcome::Standing;

use crate::words::WIDTH;

/// How text for a terminal is drawn.
///
/// The caller decides: whether standard output is a terminal and what `NO_COLOR` says is not for a
/// report to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Use colours: red for what fails and for the line where the promise breaks, and others for other standings, for
    /// holders, and for faults.
    pub color: bool,
    /// Draw with ASCII characters only.
    pub ascii: bool,
    /// How many columns there are, if it is a terminal that has so many. What goes elsewhere keeps to a hundred, and
    /// commands in it are whole, however long.
    pub width: Option<usize>,
}

impl Style {
    /// Neither colour nor anything beyond ASCII.
    pub const PLAIN: Self = Self {
        color: false,
        ascii: true,
        width: None,
    };
    /// For a file: without colour, and as wide as what goes to no terminal.
    pub const IN_A_FILE: Self = Self {
        color: false,
        ascii: false,
        width: None,
    };

    /// How many columns text keeps to. Less than forty is no terminal that a timeline could be read on.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(WIDTH).clamp(40, 160)
    }

    /// The text in red, or as it is: what fails, and where the promise breaks.
    pub fn red(&self, text: &str) -> String {
        self.in_color(AnsiColor::Red, text)
    }

    /// The text in green, or as it is: what is as it should be.
    pub fn green(&self, text: &str) -> String {
        self.in_color(AnsiColor::Green, text)
    }

    /// The text in yellow, or as it is: what cannot be told, or was not run.
    pub fn yellow(&self, text: &str) -> String {
        self.in_color(AnsiColor::Yellow, text)
    }

    /// The text in cyan, or as it is: the bars of holders.
    pub(crate) fn holder(&self, text: &str) -> String {
        self.in_color(AnsiColor::Cyan, text)
    }

    /// The text in magenta, or as it is: faults.
    pub(crate) fn fault(&self, text: &str) -> String {
        self.in_color(AnsiColor::Magenta, text)
    }

    /// The text in the colour of a standing, or as it is.
    pub fn standing(&self, standing: Standing, text: &str) -> String {
        match standing {
            Standing::Holds | Standing::AsExpected => self.green(text),
            Standing::Skipped | Standing::Undecided => self.yellow(text),
            Standing::Fail | Standing::Broken => self.red(text),
        }
    }

    fn in_color(&self, color: AnsiColor, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let color = color.on_default();
        format!("{}{text}{}", color.render(), color.render_reset())
    }

    /// The characters to draw with.
    pub(crate) const fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &UNICODE }
    }
}

/// The characters that timelines and rules are drawn with.
#[derive(Debug)]
pub(crate) struct Glyphs {
    /// A contender comes to believe that it holds the lock.
    pub(crate) enter: &'static str,
    /// It believes so.
    pub(crate) inside: &'static str,
    /// It enters again, or leaves one of several times, and still believes.
    pub(crate) again: &'static str,
    /// It believes so no longer.
    pub(crate) leave: &'static str,
    /// It waits for the lock.
    pub(crate) waiting: &'static str,
    /// Something ended badly: a session, a process, a call.
    pub(crate) cross: &'static str,
    /// The process stands still.
    pub(crate) pause: &'static str,
    /// The process runs again.
    pub(crate) resume: &'static str,
    /// Here the promise breaks.
    pub(crate) mark: &'static str,
    /// Something is left out here.
    pub(crate) more: &'static str,
    /// Text is left out here.
    pub(crate) ellipsis: &'static str,
    /// One value becomes another.
    pub(crate) arrow: &'static str,
    /// A piece of a horizontal rule.
    pub(crate) rule: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    enter: "┏",
    inside: "┃",
    again: "┣",
    leave: "┗",
    waiting: "╎",
    cross: "✗",
    pause: "‖",
    resume: "▶",
    mark: "◀",
    more: "⋮",
    ellipsis: "…",
    arrow: "→",
    rule: "─",
};

const ASCII: Glyphs = Glyphs {
    enter: "+",
    inside: "|",
    again: "+",
    leave: "+",
    waiting: ":",
    cross: "x",
    pause: "=",
    resume: ">",
    mark: "<<",
    more: "...",
    ellipsis: "...",
    arrow: "->",
    rule: "-",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn red_is_drawn_only_where_colour_is_wanted() {
        let colored = Style {
            color: true,
            ascii: false,
            width: None,
        };
        assert_eq!(colored.red("FAIL"), "\u{1b}[31mFAIL\u{1b}[0m");
        assert_eq!(Style::PLAIN.red("FAIL"), "FAIL");
    }

    #[test]
    fn the_ascii_glyphs_are_ascii() {
        assert!(format!("{ASCII:?}").is_ascii());
    }
}
