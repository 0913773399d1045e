//! Where and when a measurement was made.

use std::fs;
use std::time::SystemTime;

use serde_json::{Value, json};

/// The processor, its cores and the kernel.
pub(crate) fn describe() -> Value {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    json!({ "cpu": cpu(), "cores": cores, "kernel": kernel() })
}

/// Today in UTC, as YYYY-MM-DD.
pub(crate) fn date() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut day = since.as_secs() / (24 * 60 * 60);
    let mut year = 1970;
    while day >= days(year) {
        day -= days(year);
        year += 1;
    }
    let february = days(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

fn days(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(leap)
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|rest| rest.split_once(':')).map(|(_, model)| model.trim());
    model.unwrap_or(std::env::consts::ARCH).to_owned()
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim())
}
