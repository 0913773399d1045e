//! Sizes and durations, as they were typed.

use std::fmt;
use std::time::Duration;

use bytesize::ByteSize;

/// A value that is shown as it was typed.
#[derive(Debug, Clone)]
pub(crate) struct Typed<T> {
    pub(crate) value: T,
    text: String,
}

impl<T> fmt::Display for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A page of linear memory: with less than one no guest begins.
const BYTES_MIN: u64 = 64 << 10;
const BYTES_MAX: u64 = 1 << 40;

/// Bytes: `64MiB`, `1GiB`.
pub(crate) fn size(text: &str) -> Result<Typed<usize>, String> {
    let bytes = text.parse::<ByteSize>().map(|size| size.as_u64()).ok();
    let bytes = bytes.filter(|bytes| (BYTES_MIN..=BYTES_MAX).contains(bytes));
    let value = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let value = value.ok_or("64KiB to 1TiB, as 64MiB or 1GiB")?;
    Ok(Typed { value, text: text.to_owned() })
}

/// `500ms`, `30s`, `5m`, `1h`.
pub(crate) fn duration(text: &str) -> Result<Typed<Duration>, String> {
    let duration = humantime::parse_duration(text).ok();
    let value = duration.filter(|duration| *duration >= Duration::from_millis(1));
    let value = value.ok_or("1ms or more, as 500ms, 30s, 5m or 1h")?;
    Ok(Typed { value, text: text.to_owned() })
}
