//! The operations: one command each.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use redis::Value;

use super::changes;
use super::config::RedisConfig;
use super::connection::{Link, Repeat, Request, Source};
use super::error::Failure;
use super::inbox::Inbox;
use super::keys::{self, Keys};
use super::listing;
use super::replies::{self, NOTE_FOLLOWS};
use super::scripts::{Script, Scripts};
use crate::backend::{Backend, Extend, Properties, Refresh, Refreshed, Reply};
use crate::error::{Applied, BackendError, Error, Loss, Operation};
use crate::fence::{Fence, Target, Verdict};
use crate::holder::HolderId;
use crate::listing::{Cursor, Page};
use crate::name::Key;
use crate::pattern::NamePattern;
use crate::spec::{Answer, Ask, KeyView, Mode};
use crate::wake::{Changes, Hearing, Tell, Watch};

/// A waiter's process can die without leaving: five seconds, and two lost signs of life, later it
/// is out of the line.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most that one command refreshes: for about 3 ms the server does nothing else.
const TOGETHER_MAX: usize = 1000;

/// Grants, lines and guards in Redis: one server, one that Sentinel watches over, or a cluster.
///
/// Every operation is one command, and the server's clock alone decides on ends. Names that nobody
/// used for the retention time expire there by themselves.
///
/// What Redis can't promise: a server that fails over, or restarts, without having kept the last
/// writes has forgotten those grants, and may grant them again. The later grant has the greater
/// fence.
#[derive(Debug, Clone)]
pub struct RedisBackend(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: RedisConfig,
    keys: Keys,
    scripts: Scripts,
    link: Arc<Link>,
    /// Over which a cluster is asked what must not be asked twice: the driver repeats otherwise.
    once: Option<Arc<Link>>,
    inbox: Inbox,
    /// Over which replicas are waited for, if any are.
    replicas: Option<Arc<Link>>,
}

impl RedisBackend {
    /// Connects.
    ///
    /// # Errors
    /// - [`Invalid`](crate::ErrorKind::Invalid) for settings out of their bounds.
    /// - [`Unavailable`](crate::ErrorKind::Unavailable) when no server answered within the request
    ///   timeout.
    ///
    /// # Cancellation
    /// Nothing happened.
    pub async fn connect(config: RedisConfig) -> Result<Self, Error> {
        config.check()?;
        let unavailable =
            |failure: Failure| Error::backend(failure.into(), Operation::Connect, None);
        let source = || Source::new(&config).map_err(|error| unavailable(error.into()));
        let timeout = config.request_timeout;
        let link = Link::new(source()?, timeout);
        let once = Source::without_repeats(&config).map_err(|error| unavailable(error.into()))?;
        let once = once.map(|source| Link::new(source, timeout));
        let keys = Keys::new(config.prefix.clone());
        let inbox = Inbox::new(source()?, Arc::clone(&link), &keys);
        let replicas = match config.min_replicas {
            0 => None,
            _ => Some(Link::new(source()?, timeout)),
        };
        let scripts = Scripts::new(&config);
        let inner = Inner { config, keys, scripts, link, once, inbox, replicas };
        let opened = async {
            for link in [Some(&inner.link), inner.once.as_ref()].into_iter().flatten() {
                let ping = Request::command(redis::cmd("PING"));
                link.send(&ping).await.map_err(unavailable)?;
            }
            inner.inbox.open().await;
            Ok(())
        };
        match tokio::time::timeout(timeout, opened).await {
            Ok(opened) => opened?,
            Err(_) => {
                let last = inner.inbox.failure();
                return Err(unavailable(Failure::NotConnected { within: timeout, last }));
            }
        }
        Ok(RedisBackend(Arc::new(inner)))
    }
}

