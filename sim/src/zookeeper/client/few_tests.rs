//! Tests of the list that nearly always has one item at most.

use super::small_vec::Few;

fn few(items: impl IntoIterator<Item = u32>) -> Few<u32> {
    let mut few = Few::default();
    for item in items {
        few.push(item);
    }
    few
}

#[test]
fn the_only_one_is_taken_if_it_is_the_one() {
    let mut few = few([7]);
    assert_eq!(few.take_only_if(|item| *item == 8), None);
    assert_eq!(few[..], [7], "another is left where it is");
    assert_eq!(few.take_only_if(|item| *item == 7), Some(7));
    assert!(few.is_none());
    assert_eq!(few.take_only_if(|_| true), None, "it can be taken once");
}

#[test]
fn of_an_empty_list_none_is_taken() {
    assert_eq!(few([]).take_only_if(|_| true), None);
}

#[test]
fn where_there_have_been_two_none_is_the_only_one() {
    let mut few = few([7, 8]);
    assert_eq!(few.take_only_if(|_| true), None);
    assert_eq!(few[..], [7, 8]);
    assert_eq!(few.pop_first(), Some(7));
    assert_eq!(few.take_only_if(|_| true), None);
    assert_eq!(few[..], [8], "the last of several is left too");
    assert_eq!(few.pop_first(), Some(8));
    assert_eq!(few.take_only_if(|_| true), None);
    assert!(!few.is_none(), "it remembers that there were two");
}

#[test]
fn after_the_only_one_was_taken_another_can_be_the_only_one() {
    let mut few = few([7]);
    few.take_only_if(|_| true);
    few.push(8);
    assert_eq!(few.take_only_if(|_| true), Some(8));
}
