//! Scanners: what the rules need to know of a text.

/// The number of the first line that starts with this, whatever its indentation.
pub fn line_of(text: &str, start: &str) -> Option<usize> {
    Some(
        text.lines()
            .position(|line| line.trim_start().starts_with(start))?
            + 1,
    )
}

/// The names of scenarios in the doc comments of a module: a service and a name, in backticks.
pub fn names_in_docs(text: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if !line.trim_start().starts_with("//!") {
            continue;
        }
        let quoted = line.split('`').skip(1).step_by(2);
        let is_name = |word: &&str| {
            let name = ["zookeeper/", "redis/"]
                .iter()
                .find_map(|service| word.strip_prefix(service));
            name.is_some_and(|name| {
                name.starts_with(|c: char| c.is_ascii_lowercase())
                    && name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            })
        };
        names.extend(quoted.filter(is_name).map(|word| (number, word)));
    }
    names
}

/// The name of the package, and what it depends on in any way, with the lines.
pub fn manifest(text: &str) -> (&str, Vec<(usize, &str)>) {
    let mut name = "";
    let mut dependencies = Vec::new();
    let mut section = "";
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
            if let Some((_, dependency)) = section.rsplit_once("dependencies.") {
                dependencies.push((number, dependency));
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.trim().split('.').next().unwrap_or_default();
            if section == "package" && key == "name" {
                name = value.trim().trim_matches('"');
            } else if section.ends_with("dependencies") && section != "workspace.dependencies" {
                dependencies.push((number, key));
            }
        }
    }
    (name, dependencies)
}

/// The code, with blanks in place of comments and of what stands in quotes. Lines stay where they are.
pub fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            '"' => quoted(rest),
            'r' if !code.ends_with(|c: char| c.is_alphanumeric() && c != 'b' || c == '_') => {
                raw(rest)
            }
            '\'' => character(rest),
            _ => 0,
        };
        if length == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(
                rest[..length]
                    .chars()
                    .map(|c| if c == '\n' { '\n' } else { ' ' }),
            );
            rest = &rest[length..];
        }
    }
    code
}

/// The length of the block comment that this starts with.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of the string that this starts with.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of the raw string that this starts with; zero if it is none.
fn raw(text: &str) -> usize {
    let fences = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    let Some(body) = text[1 + fences..].strip_prefix('"') else {
        return 0;
    };
    let end = format!("\"{}", "#".repeat(fences));
    let start = text.len() - body.len();
    body.find(&end)
        .map_or(text.len(), |at| start + at + end.len())
}

/// The length of the character that this starts with; zero if it is a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(0, |at| at + 4),
        Some(_) => chars
            .next()
            .filter(|(_, c)| *c == '\'')
            .map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

/// A function with a body.
#[derive(Debug, PartialEq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// The functions in some code, which has no comments and strings any more.
pub fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("fn ") {
        if code[..start].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let name: String = code[start + 3..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if name.is_empty() {
            continue;
        }
        if let Some(length) = body_end(&code[start..]) {
            let line = code[..start].matches('\n').count() + 1;
            let lines = code[start..start + length].matches('\n').count() + 1;
            found.push(Function { name, line, lines });
        }
    }
    found
}

/// Where the body of the function that this starts with ends; `None` if it has none.
fn body_end(code: &str) -> Option<usize> {
    let (mut around, mut depth) = (0, 0);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' if depth == 0 => around += 1,
            ')' | ']' if depth == 0 => around -= 1,
            ';' if depth == 0 && around == 0 => return None,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 && around == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
