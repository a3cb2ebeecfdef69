//! Puts mutants beside what they replace.
//!
//! An expression becomes `(if crate::mutant::is(7) { replacement } else { original })`, a statement the same without
//! the parentheses. Where a text is neither, as the guard of an arm of a match, the replacement says itself where the
//! switch stands: `$mutant` in it is the condition, and `$original` the text. Of several mutants of one place each is a
//! branch, and one place may lie within another.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::list::Mutant;

/// What the replacement of a text that is neither expression nor statement calls the switch.
const SWITCH: &str = "$mutant";

/// And what it calls that text, with all other mutants in it.
const ORIGINAL: &str = "$original";

/// A mutant with its number, and the place of what it replaces.
#[derive(Clone, Debug)]
struct Placed<'m> {
    number: usize,
    mutant: &'m Mutant,
    place: Range<usize>,
}

/// The text of a file with all its mutants, which have these numbers.
///
/// # Errors
///
/// A text that is there more than once or not at all, or places that overlap and do not lie within each other.
pub fn rewrite(text: &str, mutants: &[(usize, &Mutant)]) -> Result<String, String> {
    let mut placed = Vec::new();
    for (number, mutant) in mutants {
        let place = place_of(text, mutant)?;
        let braces = |of: &str| of.matches('{').count() == of.matches('}').count();
        let is_whole = braces(&mutant.find) && braces(&mutant.replace);
        if !is_whole && !mutant.replace.contains(SWITCH) {
            let name = &mutant.name;
            let remedy = "close them, or write the replacement with $mutant in it";
            return Err(format!(
                "[{name}] `find` or `replace` has a brace too many: {remedy}"
            ));
        }
        placed.push(Placed {
            number: *number,
            mutant,
            place,
        });
    }
    // A mutant whose place contains another's comes before it.
    placed.sort_by_key(|placed| (placed.place.start, std::cmp::Reverse(placed.place.end)));
    for pair in placed.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        let names = format!("[{}] and [{}]", one.mutant.name, other.mutant.name);
        if other.place.start < one.place.end && other.place.end > one.place.end {
            return Err(format!("{names} overlap in {}", one.mutant.file));
        }
        let hides = |placed: &Placed| {
            let replacement = &placed.mutant.replace;
            replacement.contains(SWITCH) && !replacement.contains(ORIGINAL)
        };
        let same = one.place == other.place;
        if other.place.start < one.place.end && (hides(one) || (same && hides(other))) {
            let remedy = "write $original in the one that has $mutant, where the text was";
            return Err(format!("of {names} one hides the other: {remedy}"));
        }
    }
    Ok(written(text, 0..text.len(), &placed))
}

/// What is wrong with the places of a list: each mistake in words, with what to do about it.
pub fn misplaced(repository: &Path, mutants: &[Mutant]) -> Vec<String> {
    let mut by_file: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (number, mutant) in (1..).zip(mutants) {
        by_file
            .entry(&mutant.file)
            .or_default()
            .push((number, mutant));
    }
    let mut wrong = Vec::new();
    for (file, mutants) in by_file {
        match fs::read_to_string(repository.join(file)) {
            Ok(text) => {
                let places = mutants.iter().map(|(_, mutant)| place_of(&text, mutant));
                let missing: Vec<String> = places.filter_map(Result::err).collect();
                match missing.is_empty() {
                    true => wrong.extend(rewrite(&text, &mutants).err()),
                    false => wrong.extend(missing),
                }
            }
            Err(error) => wrong.push(format!("[{}] {file}: {error}", mutants[0].1.name)),
        }
    }
    wrong
}

