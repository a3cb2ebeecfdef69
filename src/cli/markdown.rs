//! Markdown as text for a terminal: what `explain` and `help` show of the documentation.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::cli::console;

/// A blank that no line is broken at: a command in a sentence stays in one piece.
const KEPT: char = '\u{1}';

/// The page in lines of this width, without a sign of Markdown but the backticks of code.
pub fn render(page: &str, width: usize) -> String {
    let mut page_so_far = Rendering {
        width: width.max(20),
        text: String::new(),
        inline: String::new(),
        indent: String::new(),
        mark: None,
        lists: Vec::new(),
        marks: Vec::new(),
        verbatim: false,
        table: None,
        link: None,
    };
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        page_so_far.take(event);
    }
    let text = page_so_far.text.trim_end();
    format!("{}\n", text.replace(KEPT, " "))
}

/// A page, as far as it has been read.
struct Rendering {
    width: usize,
    text: String,
    /// What has been read of a paragraph, an item, or a cell.
    inline: String,
    /// What every line begins with.
    indent: String,
    /// What the first line of an item begins with instead.
    mark: Option<String>,
    /// The lists that are open: the number of the next item, if they have numbers.
    lists: Vec<Option<u64>>,
    /// How wide the marks of the items are that are open.
    marks: Vec<usize>,
    /// Whether lines are to stay as they are.
    verbatim: bool,
    table: Option<Table>,
    /// Where the link that is open leads to.
    link: Option<String>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
}

impl Rendering {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.verbatim => self.lines(&text),
            Event::Text(text) => self.inline.push_str(&text),
            Event::Code(code) => {
                let kept = code.replace(' ', &KEPT.to_string());
                self.inline.push_str(&format!("`{kept}`"));
            }
            Event::SoftBreak | Event::HardBreak => self.inline.push(' '),
            Event::Rule
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::CodeBlock(_) => self.verbatim = true,
            Tag::List(first) => {
                // The text of an item goes before the list that it has.
                self.paragraph();
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => "- ".to_owned(),
                };
                let first = format!("{}{mark}", self.indent);
                self.indent.push_str(&" ".repeat(mark.len()));
                self.marks.push(mark.len());
                self.mark = Some(first);
            }
            Tag::Table(_) => self.table = Some(Table::default()),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::Link { dest_url, .. } => {
                self.link = Some(dest_url.to_string()).filter(|url| url.contains("://"));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.paragraph();
                self.gap();
            }
            TagEnd::Heading(_) => {
                let heading = std::mem::take(&mut self.inline);
                self.gap();
                self.text.push_str(&format!("{heading}\n\n"));
            }
            TagEnd::CodeBlock => {
                self.verbatim = false;
                self.gap();
            }
            TagEnd::Item => {
                self.paragraph();
                let mark = self.marks.pop().unwrap_or(0);
                self.indent.truncate(self.indent.len().saturating_sub(mark));
                self.mark = None;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.gap();
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let table = self.table.take().unwrap_or_default();
                self.text.push_str(&table.render(self.width));
                self.gap();
            }
            TagEnd::Link => {
                if let Some(link) = self.link.take() {
                    self.inline.push_str(&format!(" ({link})"));
                }
            }
            _ => {}
        }
    }

    /// Ends a paragraph, if there is one.
    fn paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.inline);
        if paragraph.trim().is_empty() {
            return;
        }
        let wide = self.width.saturating_sub(self.indent.len()).max(20);
        for line in console::wrapped(&paragraph, wide) {
            let begin = self.mark.take().unwrap_or_else(|| self.indent.clone());
            self.text.push_str(&format!("{begin}{line}\n"));
        }
    }

    /// Lines of a block, as they are.
    fn lines(&mut self, block: &str) {
        for line in block.lines() {
            let line = format!("{}    {line}", self.indent);
            self.text.push_str(&format!("{}\n", line.trim_end()));
        }
    }

    /// An empty line, unless there is one.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

