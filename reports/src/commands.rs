//! Commands as a terminal shows them: whole, in a shorter form that does the same, or in lines that a shell joins.

use crate::style::Style;
use crate::words::harmless;

/// The part of a command that only says which run it was when it was found.
const WAS: &str = "--was";
/// What a shell takes for nothing, at the end of a line.
const GOES_ON: &str = " \\";

/// A command after `first`, ended by a line break. Where it is too wide for the terminal, it does without what it can
/// do without; where that is too wide, too, it has lines of its own, which a shell takes for one. No terminal has to
/// break it.
pub(crate) fn command_after(first: &str, command: &str, style: &Style) -> String {
    let command = harmless(command);
    let used = first.chars().count();
    let fits = |indent: usize, line: &str| {
        let wide = indent + line.chars().count();
        style.width.is_none_or(|width| wide <= width)
    };
    if fits(used, &command) {
        return format!("{first}{command}\n");
    }
    let parts = parts(&command);
    let needed = parts.iter().filter(|part| !part.starts_with(WAS));
    let needed: Vec<&str> = needed.copied().collect();
    let short = needed.join(" ");
    if fits(used, &short) {
        return format!("{first}{short}\n");
    }
    let own = first.chars().take_while(|letter| *letter == ' ').count() + 2;
    let (label, indent) = (first.trim_end(), format!("{:own$}", ""));
    let head = if label.is_empty() {
        String::new()
    } else {
        format!("{label}\n")
    };
    if fits(own, &short) {
        return format!("{head}{indent}{short}\n");
    }
    let mut lines: Vec<String> = Vec::new();
    for part in needed {
        match lines.last_mut() {
            Some(line) if fits(own + GOES_ON.len(), &format!("{line} {part}")) => {
                line.push(' ');
                line.push_str(part);
            }
            Some(_) => lines.push(format!("  {part}")),
            None => lines.push(part.to_owned()),
        }
    }
    let lines = lines.join(&format!("{GOES_ON}\n{indent}"));
    format!("{head}{indent}{lines}\n")
}

/// A command and its options, each with its value: a line may end before an option, and nowhere inside quotes.
fn parts(command: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut quote) = (0, None);
    for (at, letter) in command.char_indices() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') if command[at..].starts_with(" --") => {
                parts.push(&command[from..at]);
                from = at + 1;
            }
            (None | Some(_), _) => {}
        }
    }
    parts.push(&command[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "picklock replay 'my locks/a --b.toml' --case zk-no-recheck --seed 4127 \
        --was 0.1.0:00c0ffee0badf00d";

    fn at(width: usize) -> String {
        let style = Style {
            width: Some(width),
            ..Style::PLAIN
        };
        command_after("  Replay   ", COMMAND, &style)
    }

    #[test]
    fn a_command_that_fits_is_whole_and_a_pipe_has_no_width() {
        assert_eq!(at(120), format!("  Replay   {COMMAND}\n"));
        let piped = command_after("  Replay   ", COMMAND, &Style::PLAIN);
        assert_eq!(piped, at(120));
    }

    #[test]
    fn a_narrow_terminal_gets_what_does_the_same_and_then_lines_that_a_shell_joins() {
        let short = "picklock replay 'my locks/a --b.toml' --case zk-no-recheck --seed 4127";
        assert_eq!(at(100), format!("  Replay   {short}\n"));
        assert_eq!(at(78), format!("  Replay\n    {short}\n"));
        let first = "    picklock replay 'my locks/a --b.toml' \\";
        let second = "      --case zk-no-recheck --seed 4127";
        assert_eq!(at(50), format!("  Replay\n{first}\n{second}\n"));
        for width in 50..130 {
            let widest = at(width).lines().map(|it| it.chars().count()).max();
            assert!(
                widest.is_some_and(|it| it <= width),
                "{width}: {}",
                at(width)
            );
        }
    }

    #[test]
    fn no_line_ends_inside_quotes() {
        let quoted = parts("a 'b --c' --d \"e --f\" --g");
        assert_eq!(quoted, ["a 'b --c'", "--d \"e --f\"", "--g"]);
    }
}
