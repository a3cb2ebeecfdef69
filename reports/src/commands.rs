//! Commands as a terminal shows them: whole, or in lines that a shell joins.

use crate::fit::columns_of;
use crate::style::Style;
use crate::words::harmless;

/// What a shell takes for nothing, at the end of a line.
const GOES_ON: &str = " \\";

/// A command after `first`, ended by a line break. Where it is too wide for the terminal, it has lines of its own,
/// which a shell takes for one. No terminal has to break it.
pub(crate) fn command_after(first: &str, command: &str, style: &Style) -> String {
    let command = harmless(command);
    let used = first.chars().count();
    let fits = |indent: usize, line: &str| {
        let wide = indent + columns_of(line);
        style.width.is_none_or(|width| wide <= width)
    };
    if fits(used, &command) {
        return format!("{first}{command}\n");
    }
    let own = first.chars().take_while(|letter| *letter == ' ').count() + 2;
    let (label, indent) = (first.trim_end(), format!("{:own$}", ""));
    let head = if label.is_empty() {
        String::new()
    } else {
        format!("{label}\n")
    };
    if fits(own, &command) {
        return format!("{head}{indent}{command}\n");
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts(&command) {
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
    fn a_narrow_terminal_gets_lines_that_a_shell_joins() {
        assert_eq!(at(COMMAND.len() + 4), format!("  Replay\n    {COMMAND}\n"));
        let first = "    picklock replay 'my locks/a --b.toml' \\";
        let [second, third] = [
            "--case zk-no-recheck --seed 4127",
            "--was 0.1.0:00c0ffee0badf00d",
        ];
        assert_eq!(
            at(50),
            format!("  Replay\n{first}\n      {second} \\\n      {third}\n")
        );
        for width in 50..130 {
            let widest = at(width).lines().map(|line| line.chars().count()).max();
            assert!(
                widest.is_some_and(|widest| widest <= width),
                "{}",
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
