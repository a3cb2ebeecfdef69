//! The answer to `getChildren`.

use std::cell::OnceCell;
use std::rc::Rc;

/// The names of a node's children, in no particular order. Clients that read the same list share it, and the sorted
/// view of it: ten thousand waiters cost one sort.
#[derive(Debug, Default)]
pub struct Children {
    names: Vec<Rc<str>>,
    name_bytes: u64,
    queue: OnceCell<Queue>,
}

/// The names in the order of their numbers, and the numbers.
#[derive(Debug, Default)]
struct Queue {
    numbers: Vec<i64>,
    names: Vec<Rc<str>>,
}

impl PartialEq for Children {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Children {
    /// Wraps the names.
    pub fn new(names: Vec<Rc<str>>) -> Self {
        let name_bytes = names.iter().map(|name| 4 + name.len() as u64).sum();
        Self {
            names,
            name_bytes,
            queue: OnceCell::new(),
        }
    }

    /// The names, in no particular order.
    pub fn names(&self) -> &[Rc<str>] {
        &self.names
    }

    /// The names in the order of the sequence numbers at their ends. Whatever stands before the number (a guid,
    /// `read-`) is in no meaningful order and decides only between equal numbers.
    pub fn in_sequence_order(&self) -> &[Rc<str>] {
        &self.queue().names
    }

    /// The place of a name in [`in_sequence_order`](Self::in_sequence_order), from zero; `None` if it is not there.
    pub fn place(&self, name: &str) -> Option<usize> {
        let Queue { numbers, names } = self.queue();
        let wanted = sequence(name);
        let first = numbers.partition_point(|number| *number < wanted);
        let same = numbers[first..]
            .iter()
            .take_while(|number| **number == wanted)
            .count();
        (first..first + same).find(|place| names[*place].as_ref() == name)
    }

    fn queue(&self) -> &Queue {
        self.queue.get_or_init(|| {
            let mut keyed: Vec<(i64, &Rc<str>)> = self
                .names
                .iter()
                .map(|name| (sequence(name), name))
                .collect();
            keyed.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.cmp(other.1)));
            let (numbers, names) = keyed
                .into_iter()
                .map(|(number, name)| (number, Rc::clone(name)))
                .unzip();
            Queue { numbers, names }
        })
    }

    /// Length of the list on the wire in bytes.
    pub fn wire_bytes(&self) -> u64 {
        4 + self.name_bytes
    }
}

/// The number at the end of a sequential node's name: ten digits, or, after the counter has overflowed, a minus
/// sign and ten digits. A name without one sorts last.
fn sequence(name: &str) -> i64 {
    let mut number = 0_i64;
    let mut digits = 0_u32;
    for byte in name.bytes().rev() {
        if !byte.is_ascii_digit() || digits == 18 {
            break;
        }
        number += i64::from(byte - b'0') * 10_i64.pow(digits);
        digits += 1;
    }
    match digits {
        0 => i64::MAX,
        10 if name[..name.len() - 10].ends_with("--") => -number,
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(names: &[&str]) -> Children {
        Children::new(names.iter().map(|name| Rc::from(*name)).collect())
    }

    #[test]
    fn the_queue_is_in_the_order_of_the_numbers_not_of_the_names() {
        let children = children(&["aa-lock-0000000010", "zz-lock-0000000002"]);
        assert_eq!(
            children.in_sequence_order()[0].as_ref(),
            "zz-lock-0000000002"
        );
        assert_eq!(children.place("aa-lock-0000000010"), Some(1));
        assert_eq!(children.place("bb-lock-0000000010"), None);
    }

    #[test]
    fn an_overflowed_counter_is_negative() {
        assert_eq!(sequence("x-lock--2147483648"), -2_147_483_648);
        assert_eq!(sequence("x-lock-2147483647"), 2_147_483_647);
    }
}
