//! Rows as a table for a terminal.

use crate::fit::columns_of;
use crate::style::Style;

/// Before each column.
const GAP: usize = 2;

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

/// A table of these cells: so many columns to the left, the others to the right, a rule below the heads. On a terminal
/// that is too narrow for it, it is several, one below the other, each with the columns to the left.
pub fn table_of(heads: &[String], cells: &[Vec<String>], to_left: usize, style: &Style) -> String {
    let wide = |column: usize| {
        let cells = cells.iter().map(|row| columns_of(&row[column]));
        let widest = cells.chain([columns_of(&heads[column])]).max();
        GAP + widest.unwrap_or(0)
    };
    let named: usize = (0..to_left).map(wide).sum();
    let mut bands: Vec<Vec<usize>> = Vec::new();
    let mut used = 0;
    for column in to_left..heads.len() {
        let fits = style.width.is_none_or(|width| used + wide(column) <= width);
        match bands.last_mut() {
            Some(band) if fits => band.push(column),
            Some(_) | None => {
                bands.push((0..to_left).chain([column]).collect());
                used = named;
            }
        }
        used += wide(column);
    }
    let tables = bands.iter().map(|band| {
        let of = |row: &Vec<String>| band.iter().map(|&column| row[column].clone()).collect();
        let rows: Vec<Vec<String>> = cells.iter().map(of).collect();
        one_table(&of(&heads.to_vec()), &rows, to_left, style)
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn one_table(heads: &[String], cells: &[Vec<String>], to_left: usize, style: &Style) -> String {
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
