//! The threads that simulations run on: one simulation each.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cli::failure::Failure;

/// More threads than this are taken for a slip of the finger.
pub const MOST: u64 = 1_024;

/// So many threads, or as many as the machine runs at once; all of them running: a simulation must not be what starts
/// them.
///
/// # Errors
///
/// [`Failure::Usage`], if the machine cannot start so many.
pub fn pool(jobs: Option<u64>) -> Result<ThreadPool, Failure> {
    // At most MOST; zero lets rayon choose.
    let jobs = jobs.map_or(0, |jobs| jobs as usize);
    let pool = ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| {
        let hint = "try fewer: --jobs 1".to_owned();
        Failure::usage(format!("cannot start the threads: {error}"), [hint])
    })?;
    pool.broadcast(|_| ());
    Ok(pool)
}
