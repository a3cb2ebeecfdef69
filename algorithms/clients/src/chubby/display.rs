//! Messages as traces show them.

use std::fmt;

use super::{ClientBody, ClientMessage, LockMode, Request, Response, ServerBody, ServerMessage};

impl fmt::Display for LockMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
        })
    }
}

impl fmt::Display for ClientMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            ClientBody::CreateSession => out.write_str("create-session"),
            ClientBody::KeepAlive(_) => write!(out, "keep-alive {}", self.session.0),
            ClientBody::Call(handle, request) => {
                let name = &handle.name;
                match request {
                    Request::Open(name, _) => write!(out, "open {name}"),
                    Request::Acquire(mode) | Request::TryAcquire(mode) => {
                        write!(out, "{} {name} {mode}", request.kind().name())
                    }
                    Request::SetContents(contents, _) => {
                        write!(out, "set-contents {name} {contents}")
                    }
                    Request::CheckSequencer(sequencer) | Request::SetSequencer(sequencer) => {
                        write!(out, "check-sequencer {name} {}", sequencer.generation)
                    }
                    _ => write!(out, "{} {name}", request.kind().name()),
                }
            }
        }
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            ServerBody::NotMaster(Some(master)) => write!(out, "the master is {}", master + 1),
            ServerBody::NotMaster(None) => out.write_str("not the master"),
            ServerBody::WrongEpoch(epoch) => write!(out, "the epoch is {}", epoch.0),
            ServerBody::NoSession => out.write_str("no such session"),
            ServerBody::KeptAlive {
                lease, failed_over, ..
            } => {
                let event = if *failed_over { ", failed over" } else { "" };
                write!(out, "lease of {} ms{event}", lease.as_millis())
            }
            ServerBody::Answer(Ok(response)) => match response {
                Response::Opened(_) => out.write_str("opened"),
                Response::Contents(contents) => write!(out, "contents {}", contents.contents),
                Response::Sequencer(sequencer) => write!(out, "sequencer {}", sequencer.generation),
                Response::Done(true) => out.write_str("done"),
                Response::Done(false) => out.write_str("refused"),
            },
            ServerBody::Answer(Err(error)) => error.fmt(out),
        }
    }
}
