//! Rows as a table for a terminal.

use crate::style::Style;

/// A column: its name, and what it shows.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

/// The first column to the left, the others to the right, a rule below the names.
pub(crate) fn aligned<T>(rows: &[T], columns: &[Column<T>], style: &Style) -> String {
    let heads: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells = rows
        .iter()
        .map(|row| columns.iter().map(|(_, cell)| cell(row)).collect());
    table_of(&heads, &cells.collect::<Vec<_>>(), 1, style)
}

/// A table of these cells: so many columns to the left, the others to the right, a rule below the heads.
pub fn table_of(heads: &[String], cells: &[Vec<String>], to_left: usize, style: &Style) -> String {
    let cells = cells.iter().cloned();
    let mut lines: Vec<Vec<String>> = std::iter::once(heads.to_vec()).chain(cells).collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let rule = widths
        .iter()
        .map(|&width| style.glyphs().rule.repeat(width))
        .collect();
    lines.insert(1, rule);
    let mut text = String::new();
    for line in &lines {
        text.push(' ');
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            text.push_str(&if column < to_left {
                let space = if column == 0 { " " } else { "  " };
                format!("{space}{cell:<width$}")
            } else {
                format!("  {cell:>width$}")
            });
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