impl Inner {
    /// A script on one key, with the key's parts declared.
    fn on<'a>(&self, script: &'a Script, key: &Key, repeat: Repeat) -> Request<'a> {
        let mut request = Request::script(script, repeat);
        request.add().arg(keys::count(key.kind));
        keys::declare(request.add(), key.kind, &self.keys.record(key));
        request
    }

    async fn send(&self, mut request: Request<'_>) -> Result<Value, Failure> {
        if let Some(clock) = &self.config.told_time {
            request.add().arg(clock.timestamp().as_micros());
        }
        if let (Some(once), Repeat::Never) = (&self.once, request.repeat()) {
            match once.send(&request).await {
                Err(failure) if failure.is_redirect() => {} // Not done: what follows it asks there.
                answer => return answer,
            }
        }
        self.link.send(&request).await
    }

    async fn ask(&self, ask: &Ask) -> Result<Answer, BackendError> {
        if matches!(ask.mode, Mode::Wait { .. }) {
            // What is not heard costs this waiter no more than its next sign of life.
            let ready = self.inbox.ready(&self.keys, &ask.key);
            let _ = tokio::time::timeout(self.config.request_timeout / 8, ready).await;
        }
        let script = self.scripts.ask.of(ask.key.kind);
        let mut request = self.on(script, &ask.key, Repeat::Freely);
        request.add().arg(&numbers(ask)).arg(holder_and_tail(ask, self.inbox.name()));
        let answer = replies::answer(&self.send(request).await?, ask)?;
        match (&self.replicas, answer) {
            (Some(replicas), Answer::Granted(_)) => {
                self.confirm(replicas, ask).await?;
                Ok(answer)
            }
            _ => Ok(answer),
        }
    }

    /// Waits until enough replicas have what was just granted, or gives it back.
    async fn confirm(&self, replicas: &Arc<Link>, ask: &Ask) -> Result<(), BackendError> {
        let wanted = self.config.min_replicas;
        let key = self.keys.confirm(&ask.key);
        let confirmed = replicas.replicas_follow(&key, wanted).await;
        let failure = match confirmed {
            Ok(confirmed) if confirmed >= wanted => return Ok(()),
            Ok(confirmed) => {
                Failure::TooFewReplicas { confirmed, wanted, within: self.config.request_timeout }
            }
            Err(failure) => failure,
        };
        let left = self.leave(&ask.key, ask.holder).await;
        let applied = if left.is_ok() { Applied::No } else { Applied::Unknown };
        Err(BackendError { applied, source: Box::new(failure) })
    }

    async fn refresh(&self, batch: &[Refresh]) -> Result<Vec<Refreshed>, BackendError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        // In a cluster each key is in a slot of its own.
        let together = if self.link.source().is_cluster() { 1 } else { TOGETHER_MAX };
        if batch.len() <= together {
            return self.refresh_together(batch).await;
        }
        let parts = || batch.chunks(together);
        let patience = answer_within(batch);
        let answers = join_all(parts().map(async |part| {
            let answers = tokio::time::timeout(patience, self.refresh_together(part));
            answers.await.unwrap_or_else(|_| Err(Failure::NoAnswer(patience).into()))
        }))
        .await;
        if answers.iter().all(Result::is_err) {
            return answers.into_iter().next().unwrap_or(Ok(Vec::new()));
        }
        let of_part = |(part, answers): (&[Refresh], Result<Vec<_>, _>)| {
            answers.unwrap_or_else(|_| vec![Refreshed::Unconfirmed; part.len()])
        };
        Ok(parts().zip(answers).flat_map(of_part).collect())
    }

    async fn refresh_together(&self, batch: &[Refresh]) -> Result<Vec<Refreshed>, BackendError> {
        let mut request = Request::script(&self.scripts.refresh, Repeat::Freely);
        let count = |one: &Refresh| usize::from(keys::count(one.key.kind));
        request.add().arg(batch.iter().map(count).sum::<usize>());
        for one in batch {
            keys::declare(request.add(), one.key.kind, &self.keys.record(&one.key));
        }
        for one in batch {
            request.add().arg(&what(one));
        }
        let answers = replies::refreshed(&self.send(request).await?)?;
        if answers.len() != batch.len() {
            return Err(Failure::Reply(format!("{} answers", answers.len())).into());
        }
        Ok(answers)
    }

    async fn release(&self, key: &Key, holder: HolderId) -> Result<Result<(), Loss>, BackendError> {
        let mut request = self.on(self.scripts.release.of(key.kind), key, Repeat::Never);
        request.add().arg(holder.as_bytes());
        Ok(replies::released(&self.send(request).await?)?)
    }

    async fn leave(&self, key: &Key, holder: HolderId) -> Result<(), BackendError> {
        let mut request = self.on(self.scripts.leave.of(key.kind), key, Repeat::Freely);
        request.add().arg(holder.as_bytes());
        self.send(request).await?;
        Ok(())
    }

    async fn revoke(&self, key: &Key, slot: Option<u32>) -> Result<u32, BackendError> {
        let mut request = self.on(&self.scripts.revoke, key, Repeat::Never);
        request.add().arg(slot.map_or(-1, i64::from));
        let revoked = replies::revoked(&self.send(request).await?)?;
        // Who has holds here is told, also where the channel is not heard just now.
        self.inbox.revoked(&revoked);
        Ok(u32::try_from(revoked.len()).unwrap_or(u32::MAX))
    }

    async fn inspect(&self, key: &Key) -> Result<KeyView, BackendError> {
        let request = self.on(&self.scripts.inspect, key, Repeat::Freely);
        Ok(replies::view(&self.send(request).await?)?)
    }

    async fn admit(&self, target: &Target, fence: Fence) -> Result<Verdict, BackendError> {
        let mut request = Request::script(&self.scripts.admit, Repeat::Freely);
        let retention_ms = u64::try_from(self.config.retention.as_millis()).unwrap_or(u64::MAX);
        request.add().arg(1).arg(self.keys.guard(target)).arg(fence.as_u64()).arg(retention_ms);
        Ok(replies::verdict(&self.link.send(&request).await?)?)
    }

    async fn current(&self, target: &Target) -> Result<Option<Fence>, BackendError> {
        let mut get = redis::cmd("GET");
        get.arg(self.keys.guard(target));
        Ok(replies::guard(&self.link.send(&Request::command(get)).await?)?)
    }
}

