//! Looking at every key that is in use.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::leases::Leases;
use crate::backend::Backend;
use crate::error::{Applied, BackendError, Error, Operation};
use crate::listing::{Listed, Page};
use crate::name::{Key, Kind, Name};
use crate::pattern::NamePattern;
use crate::spec::KeyView;
use crate::wake::Changes;

/// How many keys are looked at at once.
const AT_ONCE_MAX: usize = 16;

impl Leases {
    /// Who holds and who waits, of every key of these names that is in use: in order of their names'
    /// bytes, a lease before a semaphore.
    ///
    /// Each key is looked at by itself: what changes meanwhile may be seen on one and not on another.
    /// It costs a request for each key in use, and for each thousand or so that the backend knows;
    /// operators and dashboards may do it, a program's usual path should not.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// use leases::{Leases, NamePattern};
    ///
    /// let leases = Leases::memory();
    /// let import = leases.lease("import:42")?.owner("job-7").acquire().await?;
    /// let other = leases.lease("rebuild-index")?.acquire().await?;
    /// let used = leases.list(&NamePattern::new("import:*").unwrap()).await?;
    /// assert_eq!(used.len(), 1);
    /// assert_eq!(used[0].key.name.as_str(), "import:42");
    /// assert_eq!(used[0].view.holders[0].fence, import.fence());
    /// # drop((import, other)); Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable) when the backend did not answer.
    ///
    /// # Cancellation
    /// Nothing happens.
    pub async fn list(&self, names: &NamePattern) -> Result<Vec<Listed>, Error> {
        let backend = &self.shared().backend;
        let listed = match names.only_name() {
            Some(name) => views(backend, both_kinds(name)).await,
            None => all(backend, names).await,
        };
        listed.map_err(|error| Error::backend(error, Operation::List, None))
    }

    /// Tells when any key may have changed, where the backend does: on Redis, but not in a cluster.
    /// Called where a runtime is at hand.
    pub fn changes(&self) -> Changes {
        self.shared().backend.changes()
    }
}

/// A lease and a semaphore of one name are two keys.
fn both_kinds(name: &str) -> Vec<Key> {
    let Ok(name) = Name::new(name) else { return Vec::new() };
    let key = |kind| Key { kind, name: name.clone() };
    vec![key(Kind::Lease), key(Kind::Semaphore)]
}

async fn all(backend: &Arc<dyn Backend>, names: &NamePattern) -> Result<Vec<Listed>, BackendError> {
    let mut keys = Vec::new();
    let mut after = None;
    loop {
        let Page { keys: more, next } = backend.list(names, after.as_ref()).await?;
        keys.extend(more);
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    keys.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
    keys.dedup();
    views(backend, keys).await
}

fn order(key: &Key) -> (&[u8], bool) {
    (key.name.as_str().as_bytes(), key.kind == Kind::Semaphore)
}

/// Those of these keys that are in use, in the same order.
async fn views(backend: &Arc<dyn Backend>, keys: Vec<Key>) -> Result<Vec<Listed>, BackendError> {
    let mut listed = Vec::new();
    let mut looking = JoinSet::new();
    let mut keys = keys.into_iter().enumerate();
    loop {
        while looking.len() < AT_ONCE_MAX
            && let Some((place, key)) = keys.next()
        {
            let backend = Arc::clone(backend);
            looking.spawn(async move { (place, backend.inspect(&key).await, key) });
        }
        match looking.join_next().await {
            None => break,
            Some(Err(panicked)) => {
                return Err(BackendError { applied: Applied::No, source: Box::new(panicked) });
            }
            Some(Ok((place, view, key))) => {
                let view: KeyView = view?;
                if !view.is_empty() {
                    listed.push((place, Listed { key, view }));
                }
            }
        }
    }
    listed.sort_unstable_by_key(|(place, _)| *place);
    Ok(listed.into_iter().map(|(_, listed)| listed).collect())
}
