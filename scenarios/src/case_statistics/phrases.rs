//! Numbers of seeds, in words.

/// `41 of 1000 seeds, 4.1 %`
pub(super) fn share(some: u64, all: u64) -> String {
    let of_all = seeds(all);
    if some == all {
        return format!("all {of_all}");
    }
    let thousandths = (u128::from(some) * 1000 + u128::from(all) / 2) / u128::from(all.max(1));
    let percent = match (thousandths, thousandths / 10, thousandths % 10) {
        (0, _, _) => "under 0.1".to_owned(),
        (1000.., _, _) => "over 99.9".to_owned(),
        (_, whole, 0) => whole.to_string(),
        (_, whole, tenths) => format!("{whole}.{tenths}"),
    };
    format!("{some} of {of_all}, {percent} %")
}

/// `41 seeds`
pub(super) fn seeds(number: u64) -> String {
    if number == 1 {
        "1 seed".to_owned()
    } else {
        format!("{number} seeds")
    }
}
