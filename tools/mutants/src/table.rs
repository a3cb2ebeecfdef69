//! The table: which case or test notices which mutant.

use std::fmt::Write;

use picklock_mutants::list::Mutant;

use crate::trial::Killer;

/// Of a hundred mutants, so many must be noticed.
pub const ENOUGH: usize = 95;

/// A mutant, and what notices it.
pub type Row<'m> = (&'m Mutant, Option<Killer>);

/// The table, in Markdown.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from("| mutant | what it breaks | noticed by |\n| --- | --- | --- |\n");
    for (mutant, killer) in rows {
        let by = match killer {
            Some(killer) => word(killer),
            None => match &mutant.survives {
                Some(why) => format!("nothing: {why}"),
                None => "**nothing**".to_owned(),
            },
        };
        let Mutant { name, breaks, .. } = mutant;
        // A text never fails to grow.
        let _grown = writeln!(text, "| `{name}` | {breaks} | {by} |");
    }
    text
}

fn word(killer: &Killer) -> String {
    match killer {
        Killer::Library(first, 1) => format!("`{first}`"),
        Killer::Library(first, cases) => format!("`{first}`, and {} more", cases - 1),
        Killer::Panic => "a panic in the library".to_owned(),
        Killer::Test(test) => format!("`{test}`"),
        Killer::TimeOut(what) => format!("time-out of {what}"),
    }
}

/// The last line, and whether all is well: enough are noticed, and the others need not be.
pub fn sum(rows: &[Row]) -> (String, bool) {
    let killed = rows.iter().filter(|(_, killer)| killer.is_some()).count();
    let unexplained = |(mutant, killer): &&Row| killer.is_none() && mutant.survives.is_none();
    let unexplained: Vec<&str> = rows
        .iter()
        .filter(unexplained)
        .map(|(mutant, _)| mutant.name.as_str())
        .collect();
    let by_library = |(_, killer): &&Row| matches!(killer, Some(Killer::Library(..)));
    let by_library = rows.iter().filter(by_library).count();
    let share = killed * 1_000 / rows.len().max(1);
    let mut text = format!(
        "{killed} of {} mutants are noticed ({}.{} %), {by_library} of them by the library of scenarios.",
        rows.len(),
        share / 10,
        share % 10,
    );
    if !unexplained.is_empty() {
        let names = unexplained.join(", ");
        let _grown = write!(
            text,
            "\nNobody notices, and the list does not say why: {names}"
        );
    }
    (
        text,
        killed * 100 >= ENOUGH * rows.len() && unexplained.is_empty(),
    )
}

#[cfg(test)]
mod tests {
    use picklock_mutants::list::parse;

    use super::*;

    fn mutants(survives: &str) -> Vec<Mutant> {
        let row = |number: usize| {
            format!(
                "[[mutant]]\nname = 'm{number}'\nfile = 'a'\nfind = 'b'\nreplace = 'c'\nbreaks = 'd'\n{survives}"
            )
        };
        let rows: String = (0..20).map(row).collect();
        parse(&rows).expect("a list")
    }

    fn all_but(mutants: &[Mutant], survivors: usize) -> Vec<Row<'_>> {
        let killer = |place: usize| (place >= survivors).then_some(Killer::Panic);
        let rows = mutants.iter().enumerate();
        rows.map(|(place, mutant)| (mutant, killer(place)))
            .collect()
    }

    #[test]
    fn one_of_twenty_may_survive_if_the_list_says_why() {
        let (explained, unexplained) = (mutants("survives = 'e'\n"), mutants(""));
        assert!(sum(&all_but(&explained, 1)).1);
        assert!(!sum(&all_but(&explained, 2)).1);
        let (text, well) = sum(&all_but(&unexplained, 1));
        assert!(!well);
        assert!(text.ends_with("does not say why: m0"), "{text}");
        assert!(
            text.starts_with("19 of 20 mutants are noticed (95.0 %)"),
            "{text}"
        );
    }
}
