//! What can be typed.

use leases::{Kind, Name, NamePattern};

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Which names: one name, or a prefix that ends in *. A shell needs quotes around the *.
    #[arg(value_name = "PATTERN", default_value = "*", value_parser = parse_pattern)]
    pub(crate) names: NamePattern,

    /// Print one JSON document on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The name: what is held and waited for as a lease, and as a semaphore.
    #[arg(value_name = "NAME", value_parser = parse_name)]
    pub(crate) name: Name,

    /// Print one JSON document on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RevokeArgs {
    /// The name: as a lease, and as a semaphore.
    #[arg(value_name = "NAME", value_parser = parse_name)]
    pub(crate) name: Name,

    /// Ends the hold in this slot of the semaphore alone, as `leases show` numbers them: from 0.
    #[arg(long, value_name = "N")]
    pub(crate) slot: Option<u32>,

    /// Ends holds of this kind alone. With --slot it is the semaphore's, unless it is typed.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<KindArg>,

    /// Print one JSON document on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A kind, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum KindArg {
    Lease,
    Semaphore,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Lease => Kind::Lease,
            KindArg::Semaphore => Kind::Semaphore,
        }
    }
}

pub(crate) fn parse_pattern(pattern: &str) -> Result<NamePattern, leases::Invalid> {
    NamePattern::new(pattern)
}

fn parse_name(name: &str) -> Result<Name, leases::Invalid> {
    Name::new(name)
}
