use super::*;
use crate::style::Style;

fn finding(word: &str, standing: Standing, seed: u64) -> MatrixFinding {
    MatrixFinding {
        word: word.to_owned(),
        invariant: "progress".to_owned(),
        standing,
        runs: 3,
        scenario: "matrix/pause".to_owned(),
        case: "zk-mine".to_owned(),
        seed,
        summary: "contender-1 waits behind a node that no contender believes in".to_owned(),
        faults: vec!["pause contender-1 for 20s".to_owned()],
        replay: format!(
            "picklock replay matrix/pause --case zk-mine --seed {seed} --invariant progress"
        ),
        shown_by: (standing == Standing::NotClaimed).then(|| "zookeeper/gc-pause".to_owned()),
        because: (standing == Standing::NotClaimed)
            .then(|| "zookeeper/gc-pause shows why".to_owned()),
        shrunk: (standing == Standing::ClaimBroken).then(|| ShrunkRun {
            sizes: "4 contenders to 2, 3 faults to 1".to_owned(),
            faults: vec!["pause contender-1 for 20s".to_owned()],
            summary: "contender-2 waits".to_owned(),
            command: "picklock shrink".to_owned(),
        }),
    }
}

fn cell(word: &str, standing: Standing, findings: Vec<MatrixFinding>) -> Option<MatrixCell> {
    Some(MatrixCell {
        word: word.to_owned(),
        standing,
        seeds: 40,
        told: 38,
        findings,
        undecided: (standing == Standing::Undecided)
            .then(|| "a fault struck in only 2 of 40 runs".to_owned()),
    })
}

fn named(name: &str) -> Named {
    Named {
        name: name.to_owned(),
        meaning: format!("What {name} means."),
    }
}

fn row(algorithm: &str, cells: Vec<Option<MatrixCell>>) -> MatrixRow {
    MatrixRow {
        algorithm: algorithm.to_owned(),
        family: "zookeeper".to_owned(),
        kind: "mutex".to_owned(),
        flaw: None,
        cells,
    }
}

fn matrix() -> Matrix {
    let safe = || cell("safe", Standing::Kept, Vec::new());
    let broken = vec![
        finding("stuck", Standing::ClaimBroken, 7),
        finding("orphan", Standing::NotClaimed, 9),
    ];
    let excused = vec![finding("unaware", Standing::Excused, 4)];
    let classes = [
        "none",
        "pause",
        "session-expiry",
        "connection-loss",
        "partition",
        "clock",
    ];
    Matrix {
        version: VERSION,
        picklock: "0.1.0".to_owned(),
        command: "picklock".to_owned(),
        seeds: 40,
        words: ["stuck", "orphan", "unaware", "safe", "undecided", "token"]
            .map(named)
            .to_vec(),
        classes: classes.map(named).to_vec(),
        rows: vec![
            row(
                "zk-mine",
                vec![
                    safe(),
                    cell("stuck", Standing::ClaimBroken, broken),
                    cell("unaware", Standing::Excused, excused),
                    safe(),
                    cell("undecided", Standing::Undecided, Vec::new()),
                    None,
                ],
            ),
            row(
                "zk-another-lock-of-mine",
                vec![safe(), safe(), safe(), safe(), safe(), None],
            ),
        ],
    }
}

#[test]
fn a_cell_says_its_word_and_whether_the_algorithm_claims_otherwise() {
    let matrix = matrix();
    let texts = matrix.rows[0].cells.iter().flatten().map(MatrixCell::text);
    let texts: Vec<String> = texts.collect();
    assert_eq!(
        texts,
        [
            "safe 38",
            "stuck! 3/38",
            "unaware 3/38",
            "safe 38",
            "undecided 38"
        ]
    );
}

#[test]
fn the_table_keeps_to_80_columns_but_for_commands() {
    let text = table(&matrix(), 80, false, &Style::PLAIN);
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("picklock"))
    {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_table_keeps_to_120_columns_and_tells_of_everything_if_it_is_asked_to() {
    let text = table(&matrix(), 120, true, &Style::PLAIN);
    for line in text.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_page_has_a_table_and_the_claims_that_were_broken() {
    insta::assert_snapshot!(markdown(&matrix()));
}

#[test]
fn the_page_of_html_holds_all_that_it_needs() {
    let page = html(&matrix());
    assert!(!page.contains("http"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn what_was_written_as_json_is_read_again() {
    let matrix = matrix();
    let read: Matrix = serde_json::from_str(&json(&matrix)).unwrap();
    assert_eq!(read, matrix);
}

/// A matrix in which every text is this.
fn hostile(text: &str) -> Matrix {
    let mut matrix = matrix();
    for named in matrix.classes.iter_mut().chain(&mut matrix.words) {
        text.clone_into(&mut named.meaning);
    }
    text.clone_into(&mut matrix.classes[0].name);
    for row in &mut matrix.rows {
        text.clone_into(&mut row.algorithm);
        text.clone_into(&mut row.kind);
        row.flaw = Some(text.to_owned());
        for cell in row.cells.iter_mut().flatten() {
            cell.undecided = cell.undecided.as_ref().map(|_| text.to_owned());
            for finding in &mut cell.findings {
                text.clone_into(&mut finding.summary);
                text.clone_into(&mut finding.replay);
                finding.shown_by = Some(text.to_owned());
                finding.because = Some(text.to_owned());
                if let Some(shrunk) = &mut finding.shrunk {
                    text.clone_into(&mut shrunk.sizes);
                    shrunk.faults = vec![text.to_owned()];
                }
            }
        }
    }
    matrix
}

#[test]
fn no_text_becomes_an_element_of_html() {
    let text = "<script>alert('x')</script> \" onmouseover=\"x' & </td>";
    let page = html(&hostile(text));
    assert!(!page.contains("<script"), "{page}");
    assert!(!page.contains("onmouseover=\"x"), "{page}");
    assert!(page.contains(
        "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot; onmouseover=&quot;x&#39; &amp;"
    ));
}

#[test]
fn no_text_becomes_markup_of_markdown_nor_another_cell() {
    let page = markdown(&hostile("<script>a | b` **c**\n| d"));
    // In code, nothing is markup.
    let outside = |line: &str| {
        let parts = line.split("``");
        parts.step_by(2).collect::<String>()
    };
    for line in page.lines().filter(|line| line.contains("script")) {
        assert!(!outside(line).contains("<script>"), "{line}");
        assert!(!outside(line).contains("**c**"), "{line}");
    }
    let rows = page.lines().filter(|line| line.starts_with("| ``"));
    for row in rows {
        let pipes = row.replace("\\|", "").matches('|').count();
        assert_eq!(pipes, matrix().classes.len() + 3, "{row}");
    }
}
