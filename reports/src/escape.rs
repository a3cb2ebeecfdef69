//! Text that may come from a file of the user, in HTML, XML, and scripts.

/// The text in HTML or XML, between tags or in an attribute in double quotes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            // XML has none of them, whatever they are written as.
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push(' ');
            }
            letter => out.push(letter),
        }
    }
    out
}

/// The text without the characters that no XML or HTML document may have, not even escaped, or should not have.
pub(crate) fn legal(text: &str) -> String {
    let is_legal = |letter: char| match letter {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        letter => !letter.is_control(),
    };
    let letters = text.chars();
    letters
        .map(|letter| if is_legal(letter) { letter } else { '\u{fffd}' })
        .collect()
}

/// JSON in a `script` of a page: nothing in it can end the script, or begin a comment or another one.
pub(crate) fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_taken_for_a_tag_or_ends_an_attribute() {
        assert_eq!(
            escaped("\"'><script>alert(1)&"),
            "&quot;&#39;&gt;&lt;script&gt;alert(1)&amp;"
        );
        assert_eq!(escaped("a\u{1b}[2J\u{0}b\nc"), "a [2J b\nc");
    }

    #[test]
    fn what_no_xml_may_have_is_replaced_and_nothing_else() {
        assert_eq!(legal("a\u{1b}b\u{0}\u{ffff}"), "a\u{fffd}b\u{fffd}\u{fffd}");
        assert_eq!(legal("<é>\n\t\u{7f}"), "<é>\n\t\u{fffd}");
    }

    #[test]
    fn json_in_a_script_stays_json_and_cannot_end_it() {
        let json = serde_json::to_string("</script><!--&\u{2028}").expect("a string is JSON");
        let text = in_script(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        let read: String = serde_json::from_str(&text).expect("it is JSON still");
        assert_eq!(read, "</script><!--&\u{2028}");
    }
}
