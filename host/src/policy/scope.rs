//! The only way from a plugin to the engine.

use std::sync::Arc;

use super::at_once::Counts;
use super::grant::Primitive;
use super::place::{Allowed, Rights};
use super::plugin::PluginId;
use super::policy::Policy;
use super::view::PluginView;
use crate::client::{Guard, Lease, Leases, Permit, Request};
use crate::error::{Error, Operation};
#[cfg(feature = "component")]
use crate::fence::Fence;
#[cfg(feature = "component")]
use crate::name::Key;
use crate::name::{Kind, Name};

/// A plugin's handle on the engine: what its policy does not grant is denied, and what is not
/// within its bounds is refused, before anything is asked of the backend.
///
/// All scopes of one plugin over one [`Leases`] share its counts and its rates, however they were
/// made; another process counts for itself.
///
/// ```
/// use leases::{ErrorKind, Leases, PluginId, Policy, Scope};
///
/// let policy = Policy::allowing(["import:*"])?;
/// let scope = Scope::new(Leases::memory(), PluginId::new("importer")?, policy);
/// assert!(scope.lease("import:42").is_ok());
/// assert_eq!(scope.semaphore("uploads", 3).unwrap_err().kind(), &ErrorKind::Denied);
/// # Ok::<(), leases::PolicyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scope {
    leases: Leases,
    rights: Arc<Rights>,
}

impl Scope {
    /// A plugin's handle.
    pub fn new(leases: Leases, plugin: PluginId, policy: Policy) -> Self {
        let usage = leases.usages().of(&plugin, leases.shared().clock.now());
        Scope { leases, rights: Arc::new(Rights { policy, usage }) }
    }

    /// Whose handle this is.
    pub fn plugin(&self) -> &PluginId {
        self.rights.usage.plugin()
    }

    /// Asks for the lease of a name, in the plugin's name.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) for a name that is not granted; else as
    /// [`Leases::lease`].
    pub fn lease(&self, name: impl AsRef<str>) -> Result<Request<Lease>, Error> {
        let (name, allowed) = self.find(name, Primitive::Lease, Operation::Lease)?;
        Ok(self.leases.lease_of(name).of_plugin(allowed))
    }

    /// Asks for one of `limit` places of a name, in the plugin's name.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) for a name that is not granted,
    /// [`Invalid`](crate::ErrorKind::Invalid) for a limit greater than the policy allows; else as
    /// [`Leases::semaphore`].
    pub fn semaphore(&self, name: impl AsRef<str>, limit: u32) -> Result<Request<Permit>, Error> {
        let (name, allowed) = self.find(name, Primitive::Semaphore, Operation::Semaphore)?;
        self.leases.semaphore_of(name, limit)?.of_plugins_semaphore(allowed)
    }

    /// The guard of a target.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) for a name that is not granted; else as
    /// [`Leases::guard`].
    pub fn guard(&self, target: impl AsRef<str>) -> Result<Guard, Error> {
        let (target, allowed) = self.find(target, Primitive::Fence, Operation::Guard)?;
        Ok(self.leases.guard_of(target).of_plugin(allowed))
    }

    /// How much the plugin has at once.
    pub fn counts(&self) -> Counts {
        self.rights.usage.counts()
    }

    /// What the plugin holds and waits for.
    pub fn view(&self) -> PluginView {
        self.leases.view_of(&self.rights.usage)
    }

    /// Ends everything that the plugin holds and waits for, without its help and without touching
    /// its store; answers what that was. Its holds are lost as *revoked* at once, its waits end in
    /// that loss, and whoever is next in line is woken as soon as the backend has it.
    ///
    /// What the plugin asks for later is granted as before: to keep it from asking, drop its
    /// stores.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), leases::Error> {
    /// use leases::{Leases, Loss, PluginId, Policy, Scope};
    ///
    /// let leases = Leases::memory();
    /// let policy = Policy::allowing(["import:*"]).expect("a policy");
    /// let scope = Scope::new(leases.clone(), PluginId::new("importer").expect("an id"), policy);
    /// let held = scope.lease("import:42")?.acquire().await?;
    /// assert_eq!(scope.revoke_all().holds.len(), 1);
    /// assert_eq!(held.loss(), Some(Loss::Revoked));
    /// assert!(leases.lease("import:42")?.try_acquire().await?.is_some());
    /// # Ok(()) }
    /// ```
    pub fn revoke_all(&self) -> PluginView {
        self.leases.revoke_all_of(&self.rights.usage)
    }

    /// How many of these fences are of live holds of a key that was asked for within this scope.
    #[cfg(feature = "component")]
    pub(crate) async fn held_among(&self, key: &Key, fences: &[Fence]) -> Result<usize, Error> {
        let holders = self.leases.inspect(key).await?.holders;
        Ok(holders.iter().filter(|holder| fences.contains(&holder.fence)).count())
    }

    fn find(
        &self,
        name: impl AsRef<str>,
        primitive: Primitive,
        operation: Operation,
    ) -> Result<(Name, Allowed), Error> {
        let found = Allowed::find(&self.rights, name.as_ref(), primitive, operation);
        if found.is_err() {
            self.leases.shared().measures.denied(match primitive {
                Primitive::Lease => Some(Kind::Lease),
                Primitive::Semaphore => Some(Kind::Semaphore),
                Primitive::Fence => None,
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_semaphores_key_is_a_name_to_be_allowed_too() {
        let policy = Policy::allowing(["uploads", "uploads:a*"]).unwrap();
        let scope = Scope::new(Leases::memory(), PluginId::new("plugin").unwrap(), policy);
        let uploads = scope.semaphore("uploads", 3).unwrap();
        assert!(uploads.key("a1").is_ok());
        assert_eq!(uploads.key("b1").unwrap_err().kind(), &ErrorKind::Denied);
    }
}
