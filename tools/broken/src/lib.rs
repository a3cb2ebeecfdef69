//! Recipes with a fault of the kind that no recipe of the registry has: they panic, or never come to an end, or are not
//! deterministic. Each stands on a sound one, and differs from it in one place.

use std::future::poll_fn;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Read as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use picklock_algorithms::clients::zookeeper::{Path, ZooKeeper};
use picklock_algorithms::env::LocalFuture;
use picklock_algorithms::registry::find;
use picklock_algorithms::{Build, BuildOverZooKeeper, Env, Held, Lock, LockError, Recipe};

/// What contender-2 does before it asks for the lock, and instead of going on.
type Before = fn(ZooKeeper, Env) -> LocalFuture<'static, ()>;

/// All of them.
pub const FAULTY: &[Recipe] = &[
    recipe("panics-in-acquire", &|zk, env, path| {
        before(zk, env, path, |_, _| {
            Box::pin(async { panic!("out of luck") })
        })
    }),
    recipe("panics-with-some-seeds", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            Box::pin(async move { assert!(!env.random().is_multiple_of(3), "a multiple of three") })
        })
    }),
    recipe("panics-in-release", &|zk, env, path| {
        faulty(zk, env, path, |faulty| {
            faulty.at_release = || panic!("cannot give it back")
        })
    }),
    recipe("panics-in-lost", &|zk, env, path| {
        faulty(zk, env, path, |faulty| {
            faulty.at_lost = || panic!("cannot look")
        })
    }),
    recipe("panics-in-a-task", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            env.clone().spawn(async move {
                env.sleep(Duration::from_millis(1)).await;
                panic!("in the background");
            });
            Box::pin(async {})
        })
    }),
    recipe("panics-when-dropped", &|zk, env, path| {
        faulty(zk, env, path, |faulty| faulty.bomb = Some(Bomb))
    }),
    recipe("panics-when-woken", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            Box::pin(Woken(env.sleep(Duration::from_millis(1))))
        })
    }),
    recipe("yields-for-ever", &|zk, env, path| {
        before(zk, env, path, |_, _| {
            Box::pin(async {
                loop {
                    yields().await
                }
            })
        })
    }),
    recipe("sleeps-no-time", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            Box::pin(async move {
                loop {
                    env.sleep(Duration::ZERO).await
                }
            })
        })
    }),
    recipe("spawns-for-ever", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            Box::pin(async move {
                loop {
                    env.spawn(async {});
                    yields().await;
                }
            })
        })
    }),
    recipe("spins-on-its-clock", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            Box::pin(async move { while env.monotonic() < Duration::from_secs(3_600) {} })
        })
    }),
    recipe("spins-on-its-session", &|zk, env, path| {
        before(zk, env, path, |zk, _| {
            Box::pin(async move { while zk.timeout() < Duration::from_secs(3_600) {} })
        })
    }),
];

/// Those that end the program.
pub const FATAL: &[Recipe] = &[
    recipe("never-comes-back", &|zk, env, path| {
        before(zk, env, path, |_, _| {
            Box::pin(async {
                loop {
                    std::hint::spin_loop();
                }
            })
        })
    }),
    recipe("panics-twice-at-once", &|zk, env, path| {
        before(zk, env, path, |_, _| {
            Box::pin(async {
                let _bomb = Bomb;
                panic!("the first");
            })
        })
    }),
];

/// Starts a thread, which wakes it.
pub const THREADED: Recipe = recipe("starts-a-thread", &|zk, env, path| {
    before(zk, env, path, |_, _| {
        Box::pin(poll_fn(|context| {
            let waker = context.waker().clone();
            let thread = std::thread::Builder::new().spawn(move || waker.wake());
            thread
                .expect("there is room")
                .join()
                .expect("it does not panic");
            Poll::Ready(())
        }))
    })
});

/// Those of which no two runs of one seed are alike.
pub const FICKLE: &[Recipe] = &[
    recipe("goes-by-a-hash", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            // As the order of a map with the hasher of the standard library.
            let number = RandomState::new().build_hasher().finish();
            // A second has room enough that two runs do not agree by luck.
            env.sleep(Duration::from_micros(number % 1_000_000))
        })
    }),
    recipe("goes-by-a-counter", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            static RUNS: AtomicU64 = AtomicU64::new(0);
            env.sleep(Duration::from_micros(RUNS.fetch_add(1, Relaxed)))
        })
    }),
    recipe("goes-by-the-kernel", &|zk, env, path| {
        before(zk, env, path, |_, env| {
            let mut bytes = [0; 2];
            let source = std::fs::File::open("/dev/urandom");
            source
                .and_then(|mut source| source.read_exact(&mut bytes))
                .expect("there is such a file");
            env.sleep(Duration::from_micros(u16::from_ne_bytes(bytes).into()))
        })
    }),
];

const fn recipe(name: &'static str, build: &'static BuildOverZooKeeper) -> Recipe {
    Recipe {
        name,
        build: Build::ZooKeeper(build),
        ..picklock_algorithms::zookeeper::predecessor_watch::RECIPE
    }
}

/// A sound lock, but for contender-2, which does this first.
fn before(zk: ZooKeeper, env: Env, path: Path, before: Before) -> Box<dyn Lock> {
    let mine = env.host() == "host-2";
    let (handle, its) = (zk.clone(), env.clone());
    let mut faulty = Faulty::over(zk, env, path);
    faulty.before = mine.then_some((before, handle, its));
    Box::new(faulty)
}

/// A sound lock, but for contender-2, of which something is changed.
fn faulty(zk: ZooKeeper, env: Env, path: Path, change: fn(&mut Faulty)) -> Box<dyn Lock> {
    let mine = env.host() == "host-2";
    let mut faulty = Faulty::over(zk, env, path);
    if mine {
        change(&mut faulty);
    }
    Box::new(faulty)
}

struct Faulty {
    lock: Box<dyn Lock>,
    before: Option<(Before, ZooKeeper, Env)>,
    at_release: fn(),
    at_lost: fn(),
    bomb: Option<Bomb>,
}

impl Faulty {
    fn over(zk: ZooKeeper, env: Env, path: Path) -> Self {
        let sound = find("zk-predecessor-watch").expect("it is in the registry");
        let Build::ZooKeeper(build) = sound.build else {
            panic!("it stands on ZooKeeper");
        };
        Self {
            lock: build(zk, env, path),
            before: None,
            at_release: || {},
            at_lost: || {},
            bomb: None,
        }
    }
}

impl Lock for Faulty {
    fn acquire<'a, 'f>(&'a mut self) -> LocalFuture<'f, Result<Held, LockError>>
    where
        'a: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            if let Some((before, zk, env)) = &self.before {
                before(zk.clone(), env.clone()).await;
            }
            self.lock.acquire().await
        })
    }

    fn release<'a, 'f>(&'a mut self, held: Held) -> LocalFuture<'f, Result<(), LockError>>
    where
        'a: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            (self.at_release)();
            self.lock.release(held).await
        })
    }

    fn lost<'a, 'b, 'f>(&'a self, held: &'b Held) -> LocalFuture<'f, LockError>
    where
        'a: 'f,
        'b: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            (self.at_lost)();
            self.lock.lost(held).await
        })
    }
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Is woken by something that panics: the world is in the middle of something then.
struct Woken(LocalFuture<'static, ()>);

impl Future for Woken {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<()> {
        let waker = Waker::from(Arc::new(Panics));
        self.0.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("woken");
    }
}

/// Lets others run, and is ready again at once.
async fn yields() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
