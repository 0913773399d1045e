//! The process that asked, told to people in the note.

use std::fmt;
use std::sync::Arc;

use crate::invalid::{Argument, Invalid};
use crate::terms::{NOTE_BYTES_MAX, Note};

/// The most bytes in an origin's host.
const HOST_BYTES_MAX: usize = 64;

/// A host and a process on it, which [`LeasesBuilder::origin`](crate::LeasesBuilder::origin) adds to
/// the notes of all that is asked for, so that whoever looks sees where a holder runs.
///
/// It stands at the end of the note: `nightly import [web-3:4711]`. Like all of a note it is what its
/// writer says, and proves nothing; but nothing that a plugin writes comes behind it.
///
/// ```
/// use leases::{Note, Origin};
///
/// let origin = Origin::new("web-3", 4711)?;
/// let note = Note::new("nightly import [web-3:4711]")?;
/// assert_eq!(note.parts(), ("nightly import", Some(origin)));
/// assert_eq!(Note::new("see [1:2]!")?.parts(), ("see [1:2]!", None));
/// # Ok::<(), leases::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    host: Arc<str>,
    process: u32,
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

impl Origin {
    /// This process, on the host as the operating system names it. In a container that is the
    /// container's name, and its number for the process.
    pub fn here() -> Self {
        let name = gethostname::gethostname();
        let plain = name.to_string_lossy().replace(|c| !is_plain(c), "-");
        let host = plain.get(..HOST_BYTES_MAX).unwrap_or(&plain);
        let host = if host.is_empty() { "localhost" } else { host };
        Origin { host: host.into(), process: std::process::id() }
    }

    /// A process of some host, named by 1 to 64 of `A-Z a-z 0-9 . _ -`.
    ///
    /// # Errors
    /// [`Invalid`] with the bound that it broke.
    pub fn new(host: impl AsRef<str>, process: u32) -> Result<Self, Invalid> {
        let host = host.as_ref();
        if (1..=HOST_BYTES_MAX).contains(&host.len()) && host.chars().all(is_plain) {
            return Ok(Origin { host: host.into(), process });
        }
        let bound = format!("a host of 1 to {HOST_BYTES_MAX} of A-Z a-z 0-9 . _ -, not {host:?}");
        Err(Invalid::new(Argument::Note, bound))
    }

    /// The host's name.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The number that the host's operating system gave the process.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// A note with this at its end. One that leaves no room for it is cut.
    pub(crate) fn added_to(&self, note: Option<&Note>) -> Note {
        let origin = self.to_string();
        let said = note.map_or("", Note::as_str);
        let room = NOTE_BYTES_MAX.saturating_sub(origin.len() + 1);
        let said = said.get(..said.floor_char_boundary(room)).unwrap_or_default();
        let space = if said.is_empty() { "" } else { " " };
        Note::restored(&format!("{said}{space}{origin}"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}:{}]", self.host, self.process)
    }
}

impl Note {
    /// What the note says, and whose it is where an [`Origin`] stands at its end.
    pub fn parts(&self) -> (&str, Option<Origin>) {
        let text = self.as_str();
        let split = || {
            let (said, origin) = text.strip_suffix(']')?.rsplit_once('[')?;
            let (host, process) = origin.split_once(':')?;
            let origin = Origin::new(host, process.parse().ok()?).ok()?;
            let said = if said.is_empty() { said } else { said.strip_suffix(' ')? };
            // As it is written here, and not another way: with a plus or zeros in front.
            text.ends_with(&origin.to_string()).then_some((said, Some(origin)))
        };
        split().unwrap_or((text, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(note: &str) -> (String, Option<(String, u32)>) {
        let note = Note::new(note).unwrap();
        let (said, origin) = note.parts();
        (said.to_owned(), origin.map(|origin| (origin.host().to_owned(), origin.process())))
    }

    #[test]
    fn an_origin_is_read_as_it_was_written() {
        let origin = Origin::new("web-3", 4711).unwrap();
        let whose = Some(("web-3".to_owned(), 4711));
        for said in ["", "nightly", "a [b:1]", " ", "[x:1]"] {
            let note = origin.added_to(Some(&Note::new(said).unwrap()));
            assert_eq!(parts(note.as_str()), (said.to_owned(), whose.clone()), "{note:?}");
        }
        assert_eq!(origin.added_to(None).as_str(), "[web-3:4711]");
    }

    #[test]
    fn what_only_looks_like_one_is_a_note() {
        let others =
            ["web:1]", "[web:1", "[:1]", "[we b:1]", "[web:+1]", "[web:01]", "a[web:1]", "]["];
        for other in others {
            assert_eq!(parts(other), (other.to_owned(), None));
        }
    }

    #[test]
    fn a_note_is_cut_where_there_is_no_room() {
        let origin = Origin::new("h".repeat(64), u32::MAX).unwrap();
        let note = Note::new("\u{20ac}".repeat(85)).unwrap();
        let added = origin.added_to(Some(&note));
        assert!(added.as_str().len() <= NOTE_BYTES_MAX);
        let (said, whose) = added.parts();
        assert_eq!(whose, Some(origin));
        assert!(note.as_str().starts_with(said) && said.len() > 170, "{said}");
    }

    #[test]
    fn the_process_is_this_one() {
        let here = Origin::here();
        assert_eq!(here.process(), std::process::id());
        assert_eq!(Origin::new(here.host(), here.process()), Ok(here));
    }
}
