//! The same for programs: a line for each look.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use serde_json::json;

use super::looks::{Looked, Looks};
use crate::failure::Failure;
use crate::looking::json_of_list;

/// Prints what each look found, until nobody reads it any more.
pub(super) async fn print(first: Looked, mut looks: Looks) -> Result<ExitCode, Failure> {
    let mut next = Some(first);
    while let Some(Looked { answer, .. }) = next {
        let document = match answer {
            Ok(listed) => json_of_list(&listed),
            Err(why) => json!({ "error": why }),
        };
        match writeln!(std::io::stdout(), "{document}") {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(Failure::output(error)),
        }
        next = looks.next().await;
    }
    Err(Failure::panicked())
}
