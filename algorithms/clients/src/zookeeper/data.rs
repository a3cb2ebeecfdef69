//! The data of a znode.

use std::ops::Deref;
use std::rc::Rc;

thread_local! {
    /// The data of most nodes. One is enough for all.
    static NOTHING: Rc<[u8]> = Rc::from([]);
}

/// The data of a znode, shared. It may be `null`, which is not the same as empty: Java's client sends and gets it as
/// such, though both have length 0 in the stat. As bytes, both are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data(Option<Rc<[u8]>>);

impl Data {
    /// No data at all: `null`.
    pub const NULL: Self = Self(None);

    /// No bytes, but not `null`.
    pub fn empty() -> Self {
        Self(Some(NOTHING.with(Rc::clone)))
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// The bytes, unless it is `null`.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }
}

impl Default for Data {
    fn default() -> Self {
        Self::empty()
    }
}

/// Its bytes; `null` has none.
impl Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<&[u8]> for Data {
    fn from(bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::empty();
        }
        Self(Some(bytes.into()))
    }
}

impl From<Option<&[u8]>> for Data {
    fn from(bytes: Option<&[u8]>) -> Self {
        bytes.map_or(Self::NULL, Self::from)
    }
}

impl<const N: usize> From<&[u8; N]> for Data {
    fn from(bytes: &[u8; N]) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Some(bytes.into()))
    }
}

impl FromIterator<u8> for Data {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        Self(Some(bytes.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_not_empty_though_both_have_no_bytes() {
        let (null, empty) = (Data::from(None), Data::from(b""));
        assert_ne!(null, empty);
        assert_eq!((null.len(), empty.len()), (0, 0));
        assert_eq!((null.bytes(), empty.bytes()), (None, Some(&b""[..])));
        assert!(null.is_null() && !empty.is_null() && !Data::default().is_null());
        assert_eq!(&*Data::from(Some(&b"x"[..])), b"x");
    }
}
