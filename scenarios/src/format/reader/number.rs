//! Reads a number that need not be whole.

use toml::de::DeValue;

use super::{Item, Mistake, Mistakes};
use crate::diagnostic::printable;

impl Item<'_> {
    pub(in crate::format) fn number(&self, mistakes: &mut Mistakes) -> Option<f64> {
        const WANTED: &str = "a number such as 1 or 24.5";
        let number = match self.value {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(|number| number as f64),
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        };
        match number {
            Some(number) if number.is_finite() => Some(number),
            Some(_) => {
                let title = format!("`{}` is not finite", printable(self.name));
                let mistake = Mistake::new(title).help(format!("expected {WANTED}"));
                mistakes.add(self.span.clone(), mistake);
                None
            }
            None => {
                self.wrong_type(WANTED, mistakes);
                None
            }
        }
    }
}
