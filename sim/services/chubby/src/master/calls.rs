//! Calls by handles (section 2.6).

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{
    ChubbyError, ChubbyResult, HandleData, LockMode, OpenOptions, Request, Response, Sequencer,
};

use super::{Caller, Master, OpenHandle, Waiter, answer};
use crate::database::File;
use crate::io::{Departure, Output};
use crate::lock::HandleKey;
use crate::settings::MOST_LOCK_DELAY;

impl Master {
    /// Carries out a call of a session that lives.
    pub(super) fn call(
        &mut self,
        now: VirtualTime,
        caller: Caller,
        (handle, data): (HandleKey, HandleData),
        request: Request,
        out: &mut Vec<Output>,
    ) {
        let writes = request.kind().writes();
        let result = match request {
            Request::Open(name, options) => self.open((handle, data), &name, options).map(Some),
            Request::Close => {
                self.close(now, handle, &data.name, out);
                Ok(Some(Response::Done(true)))
            }
            request => match self.find(handle, data) {
                Ok(name) => self.call_by_handle(now, (caller, handle, &name), request, out),
                Err(error) => Err(error),
            },
        };
        if writes && matches!(result, Ok(Some(_))) {
            out.push(Output::Done(caller.0, caller.1));
        }
        match result {
            Ok(Some(response)) => out.push(answer(caller, Ok(response))),
            Ok(None) => {}
            Err(error) => out.push(answer(caller, Err(error))),
        }
        self.pass_on(now, out);
    }

    /// The file of a handle that can be used: one of this master, or of a former one, which is made again on use. It is
    /// of one instance of its file: there may be another of the same name by now (section 2.3).
    fn find(&mut self, handle: HandleKey, data: HandleData) -> ChubbyResult<Rc<str>> {
        let name = Rc::clone(&data.name);
        {
            let database = self.cell.0.borrow();
            let file = database.files.get(&name);
            if file.is_none_or(|file| file.instance != data.instance) {
                return Err(ChubbyError::InvalidHandle);
            }
        }
        if !self.handles.contains_key(&handle) {
            if data.made_in >= self.epoch || self.closed.contains(&handle) {
                return Err(ChubbyError::InvalidHandle);
            }
            self.insert(handle, data);
        }
        let open = self.handles.get(&handle);
        match open.and_then(|open| open.sequencer.as_ref()) {
            Some(sequencer) if !self.is_valid(sequencer) => Err(ChubbyError::StaleSequencer),
            Some(_) | None => Ok(name),
        }
    }

    fn insert(&mut self, handle: HandleKey, data: HandleData) {
        let sequencer = None;
        self.handles.insert(handle, OpenHandle { data, sequencer });
    }

    fn open(
        &mut self,
        (handle, data): (HandleKey, HandleData),
        name: &Rc<str>,
        options: OpenOptions,
    ) -> ChubbyResult<Response> {
        if self.closed.contains(&handle) {
            return Err(ChubbyError::InvalidHandle);
        }
        let mut database = self.cell.0.borrow_mut();
        if !database.files.contains_key(name) && options.create {
            database.create(name, options.ephemeral);
        }
        let instance = database.files.get(name).map(|file| file.instance);
        drop(database);
        let opened = HandleData {
            id: data.id,
            made_in: self.epoch,
            name: Rc::clone(name),
            instance: instance.ok_or(ChubbyError::NoSuchFile)?,
            options: OpenOptions {
                lock_delay: options.lock_delay.min(MOST_LOCK_DELAY),
                ..options
            },
        };
        self.insert(handle, opened.clone());
        Ok(Response::Opened(opened))
    }

    /// A handle is closed: it waits for no lock, and holds none.
    fn close(
        &mut self,
        now: VirtualTime,
        handle: HandleKey,
        name: &Rc<str>,
        out: &mut Vec<Output>,
    ) {
        self.handles.remove(&handle);
        self.closed.insert(handle);
        self.waiters.retain(|waiter| waiter.handle != handle);
        self.release(now, (name, handle), Departure::Released, out);
        self.sweep();
    }