/// Where in a text a mutant is.
///
/// # Errors
///
/// What it replaces is there more than once, or not at all.
pub fn place_of(text: &str, mutant: &Mutant) -> Result<Range<usize>, String> {
    let from = match &mutant.after {
        Some(after) => {
            let found = occurrences(text, after);
            match &found[..] {
                [only] => only.end,
                _ => return Err(wrong(mutant, "after", after, found.len())),
            }
        }
        None => 0,
    };
    let found = occurrences(&text[from..], &mutant.find);
    match (&found[..], &mutant.after) {
        ([only], _) => Ok(from + only.start..from + only.end),
        // The first of them.
        ([first, ..], Some(_)) => Ok(from + first.start..from + first.end),
        _ => Err(wrong(mutant, "find", &mutant.find, found.len())),
    }
}

fn wrong(mutant: &Mutant, key: &str, text: &str, times: usize) -> String {
    let Mutant { name, file, .. } = mutant;
    let remedy = match times {
        0 => "write it as it stands in the file now",
        _ => "write more of it, or say with `after` what comes before it",
    };
    format!("[{name}] `{key}` is {times} times in {file}, and must be once: {text}\n    {remedy}")
}

/// The places of a text, whose line breaks and indents may be others.
fn occurrences(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let Some(first) = words.first() else {
        return Vec::new();
    };
    let starts = text.match_indices(first).map(|(start, _)| start);
    let found = starts.filter_map(|start| {
        let mut end = start;
        for (place, word) in words.iter().enumerate() {
            let rest = &text[end..];
            let trimmed = rest.trim_start();
            if (place > 0 && trimmed.len() == rest.len()) || !trimmed.starts_with(word) {
                return None;
            }
            end += rest.len() - trimmed.len() + word.len();
        }
        Some(start..end)
    });
    found.collect()
}

/// A part of a text, with the mutants that lie in it.
fn written(text: &str, part: Range<usize>, placed: &[Placed]) -> String {
    let mut written = String::new();
    let mut at = part.start;
    let mut rest = placed;
    while let Some(first) = rest.first() {
        let place = first.place.clone();
        let here = rest.iter().take_while(|row| row.place == place).count();
        let inner = rest[here..].iter();
        let inner = inner.take_while(|row| row.place.end <= place.end).count();
        written.push_str(&text[at..place.start]);
        let original = written_inside(text, &place, &rest[here..here + inner]);
        written.push_str(&with_branches(&original, &rest[..here]));
        at = place.end;
        rest = &rest[here + inner..];
    }
    written.push_str(&text[at..part.end]);
    written
}

fn written_inside(text: &str, place: &Range<usize>, inner: &[Placed]) -> String {
    match inner {
        [] => text[place.clone()].to_owned(),
        _ => written(text, place.clone(), inner),
    }
}

/// What is there, behind a branch for each of its mutants.
fn with_branches(original: &str, here: &[Placed]) -> String {
    let mut text = original.to_owned();
    for Placed { number, mutant, .. } in here {
        let switch = format!("crate::mutant::is({number})");
        let replacement = &mutant.replace;
        text = if replacement.contains(SWITCH) {
            replacement
                .replace(SWITCH, &switch)
                .replace(ORIGINAL, &text)
        } else if is_statement(original) {
            // A comment at its end ends with the line.
            format!("if {switch} {{ {replacement} }} else {{ {text}\n}}")
        } else {
            format!("(if {switch} {{ {replacement} }} else {{ {text} }})")
        };
    }
    text
}

