//! What goes wrong, as Redis words it.

use std::borrow::Cow;

use picklock_clients::redis::{Command, ErrorReply, Value};

/// What a command answers.
pub(crate) type Reply = Result<Value, ErrorReply>;

pub(crate) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
pub(crate) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(crate) const NOT_A_FLOAT: &str = "ERR value is not a valid float";
pub(crate) const SYNTAX: &str = "ERR syntax error";
pub(crate) const NO_SUCH_KEY: &str = "ERR no such key";
pub(crate) const OUT_OF_RANGE: &str = "ERR index out of range";
pub(crate) const OVERFLOW: &str = "ERR increment or decrement would overflow";
pub(crate) const NO_SCRIPT: &str = "NOSCRIPT No matching script. Please use EVAL.";
pub(crate) const READ_ONLY: &str = "READONLY You can't write against a read only replica.";
pub(crate) const NO_REPLICAS: &str = "NOREPLICAS Not enough good replicas to write.";
pub(crate) const NO_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";
pub(crate) const MASTER_DOWN: &str =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
pub(crate) const LOADING: &str = "LOADING Redis is loading the dataset in memory";
pub(crate) const EXEC_ABORT: &str = "EXECABORT Transaction discarded because of previous errors.";

/// Refuses with this text.
pub(crate) fn refuse<T>(text: impl Into<Cow<'static, str>>) -> Result<T, ErrorReply> {
    Err(ErrorReply::new(text))
}

/// How many bytes of the arguments the error for an unknown command shows.
const SHOWN: usize = 128;

/// The error for an unknown command.
pub(crate) fn unknown_command(command: &Command) -> String {
    let name = String::from_utf8_lossy(command.name());
    let name: String = name.chars().take(SHOWN).collect();
    let mut arguments = String::new();
    for word in command.words().skip(1) {
        if arguments.len() >= SHOWN {
            break;
        }
        let word = String::from_utf8_lossy(word);
        let word: String = word.chars().take(SHOWN - arguments.len()).collect();
        arguments.push_str(&format!("'{word}' "));
    }
    let text = format!("ERR unknown command '{name}', with args beginning with: {arguments}");
    text.replace(['\r', '\n'], " ")
}
