//! The measurements as a page: charts, and all figures below them.

use super::table::{Column, TABLES, WHICH};
use super::{HerdRow, Undrained};
use crate::chart::{ChartError, Figure};
use crate::escape::escaped;
use crate::html::{document, figure};

/// The page, by this version of picklock.
///
/// # Errors
/// If a chart cannot be drawn.
pub fn page(
    rows: &[HerdRow],
    undrained: &[Undrained],
    charts: &[Figure],
    picklock: &str,
) -> Result<String, ChartError> {
    let mut text = String::from("<section>\n<h2>What a release costs, and who gets hurt</h2>\n");
    for queue in undrained {
        text.push_str(&format!(
            "<p class=\"cut\">{}</p>\n",
            escaped(&queue.because)
        ));
    }
    if rows.is_empty() {
        text.push_str("<p>Nothing was measured.</p>\n</section>\n");
        return Ok(document("picklock herd", picklock, &text, ""));
    }
    for chart in charts {
        text.push_str(&figure(&chart.inline()?));
    }
    text.push_str("</section>\n<section>\n<h2>All figures</h2>\n");
    for (title, columns) in TABLES {
        let columns: Vec<Column> = WHICH.iter().chain(*columns).copied().collect();
        text.push_str(&table(title, &columns, rows));
    }
    text.push_str("</section>\n");
    Ok(document("picklock herd", picklock, &text, ""))
}

fn table(title: &str, columns: &[Column], rows: &[HerdRow]) -> String {
    let heads = columns.iter().map(|(name, _)| format!("<th>{name}</th>"));
    let heads: String = heads.collect();
    let row = |row: &HerdRow| {
        let cells = columns
            .iter()
            .map(|(_, cell)| format!("<td>{}</td>", escaped(&cell(row))));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<h3>{}</h3>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\
         </tbody></table></div>\n",
        escaped(title)
    )
}
