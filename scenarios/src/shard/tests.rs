use super::*;

#[test]
fn every_seed_is_in_one_shard() {
    for (seeds, of) in [
        (3..24, 4),
        (0..2, 5),
        (7..8, 1),
        (u64::MAX - 9..u64::MAX, 3),
    ] {
        let shards = (1..=of).map(|index| Shard::new(index, of).unwrap());
        let mut all: Vec<u64> = shards
            .flat_map(|shard| (0..shard.len(&seeds)).map(move |position| (shard, position)))
            .map(|(shard, position)| shard.seed(&seeds, position))
            .collect();
        all.sort_unstable();
        assert_eq!(all, seeds.collect::<Vec<_>>());
    }
}

#[test]
fn a_shard_counts_from_one() {
    assert!(Shard::new(0, 4).is_err());
    assert!(Shard::new(5, 4).is_err());
    assert!(Shard::new(1, 0).is_err());
    assert_eq!(Shard::new(1, 1), Ok(Shard::WHOLE));
}
