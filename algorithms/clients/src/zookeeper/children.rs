//! The answer to `getChildren`.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The names of a node's children, in no particular order. Clients that read the same list share it, and what is
/// known of its order: ten thousand waiters cost one look at each number.
#[derive(Debug, Default)]
pub struct Children {
    list: VecDeque<Child>,
    name_bytes: u64,
    queue: OnceCell<Queue>,
}

/// A name, and the number at its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Child {
    number: i64,
    name: Rc<str>,
}

/// The names in the order of their numbers.
#[derive(Clone, Debug)]
enum Queue {
    /// It is that of the list, backwards. So it is with every server that lists the newest first.
    Backwards,
    /// It is another.
    Sorted(Vec<Child>),
}

/// A copy is made to be changed, so it has room.
impl Clone for Children {
    fn clone(&self) -> Self {
        let mut list = VecDeque::with_capacity(self.list.len() + 1);
        list.extend(self.list.iter().cloned());
        Self {
            list,
            name_bytes: self.name_bytes,
            queue: self.queue.clone(),
        }
    }
}

impl PartialEq for Children {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Child {
    fn new(name: Rc<str>) -> Self {
        let number = sequence(&name);
        Self { number, name }
    }
}

impl Children {
    /// Wraps the names.
    pub fn new(names: impl IntoIterator<Item = Rc<str>>) -> Self {
        let list: VecDeque<Child> = names.into_iter().map(Child::new).collect();
        Self {
            name_bytes: list.iter().map(|child| wire_bytes(&child.name)).sum(),
            list,
            queue: OnceCell::new(),
        }
    }

    /// Puts a name in front of the others; its number is that of [`sequence`].
    pub fn push_front(&mut self, name: Rc<str>, number: i64) {
        let stays_backwards = match self.queue.get() {
            Some(Queue::Backwards) => self.list.front().is_none_or(|last| last.number < number),
            Some(Queue::Sorted(_)) | None => false,
        };
        if !stays_backwards {
            self.queue = OnceCell::new();
        }
        self.name_bytes += wire_bytes(&name);
        self.list.push_front(Child { number, name });
    }

    /// Takes a name out, by its place in [`names`](Self::names).
    pub fn remove(&mut self, index: usize) {
        let removed = self.list.remove(index);
        self.removed(removed);
    }

    /// Takes the last name out.
    pub fn pop_back(&mut self) {
        let removed = self.list.pop_back();
        self.removed(removed);
    }

    #[inline]
    fn removed(&mut self, child: Option<Child>) {
        if let Some(Child { name, .. }) = child {
            self.name_bytes -= wire_bytes(&name);
            if let Some(Queue::Sorted(_)) = self.queue.get() {
                self.queue = OnceCell::new();
            }
        }
    }

    /// The names, in no particular order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &Rc<str>> + ExactSizeIterator {
        self.list.iter().map(|child| &child.name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The same in the order of the sequence numbers at the names' ends. Whatever stands before the number (a guid,
    /// `read-`) is in no meaningful order and decides only between equal numbers.
    pub fn sorted_by_sequence(&self) -> SortedChildren<'_> {
        SortedChildren(self)
    }

    #[inline]
    fn backwards(&self, index: usize) -> Option<&Child> {
        self.list
            .get(self.list.len().checked_sub(1)?.checked_sub(index)?)
    }

    fn queue(&self) -> &Queue {
        self.queue.get_or_init(|| {
            let numbers = self.list.iter().rev().map(|child| child.number);
            if numbers.is_sorted_by(|one, next| one < next) {
                return Queue::Backwards;
            }
            let mut queue: Vec<Child> = self.list.iter().rev().cloned().collect();
            queue.sort_unstable();
            Queue::Sorted(queue)
        })
    }

    /// Length of the list on the wire in bytes.
    pub fn wire_bytes(&self) -> u64 {
        4 + self.name_bytes
    }
}

/// The children of a node in the order of their sequence numbers.
#[derive(Clone, Copy, Debug)]
pub struct SortedChildren<'a>(&'a Children);

impl<'a> SortedChildren<'a> {
    /// At which position, from zero, a name is; `None` if it is not there.
    pub fn position(self, name: &str) -> Option<usize> {
        let children = self.0;
        let wanted = sequence(name);
        match children.queue() {
            Queue::Backwards => {
                // Most queues have no gaps, so the first number says where the others are.
                let guess = wanted.saturating_sub(children.list.back()?.number);
                let guess = usize::try_from(guess).ok()?;
                let is_it = |child: &Child| child.number == wanted;
                let index = if children.backwards(guess).is_some_and(is_it) {
                    guess
                } else {
                    let order = |child: &Child| wanted.cmp(&child.number);
                    children.len() - 1 - children.list.binary_search_by(order).ok()?
                };
                (*children.backwards(index)?.name == *name).then_some(index)
            }
            Queue::Sorted(queue) => {
                let key = (wanted, name);
                queue
                    .binary_search_by(|child| (child.number, &*child.name).cmp(&key))
                    .ok()
            }
        }
    }

