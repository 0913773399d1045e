//! Names, owners and notes, as a terminal may be given them.

/// The text with what would move, hide or turn around the text beside it written as its number:
/// `\u{202e}`. Spaces at an end are shown too, as `\u{20}`.
pub(crate) fn shown(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut shown = String::with_capacity(text.len());
    for (place, c) in text.chars().enumerate() {
        let at_an_end = place == 0 || place == last;
        if c == '\\' || is_deceptive(c) || (c.is_whitespace() && (at_an_end || c != ' ')) {
            match c {
                '\\' => shown.push_str("\\\\"),
                c => shown.extend(c.escape_unicode()),
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Controls, marks of direction, what has no width and what is no character: by the general
/// categories Cc, Cf, Zl, Zp, Co and Cn of Unicode as far as they have blocks of their own.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_is_shown_by_its_number() {
        for (text, expected) in [
            ("import:42", "import:42"),
            ("a b", "a b"),
            ("caf\u{e9} \u{4e2d}", "caf\u{e9} \u{4e2d}"),
            (" a ", "\\u{20}a\\u{20}"),
            ("a\u{202e}gpj", "a\\u{202e}gpj"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("a\u{a0}b", "a\\u{a0}b"),
            ("a\\u{20}", "a\\\\u{20}"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
