//! Numbers in the words of commands and answers: how Redis reads and writes them.

/// A whole number as Redis reads one: decimal, without a plus, spaces, or leading zeros.
pub(crate) fn integer(word: &[u8]) -> Option<i64> {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    match digits {
        [b'0'] if digits.len() == word.len() => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    // Nineteen digits fit.
    let mut value = 0_u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    if digits.len() < word.len() {
        0_i64.checked_sub_unsigned(value)
    } else {
        i64::try_from(value).ok()
    }
}

/// A floating-point number as Redis reads one: no spaces, and infinities have names.
pub(crate) fn float(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?;
    let number: f64 = text.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// A floating-point number as C's `%.17g` writes it, which is how Redis 7.0 answers scores and how scripts hand
/// numbers to commands: 0.1 is `0.10000000000000001`.
pub(crate) fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if number == number.trunc() && number.abs() < 1e15 && number != 0.0 {
        return (number as i64).to_string();
    }
    general_text(number, 17)
}

/// A finite number with so many digits, as `%g` of the C library writes it.
pub(crate) fn general_text(number: f64, digits: usize) -> String {
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific
        .split_once('e')
        .unwrap_or((scientific.as_str(), "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    if !(-4..most).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = without_zeros(mantissa);
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let decimals = usize::try_from(most - 1 - exponent).unwrap_or(0);
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

/// The text without zeros at the end of its fraction.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Places behind the point of a [`Decimal`].
const PLACES: u32 = 17;

/// A number with 17 places behind the point, which is what `INCRBYFLOAT` answers with. Redis adds 80-bit floating-point
/// numbers; this adds exactly, and differs only where theirs are rounded within the 17 places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal(i128);

impl Decimal {
    /// The number; `None` if it is not one, or too big.
    pub(crate) fn parse(word: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(word).ok()?;
        text.parse::<f64>().ok()?;
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches(['+', '-']);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let number: i128 = digits.parse().ok()?;
        let shift = PLACES as i32 + exponent - fraction.len() as i32;
        let scale = 10_i128.checked_pow(shift.unsigned_abs())?;
        let scaled = if shift >= 0 {
            number.checked_mul(scale)?
        } else {
            number / scale
        };
        Some(Self(if negative { -scaled } else { scaled }))
    }

    /// The sum; `None` if it is too big.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The digits, without zeros at the end of the fraction.
    pub(crate) fn text(self) -> String {
        let one = 10_i128.pow(PLACES);
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, fraction) = ((self.0 / one).abs(), (self.0 % one).abs());
        let text = format!("{sign}{whole}.{fraction:017}");
        without_zeros(&text).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimal_integers_are_integers() {
        assert_eq!(integer(b"0"), Some(0));
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        let others = [
            "",
            "-",
            "-0",
            "+1",
            "01",
            " 1",
            "1 ",
            "1.0",
            "9223372036854775808",
        ];
        assert!(others.iter().all(|word| integer(word.as_bytes()).is_none()));
    }

    #[test]
    fn floats_are_written_with_seventeen_digits_at_most() {
        let pairs = [
            (0.1, "0.10000000000000001"),
            (1.5, "1.5"),
            (1000.0, "1000"),
            (0.0, "0"),
            (-3.0, "-3"),
            (1e20, "1e+20"),
            (1e-5, "1.0000000000000001e-05"),
            (922_337_203_685_477.0, "922337203685477"),
            (1.720_000_000_123e12, "1720000000123"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in pairs {
            assert_eq!(float_text(number), text);
        }
    }

    #[test]
    fn numbers_are_written_with_as_many_digits_as_are_asked_for() {
        for (number, text) in [
            (0.1 + 0.2, "0.3"),
            (-0.0, "-0"),
            (1e14, "1e+14"),
            (123_456_789_012_345.0, "1.2345678901234e+14"),
            (1.0 / 3.0, "0.33333333333333"),
            (1e-5, "1e-05"),
            (99_999_999_999_999.9, "1e+14"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(general_text(number, 14), text);
        }
    }

    #[test]
    fn decimals_add_exactly() {
        let sum = |a: &str, b: &str| {
            let (a, b) = (Decimal::parse(a.as_bytes())?, Decimal::parse(b.as_bytes())?);
            a.plus(b).map(Decimal::text)
        };
        assert_eq!(sum("0.1", "0.2").as_deref(), Some("0.3"));
        assert_eq!(sum("3.0e3", "2.5e-1").as_deref(), Some("3000.25"));
        assert_eq!(sum("-1", "0.5").as_deref(), Some("-0.5"));
        assert_eq!(sum("x", "1"), None);
    }
}