fn is_statement(text: &str) -> bool {
    let last = text.lines().last().unwrap_or_default();
    let code = last.split("//").next().unwrap_or_default();
    code.trim_end().ends_with([';', '}']) && !text.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(name: &str, find: &str, replace: &str) -> Mutant {
        Mutant {
            name: name.to_owned(),
            file: "a.rs".to_owned(),
            after: None,
            find: find.to_owned(),
            replace: replace.to_owned(),
            breaks: String::new(),
            survives: None,
        }
    }

    fn rewritten(text: &str, mutants: &[Mutant]) -> Result<String, String> {
        let numbered: Vec<_> = (1..).zip(mutants).collect();
        rewrite(text, &numbered)
    }

    #[test]
    fn an_expression_stands_in_parentheses_and_a_statement_does_not() {
        let mutants = [mutant("one", "a > b", "a >= b"), mutant("two", "go();", "")];
        let text = rewritten("let c = a > b; go();", &mutants).expect("both are there");
        let first = "let c = (if crate::mutant::is(1) { a >= b } else { a > b });";
        assert_eq!(
            text,
            format!("{first} if crate::mutant::is(2) {{  }} else {{ go();\n}}")
        );
    }

    #[test]
    fn two_of_one_place_are_branches_and_one_may_lie_within_another() {
        let mutants = [
            mutant("one", "a > b", "true"),
            mutant("two", "a > b", "false"),
            mutant("three", "a", "c"),
        ];
        let text = rewritten("if a > b {}", &mutants).expect("all are there");
        let inner = "(if crate::mutant::is(3) { c } else { a }) > b";
        let inner = format!("(if crate::mutant::is(1) {{ true }} else {{ {inner} }})");
        let outer = format!("if (if crate::mutant::is(2) {{ false }} else {{ {inner} }}) {{}}");
        assert_eq!(text, outer);
    }

    #[test]
    fn a_replacement_may_say_where_its_switch_stands() {
        let guard = mutant("one", "Some(0) if a =>", "Some(0) if a || $mutant =>");
        let text = rewritten("Some(0) if a => 1", &[guard]).expect("it is there");
        assert_eq!(text, "Some(0) if a || crate::mutant::is(1) => 1");
    }

    #[test]
    fn a_replacement_that_would_hide_another_mutant_is_refused() {
        let inner = mutant("one", "a > b", "true");
        let hides = mutant("two", "if a > b {", "go($mutant); if a > b {");
        let refused = rewritten("if a > b {}", &[inner.clone(), hides]).expect_err("it hides");
        assert!(refused.contains("one hides the other"), "{refused}");
        let shows = mutant("two", "if a > b {", "go($mutant); $original");
        let text = rewritten("if a > b {}", &[inner, shows]).expect("both are there");
        let inner = "if (if crate::mutant::is(1) { true } else { a > b }) {}";
        assert_eq!(text, format!("go(crate::mutant::is(2)); {inner}"));
    }

    #[test]
    fn a_text_that_is_not_there_exactly_once_is_refused() {
        let missing = rewritten("a < b", &[mutant("one", "a > b", "")]).expect_err("it is not");
        assert!(
            missing.contains("[one] `find` is 0 times in a.rs"),
            "{missing}"
        );
        let twice = rewritten("a; a;", &[mutant("one", "a;", "")]).expect_err("it is twice");
        assert!(twice.contains("is 2 times"), "{twice}");
    }

    #[test]
    fn after_says_which_of_several_is_meant() {
        let one = Mutant {
            after: Some("fn two()".to_owned()),
            ..mutant("one", "a", "b")
        };
        let text = "fn one() { a } fn two() { a } fn three() { a }";
        assert_eq!(place_of(text, &one), Ok(26..27));
    }

    #[test]
    fn line_breaks_and_indents_do_not_matter() {
        let one = mutant("one", "a .b() > c", "d");
        assert_eq!(place_of("if a\n    .b()\n    > c {}", &one), Ok(3..21));
    }

    #[test]
    fn a_brace_too_many_is_refused_unless_the_switch_is_written() {
        let open = [mutant("open", "if a {", "if b {")];
        let refused = rewritten("if a { c }", &open).expect_err("it does not compile");
        assert!(refused.contains("[open] `find` or `replace`"), "{refused}");
        assert!(
            rewritten(
                "if a { c }",
                &[mutant("open", "if a {", "if a || $mutant {")]
            )
            .is_ok()
        );
    }

    #[test]
    fn places_that_overlap_are_refused() {
        let mutants = [mutant("one", "a + b", "a"), mutant("two", "b + c", "c")];
        let refused = rewritten("a + b + c", &mutants).expect_err("they overlap");
        assert!(refused.contains("[one] and [two] overlap"), "{refused}");
    }
}
