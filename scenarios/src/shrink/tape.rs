//! Shorter tapes with lower numbers: a zero is the boring choice, and says nothing.

use super::search::Search;

/// Makes the tape shorter, then more boring, then its numbers lower.
pub(super) fn shorten(search: &mut Search) {
    if search.choices().is_empty() || search.try_choices(Vec::new()) {
        return;
    }
    truncate(search);
    for pass in [zero as fn(&mut Search), lower] {
        pass(search);
    }
}

/// Cuts the tape where what follows does not matter: halves the end as long as that works.
fn truncate(search: &mut Search) {
    let mut cut = search.choices().len() / 2;
    while cut > 0 && !search.is_over() {
        let kept = search.choices().len().saturating_sub(cut);
        let shorter = search.choices()[..kept].to_vec();
        if !search.try_choices(shorter) {
            cut /= 2;
        }
        cut = cut.min(search.choices().len());
    }
}

/// Makes choices boring: in large pieces, then in smaller ones, then each.
fn zero(search: &mut Search) {
    let mut size = nonzero_choices(search).len();
    while size > 0 && !search.is_over() {
        let mut start = 0;
        loop {
            let said = nonzero_choices(search);
            if start >= said.len() {
                break;
            }
            let gone = &said[start..(start + size).min(said.len())];
            let mut choices = search.choices().to_vec();
            for index in gone {
                choices[*index] = 0;
            }
            if !search.try_choices(choices) {
                start += size;
            }
        }
        size /= 2;
    }
}

/// Lowers each number as far as halving finds.
fn lower(search: &mut Search) {
    for index in nonzero_choices(search) {
        let mut fails = 0;
        while !search.is_over() {
            let Some(now) = search.choices().get(index).copied() else {
                break;
            };
            let between = fails + (now.saturating_sub(fails)) / 2;
            if between <= fails {
                break;
            }
            let mut choices = search.choices().to_vec();
            choices[index] = between;
            if !search.try_choices(choices) {
                fails = between;
            }
        }
    }
}

/// The positions of choices that are not zero.
fn nonzero_choices(search: &Search) -> Vec<usize> {
    let choices = search.choices().iter().enumerate();
    let said = choices.filter(|(_, choice)| **choice != 0);
    said.map(|(index, _)| index).collect()
}