/// An ask's numbers, as `ask.lua` unpacks them.
fn numbers(ask: &Ask) -> [u8; 26] {
    let patience = match ask.mode {
        Mode::Once => Duration::ZERO,
        Mode::Wait { patience } => patience,
    };
    let max_hold = ask.max_hold.map_or(Duration::ZERO, |max_hold| max_hold.as_duration());
    let mut packed = [0; 26];
    let (durations, limit) = packed.split_at_mut(24);
    let (eights, _) = durations.as_chunks_mut::<8>();
    for (place, duration) in eights.iter_mut().zip([ask.ttl.as_duration(), max_hold, patience]) {
        *place = micros(duration).to_le_bytes();
    }
    limit.copy_from_slice(&(ask.limit.get() as u16).to_le_bytes());
    packed
}

/// What is stored as it is: the holder, the inbox, the owner and the note.
fn holder_and_tail(ask: &Ask, inbox: &str) -> Vec<u8> {
    let owner = ask.owner.as_ref().map_or("", |owner| owner.as_str());
    let note = ask.note.as_ref().map(|note| format!("{NOTE_FOLLOWS}{}", note.as_str()));
    let note = note.unwrap_or_default();
    let mut stored = Vec::with_capacity(16 + inbox.len() + owner.len() + note.len() + 4);
    stored.extend(ask.holder.as_bytes());
    stored.extend(inbox.as_bytes());
    for text in [owner, &note] {
        // Both are far shorter: owners and notes are bounded.
        stored.extend((text.len() as u16).to_le_bytes());
        stored.extend(text.as_bytes());
    }
    stored
}

/// How long a part of a batch is waited for: the holds in the others must not wait for it until
/// they are lost.
fn answer_within(batch: &[Refresh]) -> Duration {
    batch.iter().map(|one| one.extend.lasts()).min().unwrap_or_default() / 8
}

/// One refresh, as `refresh.lua` unpacks it.
fn what(one: &Refresh) -> [u8; 26] {
    let is_ticket = u8::from(matches!(one.extend, Extend::Ticket { .. }));
    let mut packed = [0; 26];
    packed[..2].copy_from_slice(&[keys::count(one.key.kind), is_ticket]);
    packed[2..10].copy_from_slice(&micros(one.extend.lasts()).to_le_bytes());
    packed[10..].copy_from_slice(one.holder.as_bytes());
    packed
}

/// Exact: below 2^53, which is 285 years.
fn micros(duration: Duration) -> f64 {
    duration.as_micros() as f64
}

impl Backend for RedisBackend {
    fn properties(&self) -> Properties {
        Properties { patience: PATIENCE, at_once: false }
    }

    fn ask<'a>(&'a self, ask: &'a Ask) -> Reply<'a, Answer> {
        Reply::new(self.0.ask(ask))
    }

    fn refresh<'a>(&'a self, batch: &'a [Refresh]) -> Reply<'a, Vec<Refreshed>> {
        Reply::new(self.0.refresh(batch))
    }

    fn release<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, Result<(), Loss>> {
        Reply::new(self.0.release(key, holder))
    }

    fn leave<'a>(&'a self, key: &'a Key, holder: HolderId) -> Reply<'a, ()> {
        Reply::new(self.0.leave(key, holder))
    }

    fn revoke<'a>(&'a self, key: &'a Key, slot: Option<u32>) -> Reply<'a, u32> {
        Reply::new(self.0.revoke(key, slot))
    }

    fn inspect<'a>(&'a self, key: &'a Key) -> Reply<'a, KeyView> {
        Reply::new(self.0.inspect(key))
    }

    fn list<'a>(&'a self, names: &'a NamePattern, after: Option<&'a Cursor>) -> Reply<'a, Page> {
        Reply::new(listing::page(&self.0.link, &self.0.keys, names, after))
    }

    fn admit<'a>(&'a self, target: &'a Target, fence: Fence) -> Reply<'a, Verdict> {
        Reply::new(self.0.admit(target, fence))
    }

    fn current<'a>(&'a self, target: &'a Target) -> Reply<'a, Option<Fence>> {
        Reply::new(self.0.current(target))
    }

    fn watch(&self, key: &Key, holder: HolderId) -> Watch {
        self.0.inbox.watch(&self.0.keys, key, holder)
    }

    fn on_revoked(&self, tell: Arc<Tell>) -> Hearing {
        self.0.inbox.on_revoked(tell)
    }

    fn changes(&self) -> Changes {
        changes::listen(&self.0.config, &self.0.link)
    }

    fn migrate(&self) -> Reply<'_, u32> {
        Reply::answered(0) // Each record says of which layout it is.
    }
}
