//! `sometimes`: the moments that some run must come through.

use picklock_checker::SOMETIMES;

use super::reader::{Fields, Mistake, Mistakes};

/// Reads `sometimes`, of the file or of a case.
pub(super) fn sometimes(fields: &mut Fields, mistakes: &mut Mistakes) -> Option<Vec<&'static str>> {
    const WANTED: &str = r#"a list of moments such as ["two-wait", "adopted"]"#;
    let item = fields.get("sometimes")?;
    let items = item.list(WANTED, mistakes)?;
    let names = SOMETIMES.map(|moment| moment.name);
    let mut moments: Vec<&str> = Vec::new();
    for item in items {
        let name = item.text("the name of a moment", mistakes)?;
        let Some(moment) = names.iter().find(|known| **known == name) else {
            mistakes.add(item.span.clone(), Mistake::unknown("moment", name, &names));
            continue;
        };
        if moments.contains(moment) {
            let mistake = Mistake::new(format!("`{name}` is named twice"));
            mistakes.add(item.span.clone(), mistake.help("name each moment once"));
        } else {
            moments.push(moment);
        }
    }
    Some(moments)
}
