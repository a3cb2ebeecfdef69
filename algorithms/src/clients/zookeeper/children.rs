//! The answer to `getChildren`.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The names of a node's children, in no particular order. Clients that read the same list share it, and what is
/// known of its order: ten thousand waiters cost one look at each number.
#[derive(Debug, Default)]
pub struct Children {
    names: VecDeque<Rc<str>>,
    name_bytes: u64,
    queue: OnceCell<Queue>,
}

/// The names in the order of their numbers.
#[derive(Clone, Debug)]
enum Queue {
    /// It is that of the list, backwards: here are the numbers, lowest first. So it is with every server that lists
    /// the newest first.
    Backwards(VecDeque<i64>),
    /// It is another.
    Sorted(Vec<(i64, Rc<str>)>),
}

/// A copy is made to be changed, so it has room.
impl Clone for Children {
    fn clone(&self) -> Self {
        let mut names = VecDeque::with_capacity(self.names.len() + 1);
        names.extend(self.names.iter().cloned());
        let mut queue = self.queue.clone();
        if let Some(Queue::Backwards(numbers)) = queue.get_mut() {
            numbers.reserve(1);
        }
        Self {
            names,
            name_bytes: self.name_bytes,
            queue,
        }
    }
}

impl PartialEq for Children {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Children {
    /// Wraps the names.
    pub fn new(names: impl IntoIterator<Item = Rc<str>>) -> Self {
        let names: VecDeque<Rc<str>> = names.into_iter().collect();
        Self {
            name_bytes: names.iter().map(|name| wire_bytes(name)).sum(),
            names,
            queue: OnceCell::new(),
        }
    }

    /// Puts a name in front of the others.
    pub fn push_front(&mut self, name: Rc<str>) {
        let number = sequence(&name);
        match self.queue.get_mut() {
            Some(Queue::Backwards(numbers)) if numbers.back().is_none_or(|last| *last < number) => {
                numbers.push_back(number);
            }
            Some(Queue::Backwards(_) | Queue::Sorted(_)) | None => drop(self.queue.take()),
        }
        self.name_bytes += wire_bytes(&name);
        self.names.push_front(name);
    }

    /// Takes a name out, by its place in [`names`](Self::names).
    pub fn remove(&mut self, place: usize) {
        let Some(name) = self.names.remove(place) else {
            return;
        };
        self.name_bytes -= wire_bytes(&name);
        match self.queue.get_mut() {
            Some(Queue::Backwards(numbers)) => {
                numbers.remove(self.names.len() - place);
            }
            Some(Queue::Sorted(_)) | None => drop(self.queue.take()),
        }
    }

    /// Takes the last name out.
    pub fn pop_back(&mut self) {
        let Some(name) = self.names.pop_back() else {
            return;
        };
        self.name_bytes -= wire_bytes(&name);
        match self.queue.get_mut() {
            Some(Queue::Backwards(numbers)) => drop(numbers.pop_front()),
            Some(Queue::Sorted(_)) | None => drop(self.queue.take()),
        }
    }

    /// The names, in no particular order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &Rc<str>> + ExactSizeIterator {
        self.names.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The place of a name, from zero, in the order of the sequence numbers at the names' ends; `None` if it is not
    /// there. Whatever stands before the number (a guid, `read-`) is in no meaningful order and decides only between
    /// equal numbers.
    pub fn place(&self, name: &str) -> Option<usize> {
        let wanted = sequence(name);
        match self.queue() {
            Queue::Backwards(numbers) => {
                // Most queues have no gaps, so the first number says where the others are.
                let guess = wanted.saturating_sub(*numbers.front()?);
                let guess = usize::try_from(guess).ok()?;
                let place = if numbers.get(guess) == Some(&wanted) {
                    guess
                } else {
                    numbers.binary_search(&wanted).ok()?
                };
                (**self.at(place)? == *name).then_some(place)
            }
            Queue::Sorted(queue) => {
                let key = (wanted, name);
                queue
                    .binary_search_by(|(number, name)| (*number, &**name).cmp(&key))
                    .ok()
            }
        }
    }

    /// The name at this [`place`](Self::place).
    pub fn at(&self, place: usize) -> Option<&Rc<str>> {
        match self.queue() {
            Queue::Backwards(_) => self.names.get(self.names.len().checked_sub(place + 1)?),
            Queue::Sorted(queue) => queue.get(place).map(|(_, name)| name),
        }
    }

    fn queue(&self) -> &Queue {
        self.queue.get_or_init(|| {
            let numbers: VecDeque<i64> =
                self.names.iter().rev().map(|name| sequence(name)).collect();
            if numbers.iter().is_sorted_by(|one, next| one < next) {
                return Queue::Backwards(numbers);
            }
            let mut queue: Vec<(i64, Rc<str>)> = numbers
                .into_iter()
                .zip(self.names.iter().rev().cloned())
                .collect();
            queue.sort_unstable();
            Queue::Sorted(queue)
        })
    }

