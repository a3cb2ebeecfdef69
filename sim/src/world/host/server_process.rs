//! Whether the machines of servers run, and what waits for those that stand still.

/// How a machine fares.
pub(crate) struct ServerProcess<E> {
    up: bool,
    hung: bool,
    /// What has come while it stands still.
    backlog: Vec<E>,
}

impl<E> ServerProcess<E> {
    /// A machine that runs.
    pub fn begun() -> Self {
        Self {
            up: true,
            hung: false,
            backlog: Vec::new(),
        }
    }

    /// Whether its process lives, though it may stand still.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Whether its process stands still.
    pub fn is_hung(&self) -> bool {
        self.hung
    }

    /// Whether its process lives and does something.
    pub fn runs(&self) -> bool {
        self.up && !self.hung
    }

    /// Its process dies, and with it what it has not read. Answers that, if it lived.
    pub fn end(&mut self) -> Option<Vec<E>> {
        self.hung = false;
        let unread = std::mem::take(&mut self.backlog);
        std::mem::take(&mut self.up).then_some(unread)
    }

    /// It is started again. Answers whether it was down.
    pub fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.up, true)
    }

    pub fn hang(&mut self) {
        self.hung = true;
    }

    /// It goes on, if it stood still: with what has come meanwhile.
    pub fn resume(&mut self) -> Option<Vec<E>> {
        let stood_still = std::mem::take(&mut self.hung);
        stood_still.then(|| std::mem::take(&mut self.backlog))
    }

    /// Something comes to it, and is handed back if it runs.
    pub fn receive(&mut self, event: E) -> Option<E> {
        if self.runs() {
            return Some(event);
        }
        if self.up {
            self.backlog.push(event);
        }
        None
    }
}

impl<E> Default for ServerProcess<E> {
    fn default() -> Self {
        Self::begun()
    }
}
