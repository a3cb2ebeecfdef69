//! What a key can hold.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use picklock_clients::redis::{Bytes, Command, Value};
use rustc_hash::FxBuildHasher;

use crate::field_times::FieldTimes;
use crate::numbers;

/// What a key holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Text(Bytes),
    Hash(Hash),
    List(List),
    Sorted(Sorted),
    Set(Set),
}

/// Fields and their values. Small hashes of real servers keep the order of insertion, and so does this.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hash(
    pub(crate) IndexMap<Bytes, Bytes, FxBuildHasher>,
    pub(crate) FieldTimes,
);

/// Elements, the head first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct List(pub(crate) VecDeque<Bytes>);

/// Members without an order to rely on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Set(pub(crate) BTreeSet<Bytes>);

/// Members by score, and by their bytes among the same score.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sorted {
    scores: BTreeMap<Bytes, Score>,
    order: BTreeSet<(Score, Bytes)>,
}

/// A score: any number but NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score(pub(crate) f64);

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        // Never NaN, so there always is an order.
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

impl Sorted {
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    pub(crate) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).map(|score| score.0)
    }

    /// Gives a member a score, new or not.
    pub(crate) fn put(&mut self, member: &[u8], score: f64) {
        let member: Bytes = match self.scores.get_key_value(member) {
            Some((member, old)) => {
                let (member, old) = (Bytes::clone(member), *old);
                self.order.remove(&(old, Bytes::clone(&member)));
                member
            }
            None => member.into(),
        };
        // Zero has no sign here, as in the lists of small sets of real servers.
        let score = if score == 0.0 { 0.0 } else { score };
        self.order.insert((Score(score), Bytes::clone(&member)));
        self.scores.insert(member, Score(score));
    }

    /// Whether it was there.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        match self.scores.remove_entry(member) {
            Some((member, score)) => self.order.remove(&(score, member)),
            None => false,
        }
    }

    /// Members and scores, the lowest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Bytes, f64)> {
        self.order.iter().map(|(score, member)| (member, score.0))
    }

    /// How many come before this member; `None` if it is not there.
    pub(crate) fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = *self.scores.get(member)?;
        let before = |(other, name): &&(Score, Bytes)| (*other, &name[..]) < (score, member);
        Some(self.order.iter().take_while(before).count())
    }
}

impl Hash {
    /// The same without the fields whose time is over.
    pub(crate) fn at(&self, wall_millis: i64) -> Cow<'_, Self> {
        let over = self.1.over(wall_millis);
        if over.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut left = self.clone();
        for field in over {
            left.remove(&field);
        }
        Cow::Owned(left)
    }

    /// Deletes a field, and when it was to expire. Whether it was there.
    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        self.1.clear(field);
        self.0.shift_remove(field).is_some()
    }
}

impl Data {
    /// The name of its kind, as `TYPE` answers it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Hash(_) => "hash",
            Self::List(_) => "list",
            Self::Sorted(_) => "zset",
            Self::Set(_) => "set",
        }
    }

    /// Whether nothing is left in it: then its key goes, too.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Hash(hash) => hash.0.is_empty(),
            Self::List(list) => list.0.is_empty(),
            Self::Sorted(sorted) => sorted.len() == 0,
            Self::Set(set) => set.0.is_empty(),
        }
    }

    /// When the first of its fields expires, if it is a hash.
    #[inline]
    pub(crate) fn fields_expire(&self) -> Option<i64> {
        match self {
            Self::Hash(hash) => hash.1.earliest(),
            Self::Text(_) | Self::List(_) | Self::Sorted(_) | Self::Set(_) => None,
        }
    }

    /// All of it, as `GET`, `HGETALL`, `LRANGE`, `ZRANGE WITHSCORES`, or `SMEMBERS` would answer.
    pub(crate) fn value(&self) -> Value {
        let bulk = |bytes: &Bytes| Value::Bulk(Bytes::clone(bytes));
        match self {
            Self::Text(text) => bulk(text),
            Self::Hash(hash) => {
                let pairs = hash.0.iter();
                Value::Map(
                    pairs
                        .flat_map(|(name, value)| [bulk(name), bulk(value)])
                        .collect(),
                )
            }
            Self::List(list) => Value::array(list.0.iter().map(bulk)),
            Self::Sorted(sorted) => Value::array(
                sorted
                    .iter()
                    .flat_map(|(member, score)| [bulk(member), Value::Double(score)]),
            ),
            Self::Set(set) => Value::Set(set.0.iter().map(bulk).collect()),
        }
    }
}