impl Table {
    /// In columns if they fit, and otherwise each row in lines of its own, each with the head of its column.
    fn render(&self, width: usize) -> String {
        let Some((heads, rows)) = self.rows.split_first() else {
            return String::new();
        };
        let wide = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heads.len()).map(wide).collect();
        let gaps = 2 * widths.len().saturating_sub(1);
        // The last column may be wrapped.
        let last = widths.last().copied().unwrap_or(0);
        let before = widths.iter().sum::<usize>() + gaps - last;
        if before + 30.min(last) > width {
            return one_below_the_other(heads, rows, width);
        }
        let mut text = String::new();
        let rule = widths
            .iter()
            .map(|&wide| "-".repeat(wide.min(width - before)));
        let rule: Vec<String> = rule.collect();
        for row in [heads, &rule].into_iter().chain(rows) {
            text.push_str(&columns(row, &widths, width, before));
        }
        text
    }
}

/// A row in columns, of which the last is wrapped.
fn columns(row: &[String], widths: &[usize], width: usize, before: usize) -> String {
    let Some((last, others)) = row.split_last() else {
        return String::new();
    };
    let cells = others.iter().zip(widths);
    let begin: String = cells
        .map(|(cell, &wide)| format!("{cell:<wide$}  "))
        .collect();
    let mut text = String::new();
    for (index, line) in console::wrapped(last, width - before).iter().enumerate() {
        let begin = if index == 0 {
            begin.clone()
        } else {
            " ".repeat(before)
        };
        text.push_str(&format!("{}\n", format!("{begin}{line}").trim_end()));
    }
    text
}

/// Each row with its first cell on a line, and what the others say below it.
fn one_below_the_other(heads: &[String], rows: &[Vec<String>], width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        for (column, (head, cell)) in heads.iter().zip(row).enumerate() {
            let (indent, said) = match column {
                0 => ("", cell.clone()),
                _ if cell.is_empty() => continue,
                _ => ("  ", format!("{head}: {cell}")),
            };
            for line in console::wrapped(&said, width.saturating_sub(indent.len())) {
                text.push_str(&format!("{indent}{line}\n"));
            }
        }
    }
    text
}

/// The part of a page below one of its headings, such as `## Exit codes`, with the heading.
pub fn section<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let level = heading.chars().take_while(|char| *char == '#').count();
    let from = match page.strip_prefix(heading) {
        Some(rest) if rest.starts_with('\n') => 0,
        _ => page.find(&format!("\n{heading}\n"))? + 1,
    };
    let rest = &page[from + heading.len()..];
    let ends = (1..=level).filter_map(|level| rest.find(&format!("\n{} ", "#".repeat(level))));
    let end = ends.min().unwrap_or(rest.len());
    Some(&page[from..from + heading.len() + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# A page

A sentence with `a command` and [a link](other.md), which is wrapped somewhere about here.

## First

- one thing that is so long that it takes two lines
  - in it, another
- [far away](https://example.org)

1. counted

```text
as it    is
```

## Second

| name | means |
| --- | --- |
| `a` | something |

| scenario | case | what comes of it |
| --- | --- | --- |
| a/long-name-of-a-scenario | a-long-name | nothing |
";

    #[test]
    fn a_page_reads_well_on_a_narrow_terminal() {
        let expected = "\
A page

A sentence with `a command` and a link,
which is wrapped somewhere about here.

First

- one thing that is so long that it takes
  two lines
  - in it, another
- far away (https://example.org)

1. counted

    as it    is

Second

name  means
----  ---------
`a`   something

a/long-name-of-a-scenario
  case: a-long-name
  what comes of it: nothing
";
        assert_eq!(render(PAGE, 42), expected);
    }

    #[test]
    fn a_command_is_never_broken() {
        let text = render("Say something `picklock run --seeds 5` here.", 30);
        assert_eq!(text, "Say something\n`picklock run --seeds 5` here.\n");
    }

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let found = section(PAGE, "## First").unwrap_or_default();
        assert!(
            found.starts_with("## First\n") && found.ends_with("```\n"),
            "{found}"
        );
        assert_eq!(section(PAGE, "## Third"), None);
        assert_eq!(section(PAGE, "# A page"), Some(PAGE));
    }
}