    /// Length of the list on the wire in bytes.
    pub fn wire_bytes(&self) -> u64 {
        4 + self.name_bytes
    }
}

fn wire_bytes(name: &str) -> u64 {
    4 + name.len() as u64
}

/// The number at the end of a sequential node's name: ten digits, or, after the counter has overflowed, a minus
/// sign and ten digits. A name without one sorts last.
fn sequence(name: &str) -> i64 {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let value = |digits: &[u8]| {
        digits
            .iter()
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
    };
    let bytes = name.as_bytes();
    if let Some((before, digits)) = bytes.split_last_chunk::<10>()
        && let (number, true) = ten_digits(digits)
        && !before.last().is_some_and(is_digit)
    {
        return if before.ends_with(b"--") {
            -number
        } else {
            number
        };
    }
    match bytes
        .iter()
        .rev()
        .take(18)
        .take_while(|byte| is_digit(byte))
        .count()
    {
        0 => i64::MAX,
        digits => value(&bytes[bytes.len() - digits..]),
    }
}

/// Their number, and whether all are digits; if not, the number means nothing. Names are read often, so eight digits are
/// added up at a time: neighbours to pairs, pairs to fours, and those to all eight.
#[inline]
pub fn ten_digits(&[first, second, ref rest @ ..]: &[u8; 10]) -> (i64, bool) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let zero = u64::from(b'0');
    let digits = u64::from_le_bytes(*rest) ^ EACH * zero;
    // What is above nine, or has the highest bit anyway, has the highest bit now.
    let others = (digits.wrapping_add(EACH * (0x7f - 9)) | digits) & (EACH * 0x80);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let fours = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let eight = fours.wrapping_add((pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32))) >> 32;
    let (first, second) = (first.wrapping_sub(b'0'), second.wrapping_sub(b'0'));
    let number = (i64::from(first) * 10 + i64::from(second)) * 100_000_000 + eight as i64;
    (number, others == 0 && first <= 9 && second <= 9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(names: &[&str]) -> Children {
        Children::new(names.iter().map(|name| Rc::from(*name)))
    }

    fn queue(children: &Children) -> Vec<&str> {
        (0..children.len())
            .map(|place| &**children.at(place).unwrap())
            .collect()
    }

    #[test]
    fn the_queue_is_in_the_order_of_the_numbers_not_of_the_names() {
        let children = children(&["aa-lock-0000000010", "zz-lock-0000000002"]);
        assert_eq!(
            queue(&children),
            ["zz-lock-0000000002", "aa-lock-0000000010"]
        );
        assert_eq!(children.place("aa-lock-0000000010"), Some(1));
        assert_eq!(children.place("bb-lock-0000000010"), None);
    }

    #[test]
    fn a_list_in_any_order_has_the_same_queue() {
        let children = children(&["b-0000000002", "d-0000000007", "c-0000000002", "none"]);
        let order = ["b-0000000002", "c-0000000002", "d-0000000007", "none"];
        assert_eq!(queue(&children), order);
        for (place, name) in order.iter().enumerate() {
            assert_eq!(children.place(name), Some(place));
        }
    }

    #[test]
    fn a_list_that_changes_keeps_its_queue() {
        let mut changing = children(&["b-0000000002", "a-0000000001"]);
        assert_eq!(changing.place("b-0000000002"), Some(1));
        changing.push_front("c-0000000005".into());
        changing.push_front("d-0000000006".into());
        assert_eq!(changing.place("c-0000000005"), Some(2));
        changing.remove(2);
        assert_eq!(changing.place("b-0000000002"), None);
        assert_eq!(
            queue(&changing),
            ["a-0000000001", "c-0000000005", "d-0000000006"]
        );
        changing.push_front("f-0000000007".into());
        changing.pop_back();
        assert_eq!(
            queue(&changing),
            ["c-0000000005", "d-0000000006", "f-0000000007"]
        );
        changing.remove(0);
        changing.push_front("e-0000000003".into());
        assert_eq!(changing.place("e-0000000003"), Some(0));
        changing.pop_back();
        assert_eq!(queue(&changing), ["e-0000000003", "d-0000000006"]);
        let anew = children(&["e-0000000003", "d-0000000006"]);
        assert_eq!(changing, anew);
        assert_eq!(changing.wire_bytes(), anew.wire_bytes());
    }

    #[test]
    fn ten_digits_are_a_number_and_nothing_else_is() {
        for number in (0..10_000_000_000)
            .step_by(7_654_321)
            .chain([9_999_999_999])
        {
            let digits = format!("{number:010}");
            let digits: &[u8; 10] = digits.as_bytes().try_into().unwrap();
            assert_eq!(ten_digits(digits), (number, true));
        }
        for place in 0..10 {
            for byte in 0..=u8::MAX {
                let mut digits = *b"1234567890";
                digits[place] = byte;
                assert_eq!(ten_digits(&digits).1, byte.is_ascii_digit());
                let mut nines = *b"9999999999";
                nines[place] = byte;
                assert_eq!(ten_digits(&nines).1, byte.is_ascii_digit());
            }
        }
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
