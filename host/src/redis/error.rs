//! What goes wrong between here and Redis, and whether the operation may have been applied.

use std::time::Duration;

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

use crate::error::{Applied, BackendError};

/// Why an operation was not confirmed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// It was sent, and nothing came back in time.
    #[error("no answer within {0:?}")]
    NoAnswer(Duration),
    /// There was no connection, and it was not sent.
    #[error("no connection within {within:?}")]
    NotConnected {
        within: Duration,
        #[source]
        last: Option<RedisError>,
    },
    /// There is a server, and it lets nobody in with this user and password.
    #[error("not let in")]
    NotLetIn(#[source] RedisError),
    /// The driver or the server says so.
    #[error(transparent)]
    Redis(#[from] RedisError),
    /// The reply is not one of this version's.
    #[error("a reply that no script of this version gives: {0}")]
    Reply(String),
    /// Too few replicas have it, and it was given back.
    #[error("{confirmed} of {wanted} replicas confirmed within {within:?}")]
    TooFewReplicas { confirmed: u32, wanted: u32, within: Duration },
}

/// What follows from an error of the driver or the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// This server does not know the script: it was not run.
    SendText,
    /// The server refused and another, or this one later, may do it.
    AskElsewhere,
    /// The connection is gone, with or without the answer.
    Reconnect,
    /// Nothing but telling the caller.
    Fail,
}

impl Failure {
    pub(super) fn reply(reply: &Value) -> Self {
        Failure::Reply(format!("{reply:?}"))
    }

    /// Whether another node of a cluster is to be asked.
    pub(super) fn is_redirect(&self) -> bool {
        matches!(self, Failure::Redis(error) if error.redirect_node().is_some())
    }

    /// Whether it may have been applied all the same.
    fn applied(&self) -> Applied {
        match self {
            Failure::NotConnected { .. } | Failure::NotLetIn(_) => Applied::No,
            Failure::Redis(error) => match follows(error) {
                Follows::SendText | Follows::AskElsewhere => Applied::No,
                Follows::Fail if is_refusal(error) => Applied::No,
                Follows::Fail | Follows::Reconnect => Applied::Unknown,
            },
            Failure::TooFewReplicas { .. } => Applied::No,
            Failure::NoAnswer(_) | Failure::Reply(_) => Applied::Unknown,
        }
    }
}

impl From<Failure> for BackendError {
    fn from(failure: Failure) -> Self {
        BackendError { applied: failure.applied(), source: Box::new(failure) }
    }
}

pub(super) fn follows(error: &RedisError) -> Follows {
    match error.kind() {
        ErrorKind::Server(server) => match server {
            ServerErrorKind::NoScript => Follows::SendText,
            ServerErrorKind::ReadOnly
            | ServerErrorKind::MasterDown
            | ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain => Follows::AskElsewhere,
            _ => Follows::Fail,
        },
        ErrorKind::ClusterConnectionNotFound => Follows::AskElsewhere, // It was not sent.
        ErrorKind::Io | ErrorKind::Parse => Follows::Reconnect,
        _ => Follows::Fail,
    }
}

/// Whether a server is there that refuses the user or the password: trying again is no use.
pub(super) fn is_not_let_in(error: &RedisError) -> bool {
    let codes = ["WRONGPASS", "NOAUTH"];
    error.kind() == ErrorKind::AuthenticationFailed
        || error.code().is_some_and(|code| codes.contains(&code))
}

/// Whether the server said no before anything was done: not allowed, out of memory, too few
/// replicas, a failed save, another script that runs for too long.
fn is_refusal(error: &RedisError) -> bool {
    let codes = ["NOPERM", "NOAUTH", "OOM", "NOREPLICAS", "MISCONF", "BUSY"];
    error.code().is_some_and(|code| codes.contains(&code))
}
