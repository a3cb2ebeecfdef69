//! Numbers as `strtod` of the C library reads them.

/// The number with which a text begins, and how long it is.
pub(super) fn number_at(text: &[u8]) -> Option<(f64, usize)> {
    let signed = usize::from(text.first().is_some_and(|sign| [b'+', b'-'].contains(sign)));
    let negative = text.first() == Some(&b'-');
    // Of what is no number, too.
    let signs = |number: f64| if negative { -number } else { number };
    let rest = &text[signed..];
    let says = |word: &str| {
        let there = rest.get(..word.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()))
    };
    if let Some(length) = ["infinity", "inf"].iter().find(|word| says(word)) {
        return Some((signs(f64::INFINITY), signed + length.len()));
    }
    if says("nan") {
        return Some((signs(f64::NAN), signed + 3 + in_parentheses(&rest[3..])));
    }
    if says("0x")
        && let Some((number, length)) = hexadecimal_at(&rest[2..])
    {
        return Some((signs(number), signed + 2 + length));
    }
    let digits = |from: usize| {
        rest[from.min(rest.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut length = digits(0);
    let mut some = length > 0;
    if rest.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        some |= fraction > 0;
        length += 1 + fraction;
    }
    if !some {
        return None;
    }
    if rest
        .get(length)
        .is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e'))
    {
        let sign = usize::from(
            rest.get(length + 1)
                .is_some_and(|sign| [b'+', b'-'].contains(sign)),
        );
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(&rest[..length])
        .ok()?
        .parse::<f64>()
        .ok()?;
    Some((signs(number), signed + length))
}

/// How long the word in parentheses is that may stand behind what is no number.
fn in_parentheses(text: &[u8]) -> usize {
    let in_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = text.iter().skip(1).take_while(in_word).count();
    let is_there = text.first() == Some(&b'(') && text.get(1 + length) == Some(&b')');
    if is_there { length + 2 } else { 0 }
}

/// The hexadecimal number with which a text begins, and how long it is.
fn hexadecimal_at(text: &[u8]) -> Option<(f64, usize)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default().iter();
        rest.map_while(|byte| char::from(*byte).to_digit(16))
            .map(f64::from)
    };
    let whole = digits(0).count();
    let number = digits(0).fold(0.0, |number, digit| number * 16.0 + digit);
    let point = text.get(whole) == Some(&b'.');
    let behind = if point { digits(whole + 1).count() } else { 0 };
    if whole + behind == 0 {
        return None;
    }
    let fraction = digits(whole + 1).take(behind);
    let (fraction, _) = fraction.fold((0.0, 1.0 / 16.0), |(sum, unit), digit| {
        (sum + digit * unit, unit / 16.0)
    });
    let mut length = whole + usize::from(point) + behind;
    let mut power = 0;
    if text
        .get(length)
        .is_some_and(|byte| byte.eq_ignore_ascii_case(&b'p'))
    {
        let rest = text.get(length + 1..).unwrap_or_default();
        let signed = usize::from(rest.first().is_some_and(|sign| b"+-".contains(sign)));
        let bytes = rest[signed..].iter();
        let digits = bytes.take_while(|byte| byte.is_ascii_digit());
        let end = signed + digits.count();
        if end > signed {
            let text = std::str::from_utf8(&rest[..end]).unwrap_or_default();
            power = text.parse::<i32>().unwrap_or(0);
            length += 1 + end;
        }
    }
    Some(((number + fraction) * 2_f64.powi(power), length))
}
