use super::*;

#[test]
fn every_seed_is_in_one_shard() {
    for (range, of) in [
        (3..24, 4),
        (0..2, 5),
        (7..8, 1),
        (u64::MAX - 9..u64::MAX, 3),
    ] {
        let mut all = Vec::new();
        for index in 1..=of {
            let seeds = Seeds {
                range: range.clone(),
                shard: Shard::new(index, of).unwrap(),
            };
            all.extend((0..seeds.len()).map(|position| seeds.nth(position)));
        }
        all.sort_unstable();
        assert_eq!(all, range.collect::<Vec<_>>());
    }
}

#[test]
fn a_shard_counts_from_one() {
    assert!(Shard::new(0, 4).is_err());
    assert!(Shard::new(5, 4).is_err());
    assert!(Shard::new(1, 0).is_err());
    assert_eq!(Shard::new(1, 1), Ok(Shard::WHOLE));
}
