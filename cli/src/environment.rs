//! What the environment may say.

/// A variable of the environment.
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) says: &'static str,
}

/// Where leases are kept.
pub(crate) const REDIS_URL: Variable = Variable {
    name: "LEASES_REDIS_URL",
    says: "The URL of a Redis in which leases are kept, where --backend is not given.",
};

/// Where leases are kept.
pub(crate) const DATABASE_URL: Variable = Variable {
    name: "LEASES_DATABASE_URL",
    says: "The URL of a database in which leases are kept, where neither --backend nor \
        LEASES_REDIS_URL is given.",
};

/// How much is logged.
pub(crate) const LOG: Variable = Variable {
    name: "LEASES_LOG",
    says: "How much is logged on standard error: error, warn, info, debug or trace, of all or of one \
        part as leases=debug. Without it, warn.",
};

/// Where the file of a user is.
pub(crate) const STATE_HOME: Variable = Variable {
    name: "XDG_STATE_HOME",
    says: "The folder of leases/leases.db, a file of this user's, in which all commands but run keep \
        leases where nothing else is named. Without it, or where it is not absolute, \
        ~/.local/state.",
};

/// All of them.
pub(crate) const ALL: [Variable; 4] = [REDIS_URL, DATABASE_URL, STATE_HOME, LOG];