impl Data {
    /// The commands that build such a key where there is none.
    pub(crate) fn rebuilt(&self, key: &[u8], expires: Option<i64>) -> Vec<Command> {
        let begin = |name: &str| Command::new(name).arg(key);
        let build = match self {
            Self::Text(text) => begin("SET").arg(text),
            Self::Hash(hash) => {
                let pairs = hash.0.iter();
                pairs.fold(begin("HSET"), |hset, (field, value)| {
                    hset.arg(field).arg(value)
                })
            }
            Self::List(list) => list.0.iter().fold(begin("RPUSH"), Command::arg),
            Self::Sorted(sorted) => sorted.iter().fold(begin("ZADD"), |zadd, (member, score)| {
                zadd.arg(numbers::float_text(score)).arg(member)
            }),
            Self::Set(set) => set.0.iter().fold(begin("SADD"), Command::arg),
        };
        let fresh = Command::new("DEL").arg(key);
        let lasts = expires.map(|at| begin("PEXPIREAT").number(at));
        let fields = match self {
            Self::Hash(hash) => hash.1.clone(),
            Self::Text(_) | Self::List(_) | Self::Sorted(_) | Self::Set(_) => FieldTimes::default(),
        };
        let fields = fields.iter().map(|(field, at)| {
            let field_lasts = begin("HPEXPIREAT").number(at);
            field_lasts.arg("FIELDS").number(1).arg(field)
        });
        [fresh, build]
            .into_iter()
            .chain(fields)
            .chain(lasts)
            .collect()
    }
}

/// A kind of data that a command asks for.
pub(crate) trait DataType: Sized {
    /// The data, if it is of this kind.
    fn of(data: &Data) -> Option<&Self>;
    /// The same, to be changed.
    fn of_mut(data: &mut Data) -> Option<&mut Self>;
    /// What a key that is not there would hold.
    fn empty() -> Data;
}

impl DataType for Bytes {
    fn of(data: &Data) -> Option<&Self> {
        if let Data::Text(text) = data {
            Some(text)
        } else {
            None
        }
    }
    fn of_mut(data: &mut Data) -> Option<&mut Self> {
        if let Data::Text(text) = data {
            Some(text)
        } else {
            None
        }
    }
    fn empty() -> Data {
        Data::Text(Bytes::from([]))
    }
}

impl DataType for Hash {
    fn of(data: &Data) -> Option<&Self> {
        if let Data::Hash(hash) = data {
            Some(hash)
        } else {
            None
        }
    }
    fn of_mut(data: &mut Data) -> Option<&mut Self> {
        if let Data::Hash(hash) = data {
            Some(hash)
        } else {
            None
        }
    }
    fn empty() -> Data {
        Data::Hash(Self::default())
    }
}

impl DataType for List {
    fn of(data: &Data) -> Option<&Self> {
        if let Data::List(list) = data {
            Some(list)
        } else {
            None
        }
    }
    fn of_mut(data: &mut Data) -> Option<&mut Self> {
        if let Data::List(list) = data {
            Some(list)
        } else {
            None
        }
    }
    fn empty() -> Data {
        Data::List(Self::default())
    }
}

impl DataType for Sorted {
    fn of(data: &Data) -> Option<&Self> {
        if let Data::Sorted(sorted) = data {
            Some(sorted)
        } else {
            None
        }
    }
    fn of_mut(data: &mut Data) -> Option<&mut Self> {
        if let Data::Sorted(sorted) = data {
            Some(sorted)
        } else {
            None
        }
    }
    fn empty() -> Data {
        Data::Sorted(Self::default())
    }
}

impl DataType for Set {
    fn of(data: &Data) -> Option<&Self> {
        if let Data::Set(set) = data {
            Some(set)
        } else {
            None
        }
    }
    fn of_mut(data: &mut Data) -> Option<&mut Self> {
        if let Data::Set(set) = data {
            Some(set)
        } else {
            None
        }
    }
    fn empty() -> Data {
        Data::Set(Self::default())
    }
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListEnd {
    Head,
    Tail,
}

impl ListEnd {
    pub(crate) fn push(self, list: &mut List, element: Bytes) {
        match self {
            Self::Head => list.0.push_front(element),
            Self::Tail => list.0.push_back(element),
        }
    }

    pub(crate) fn pop(self, list: &mut List) -> Option<Bytes> {
        match self {
            Self::Head => list.0.pop_front(),
            Self::Tail => list.0.pop_back(),
        }
    }

    /// Its name in commands that choose one, as replicas are told it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Head => "left",
            Self::Tail => "right",
        }
    }

    /// The command that takes something from it.
    pub(crate) fn pop_name(self) -> &'static str {
        match self {
            Self::Head => "LPOP",
            Self::Tail => "RPOP",
        }
    }

    pub(crate) fn popped(self) -> &'static str {
        match self {
            Self::Head => "lpop",
            Self::Tail => "rpop",
        }
    }

    pub(crate) fn pushed(self) -> &'static str {
        match self {
            Self::Head => "lpush",
            Self::Tail => "rpush",
        }
    }
}
