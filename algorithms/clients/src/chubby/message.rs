//! What clients and replicas of a cell say to each other.

use std::rc::Rc;
use std::time::Duration;

use crate::RequestKind;

/// The number of a master's time in office: each new master has a greater one (section 2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// A session; zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// A handle of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandleId(pub u32);

/// How a lock is held (section 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// By one handle: a writer.
    Exclusive,
    /// Together with others: a reader.
    Shared,
}

/// What `Open` is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Whether a file that is not there is created.
    pub create: bool,
    /// Whether one that is created goes when no client has it open.
    pub ephemeral: bool,
    /// For how long no other client can claim the lock if its holder fails; a minute at most.
    pub lock_delay: Duration,
}

/// A lock as it was held (section 2.4): its file, its mode, and its generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequencer {
    /// The file.
    pub name: Rc<str>,
    /// The mode.
    pub mode: LockMode,
    /// The lock generation: it grows when the lock goes from free to held.
    pub generation: u64,
}

/// The contents of a file, and its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentsAndStat {
    /// All of it.
    pub contents: Rc<str>,
    /// Greater than that of any earlier file of the same name.
    pub instance: u64,
    /// Grows when the contents are written.
    pub content_generation: u64,
    /// Grows when the lock goes from free to held.
    pub lock_generation: u64,
}

/// A handle as its client shows it with each call, so that a new master can make it again (section 2.9, step 8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandleData {
    /// Which of its client's.
    pub id: HandleId,
    /// The master that made it.
    pub made_in: Epoch,
    /// The file.
    pub name: Rc<str>,
    /// The instance of the file.
    pub instance: u64,
    /// What it was opened with.
    pub options: OpenOptions,
}

/// A call (section 2.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Opens a file.
    Open(Rc<str>, OpenOptions),
    /// Closes the handle.
    Close,
    /// Reads the file.
    GetContentsAndStat,
    /// Writes the file, if its content generation is this one.
    SetContents(Rc<str>, Option<u64>),
    /// Deletes the file.
    Delete,
    /// Waits for the lock.
    Acquire(LockMode),
    /// Takes the lock, if it is free.
    TryAcquire(LockMode),
    /// Gives the lock back.
    Release,
    /// Describes the lock as it is held.
    GetSequencer,
    /// Lets calls of the handle fail when a sequencer is not valid any more.
    SetSequencer(Sequencer),
    /// Asks whether a sequencer is valid.
    CheckSequencer(Sequencer),
}

impl Request {
    /// Its kind.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Open(..) => RequestKind::OpenFile,
            Self::Close => RequestKind::CloseFile,
            Self::GetContentsAndStat => RequestKind::GetContentsAndStat,
            Self::SetContents(..) => RequestKind::SetContents,
            Self::Delete => RequestKind::DeleteFile,
            Self::Acquire(_) => RequestKind::AcquireFileLock,
            Self::TryAcquire(_) => RequestKind::TryAcquireFileLock,
            Self::Release => RequestKind::ReleaseFileLock,
            Self::GetSequencer => RequestKind::GetSequencer,
            Self::SetSequencer(_) | Self::CheckSequencer(_) => RequestKind::CheckSequencer,
        }
    }

    /// Whether its answer comes when the lock is free, and not as soon as the master can give it.
    pub fn waits_for_turn(&self) -> bool {
        matches!(self, Self::Acquire(_))
    }
}

/// An answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The handle is open.
    Opened(HandleData),
    /// The file.
    Contents(ContentsAndStat),
    /// The lock as it is held.
    Sequencer(Sequencer),
    /// It is done, or it is true; or not.
    Done(bool),
}

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMessage {
    /// The number of the call at its client.
    pub call: u32,
    /// The master that the client knows.
    pub epoch: Epoch,
    /// Its session.
    pub session: SessionId,
    /// What it wants.
    pub body: ClientBody,
}

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientBody {
    /// A session.
    CreateSession,
    /// A longer lease; this is the last master of which it knows that it has taken over.
    KeepAlive(Epoch),
    /// A call by a handle.
    Call(HandleData, Request),
}

/// What a replica says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// The number of the call.
    pub call: u32,
    /// The answer.
    pub body: ServerBody,
}

/// An answer to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerBody {
    /// This replica is not the master; perhaps that of this number is.
    NotMaster(Option<u8>),
    /// The master is another than the client knows.
    WrongEpoch(Epoch),
    /// There is no such session, or no longer.
    NoSession,
    /// The session has this lease from when the master answered.
    KeptAlive {
        /// The session.
        session: SessionId,
        /// The master.
        epoch: Epoch,
        /// For how long the lease lasts.
        lease: Duration,
        /// How long the master has held the call back.
        held: Duration,
        /// Whether the client is to know that this master has taken over: the event of a fail-over.
        failed_over: bool,
    },
    /// What a call has come to.
    Answer(super::ChubbyResult<Response>),
}
