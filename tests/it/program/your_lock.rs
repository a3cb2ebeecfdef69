//! The page on a lock of one's own shows the files of the example, as they are.

use super::readme::blocks;

const PAGE: &str = include_str!("../../../docs/your-lock.md");

const FILES: [&str; 6] = [
    include_str!("../../../examples/first-lock/Cargo.toml"),
    include_str!("../../../examples/first-lock/src/main.rs"),
    include_str!("../../../examples/first-lock/src/first_lock.rs"),
    include_str!("../../../examples/first-lock/src/set_semaphore.rs"),
    include_str!("../../../examples/first-lock/scenarios/set-semaphore.toml"),
    include_str!("../../../examples/first-lock/scenarios/waiter-death.toml"),
];

#[test]
fn the_page_on_your_lock_shows_the_files_of_the_example_and_no_others() {
    let mut shown = blocks(PAGE, "toml");
    shown.extend(blocks(PAGE, "rust"));
    let mut files = FILES.map(|file| file.trim_end().to_owned()).to_vec();
    shown.sort_unstable();
    files.sort_unstable();
    assert_eq!(shown, files);
}
