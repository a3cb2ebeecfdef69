//! A timeline as text for a terminal.

use super::{Row, Timeline};
use crate::style::Style;
use crate::words::wrap;

/// Where times end.
const TIME: usize = 11;
/// The space between a time and the first lane.
const GAP: usize = 2;
/// How wide a lane is if there is room.
const LANE: usize = 15;
/// How narrow a lane may get.
const LANE_LEAST: usize = 6;
/// Notes are never squeezed into less than this, even if the lines get too long by it.
const NOTES_LEAST: usize = 16;

impl Timeline {
    /// The timeline as lines of text, each ended.
    pub fn draw(&self, style: &Style) -> String {
        let shape = Shape::of(self, style.columns());
        let mut text = String::new();
        if !self.columns.is_empty() {
            let letters: Vec<&str> = self
                .columns
                .iter()
                .map(|column| column.letter.as_str())
                .collect();
            push_line(&mut text, &shape.line("", &letters, "", &Style::PLAIN));
        }
        for row in &self.rows {
            // Where the promise breaks, the whole line has one colour.
            let own = match row.mark {
                Some(_) => &Style::PLAIN,
                None => style,
            };
            for line in shape.row(row, own) {
                let line = if row.mark.is_some() {
                    style.red(&line)
                } else {
                    line
                };
                push_line(&mut text, &line);
            }
        }
        text
    }
}

/// The widths of the columns.
struct Shape {
    time: usize,
    lanes: Vec<usize>,
    notes: usize,
}

impl Shape {
    fn of(timeline: &Timeline, columns: usize) -> Self {
        let times = timeline.rows.iter().filter_map(|row| row.at);
        let time = times.map(|at| at.to_string().len() + 2).max().unwrap_or(0);
        let notes = timeline.rows.iter().map(whole_note);
        let longest = notes.map(|note| note.chars().count()).max().unwrap_or(0);
        let wide = Self::with(timeline, columns, time.max(TIME), LANE, GAP);
        if longest <= wide.notes {
            wide
        } else {
            Self::with(timeline, columns, time, LANE_LEAST, 1)
        }
    }

    /// Each lane is as wide as its widest cell and the space after it, and no narrower than
    /// `least`.
    fn with(timeline: &Timeline, columns: usize, time: usize, least: usize, space: usize) -> Self {
        let widest = |lane: usize| {
            let cells = timeline.rows.iter().filter_map(|row| row.cells.get(lane));
            let widest = cells.map(|cell| cell.chars().count()).max();
            (widest.unwrap_or(0) + space).max(least)
        };
        let mut lanes: Vec<usize> = (0..timeline.columns.len()).map(widest).collect();
        if let Some(last) = lanes.last_mut() {
            *last += GAP - space;
        }
        let used = time + GAP + lanes.iter().sum::<usize>();
        Self {
            time,
            lanes,
            notes: columns.saturating_sub(used).max(NOTES_LEAST),
        }
    }

    /// A row in as many lines as its notes need.
    fn row(&self, row: &Row, style: &Style) -> Vec<String> {
        let notes = self.notes(row);
        let time = row.at.map_or(String::new(), |at| at.to_string());
        let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
        let bars: Vec<&str> = row.bars.iter().map(String::as_str).collect();
        let is_fault = row
            .notes
            .first()
            .is_some_and(|note| note.starts_with("fault "));
        let mut lines = Vec::new();
        for (index, note) in notes.iter().enumerate() {
            let note = match is_fault {
                true => style.fault(note),
                false => note.clone(),
            };
            lines.push(match index {
                0 => self.line(&time, &cells, &note, style),
                _ => self.line("", &bars, &note, style),
            });
        }
        lines
    }

    fn notes(&self, row: &Row) -> Vec<String> {
        let whole = whole_note(row);
        if whole.chars().count() <= self.notes {
            return vec![whole];
        }
        let notes = row.notes.iter().chain(&row.mark);
        notes.flat_map(|note| wrap(note, self.notes)).collect()
    }

    fn line(&self, time: &str, cells: &[&str], note: &str, style: &Style) -> String {
        let glyphs = style.glyphs();
        let mut line = format!("{time:>width$}{:GAP$}", "", width = self.time);
        for (cell, &width) in cells.iter().zip(&self.lanes) {
            let padded = format!("{cell:<width$}");
            let bars = [glyphs.enter, glyphs.inside, glyphs.again, glyphs.leave];
            let bar = bars
                .iter()
                .find(|bar| style.color && cell.starts_with(**bar));
            match bar.and_then(|bar| padded.split_at_checked(bar.len())) {
                Some((bar, rest)) => line.push_str(&(style.holder(bar) + rest)),
                None => line.push_str(&padded),
            }
        }
        line.push_str(note);
        line.truncate(line.trim_end().len());
        line
    }
}

fn whole_note(row: &Row) -> String {
    let notes = row.notes.join(", ");
    match &row.mark {
        None => notes,
        Some(mark) if notes.is_empty() => mark.clone(),
        Some(mark) => format!("{notes}   {mark}"),
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