    /// The name at a position.
    pub fn get(self, position: usize) -> Option<&'a Rc<str>> {
        let child = match self.0.queue() {
            Queue::Backwards => self.0.backwards(position),
            Queue::Sorted(queue) => queue.get(position),
        };
        child.map(|child| &child.name)
    }
}

fn wire_bytes(name: &str) -> u64 {
    4 + name.len() as u64
}

/// The number at the end of a sequential node's name: ten digits, or, after the counter has overflowed, a minus
/// sign and ten digits. A name without one sorts last.
#[inline]
pub fn sequence(name: &str) -> i64 {
    if let Some((before, digits)) = name.as_bytes().split_last_chunk()
        && let Some(number) = ten_digits(digits)
        && !before.last().is_some_and(u8::is_ascii_digit)
    {
        return match before.ends_with(b"--") {
            true => -number,
            false => number,
        };
    }
    other_sequence(name)
}

/// The same of a name that does not end with ten digits.
#[cold]
fn other_sequence(name: &str) -> i64 {
    const MOST_DIGITS: usize = 18;
    let bytes = name.as_bytes().iter().rev().take(MOST_DIGITS);
    let digits = bytes.take_while(|byte| byte.is_ascii_digit()).count();
    let digits = &name[name.len() - digits..];
    digits.parse().unwrap_or(i64::MAX)
}

/// Their number, if all are digits. Names are read often, so eight digits are added up at a time: neighbours to pairs,
/// pairs to fours, and those to all eight.
#[inline]
fn ten_digits(&[first, second, ref rest @ ..]: &[u8; 10]) -> Option<i64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let digits = u64::from_le_bytes(*rest) ^ (EACH * u64::from(b'0'));
    // What is above nine, or has the highest bit anyway, has the highest bit now.
    let others = (digits.wrapping_add(EACH * (0x7f - 9)) | digits) & (EACH * 0x80);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let fours = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let eight = fours.wrapping_add((pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32))) >> 32;
    let (first, second) = (first.wrapping_sub(b'0'), second.wrapping_sub(b'0'));
    let number = (i64::from(first) * 10 + i64::from(second)) * 100_000_000 + eight as i64;
    (others == 0 && first <= 9 && second <= 9).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(names: &[&str]) -> Children {
        Children::new(names.iter().map(|name| Rc::from(*name)))
    }

    fn queue(children: &Children) -> Vec<&str> {
        let sorted = children.sorted_by_sequence();
        (0..children.len())
            .map(|index| &**sorted.get(index).unwrap())
            .collect()
    }

    fn position(children: &Children, name: &str) -> Option<usize> {
        children.sorted_by_sequence().position(name)
    }

    fn push(children: &mut Children, name: &str) {
        children.push_front(name.into(), sequence(name));
    }

    #[test]
    fn the_queue_is_in_the_order_of_the_numbers_not_of_the_names() {
        let children = children(&["aa-lock-0000000010", "zz-lock-0000000002"]);
        assert_eq!(
            queue(&children),
            ["zz-lock-0000000002", "aa-lock-0000000010"]
        );
        assert_eq!(position(&children, "aa-lock-0000000010"), Some(1));
        assert_eq!(position(&children, "bb-lock-0000000010"), None);
    }

    #[test]
    fn a_list_in_any_order_has_the_same_queue() {
        let children = children(&["b-0000000002", "d-0000000007", "c-0000000002", "none"]);
        let order = ["b-0000000002", "c-0000000002", "d-0000000007", "none"];
        assert_eq!(queue(&children), order);
        for (index, name) in order.iter().enumerate() {
            assert_eq!(position(&children, name), Some(index));
        }
    }

    #[test]
    fn a_list_that_changes_keeps_its_queue() {
        let mut changing = children(&["b-0000000002", "a-0000000001"]);
        assert_eq!(position(&changing, "b-0000000002"), Some(1));
        push(&mut changing, "c-0000000005");
        push(&mut changing, "d-0000000006");
        assert_eq!(position(&changing, "c-0000000005"), Some(2));
        changing.remove(2);
        assert_eq!(position(&changing, "b-0000000002"), None);
        assert_eq!(
            queue(&changing),
            ["a-0000000001", "c-0000000005", "d-0000000006"]
        );
        push(&mut changing, "f-0000000007");
        changing.pop_back();
        assert_eq!(
            queue(&changing),
            ["c-0000000005", "d-0000000006", "f-0000000007"]
        );
        changing.remove(0);
        push(&mut changing, "e-0000000003");
        assert_eq!(position(&changing, "e-0000000003"), Some(0));
        changing.pop_back();
        assert_eq!(queue(&changing), ["e-0000000003", "d-0000000006"]);
        let rebuilt = children(&["e-0000000003", "d-0000000006"]);
        assert_eq!(changing, rebuilt);
        assert_eq!(changing.wire_bytes(), rebuilt.wire_bytes());
    }

    #[test]
    fn an_overflowed_counter_is_negative() {
        assert_eq!(sequence("x-lock--2147483648"), -2_147_483_648);
        assert_eq!(sequence("x-lock-2147483647"), 2_147_483_647);
        assert_eq!(sequence("x-12345678901"), 12_345_678_901);
        assert_eq!(sequence("7"), 7);
        assert_eq!(sequence("lock"), i64::MAX);
    }
}
