//! What a backend is asked to do.

/// An operation of a backend, as it is measured and traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Ask,
    Refresh,
    Release,
    Leave,
    Revoke,
    Inspect,
    List,
    Admit,
    Current,
    Migrate,
}

impl Call {
    #[cfg(feature = "metrics")]
    pub(super) const ALL: [Call; 10] = [
        Call::Ask,
        Call::Refresh,
        Call::Release,
        Call::Leave,
        Call::Revoke,
        Call::Inspect,
        Call::List,
        Call::Admit,
        Call::Current,
        Call::Migrate,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Call::Ask => "ask",
            Call::Refresh => "refresh",
            Call::Release => "release",
            Call::Leave => "leave",
            Call::Revoke => "revoke",
            Call::Inspect => "inspect",
            Call::List => "list",
            Call::Admit => "admit",
            Call::Current => "current",
            Call::Migrate => "migrate",
        }
    }
}