    /// Answers `None` if the answer comes later.
    fn call_by_handle(
        &mut self,
        now: VirtualTime,
        (caller, handle, name): (Caller, HandleKey, &Rc<str>),
        request: Request,
        out: &mut Vec<Output>,
    ) -> ChubbyResult<Option<Response>> {
        let done = |done| Ok(Some(Response::Done(done)));
        match request {
            Request::Open(..) | Request::Close => Err(ChubbyError::Unexpected),
            Request::GetContentsAndStat => {
                self.of_file(name, |file| Ok(Some(Response::Contents(file.stat()))))
            }
            Request::SetContents(contents, generation) => self.of_file(name, |file| {
                if generation.is_some_and(|generation| generation != file.content_generation) {
                    return Err(ChubbyError::WrongGeneration);
                }
                file.content_generation += 1;
                file.contents = contents;
                done(true)
            }),
            Request::Delete => {
                self.delete(now, (caller, name), out);
                done(true)
            }
            Request::Acquire(mode) => {
                if self.takes(now, (handle, name), mode, out)? {
                    return done(true);
                }
                self.waiters.retain(|waiter| waiter.handle != handle);
                self.waiters.push(Waiter {
                    caller,
                    handle,
                    name: Rc::clone(name),
                    mode,
                });
                Ok(None)
            }
            Request::TryAcquire(mode) => done(self.takes(now, (handle, name), mode, out)?),
            Request::Release => match self.release(now, (name, handle), Departure::Released, out) {
                true => done(true),
                false => Err(ChubbyError::NotHeld),
            },
            Request::GetSequencer => self.of_file(name, |file| {
                let mode = file.lock.mode_of(handle).ok_or(ChubbyError::NotHeld)?;
                Ok(Some(Response::Sequencer(Sequencer {
                    name: Rc::clone(name),
                    mode,
                    generation: file.lock.generation,
                })))
            }),
            Request::SetSequencer(sequencer) => {
                if let Some(open) = self.handles.get_mut(&handle) {
                    open.sequencer = Some(sequencer);
                }
                done(true)
            }
            Request::CheckSequencer(sequencer) => done(self.is_valid(&sequencer)),
        }
    }

    fn of_file<T>(
        &self,
        name: &Rc<str>,
        what: impl FnOnce(&mut File) -> ChubbyResult<T>,
    ) -> ChubbyResult<T> {
        let mut database = self.cell.0.borrow_mut();
        what(
            database
                .files
                .get_mut(name)
                .ok_or(ChubbyError::InvalidHandle)?,
        )
    }

    /// Takes the lock of a file for a handle, which may have it already: it has asked again. A call that finds others
    /// waiting waits behind them.
    fn takes(
        &self,
        now: VirtualTime,
        (handle, name): (HandleKey, &Rc<str>),
        mode: LockMode,
        out: &mut Vec<Output>,
    ) -> ChubbyResult<bool> {
        if self.of_file(name, |file| Ok(file.lock.mode_of(handle).is_some()))? {
            return Ok(true);
        }
        let mut others = self.waiters.iter();
        let is_behind = others.any(|waiter| waiter.name == *name && waiter.handle != handle);
        Ok(!is_behind && self.claim(now, handle, mode, out))
    }

    fn is_valid(&self, sequencer: &Sequencer) -> bool {
        let database = self.cell.0.borrow();
        let file = database.files.get(&sequencer.name);
        file.is_some_and(|file| file.lock.is_held_as(sequencer))
    }

    /// The file goes, with its lock; handles are of its instance, and so invalid.
    fn delete(
        &mut self,
        now: VirtualTime,
        (caller, name): (Caller, &Rc<str>),
        out: &mut Vec<Output>,
    ) {
        let held = self.of_file(name, |file| Ok(file.lock.handles().collect::<Vec<_>>()));
        for handle in held.unwrap_or_default() {
            self.release(now, (name, handle), Departure::Deleted(caller.0), out);
        }
        self.cell.0.borrow_mut().files.remove(name);
        let (gone, kept) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition(|waiter| waiter.name == *name);
        self.waiters = kept;
        let gone: Vec<Waiter> = gone;
        let gone = gone.into_iter();
        out.extend(gone.map(|waiter| answer(waiter.caller, Err(ChubbyError::InvalidHandle))));
    }
}
