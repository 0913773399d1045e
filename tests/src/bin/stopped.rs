//! A program that holds a lease and is stopped: it takes the lease, says so, waits to be told to go
//! on, and looks at its lease before it does anything else. With `kept`, the lease is kept alive.

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::time::Duration;

use leases::{Error, Leases};

fn main() -> Result<(), Error> {
    let kept = std::env::args().any(|argument| argument == "kept");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let request = Leases::memory().lease("a")?.ttl(Duration::from_millis(500));
    let request = if kept { request.keep_alive() } else { request };
    let lease = runtime.block_on(request.acquire())?;
    say("held");
    let mut line = String::new();
    stdin().lock().read_line(&mut line).expect("a line");
    match lease.loss() {
        Some(loss) => say(&format!("lost: {loss}")),
        None => say("an effect"),
    }
    Ok(())
}

fn say(what: &str) {
    println!("{what}");
    stdout().flush().expect("somebody reads");
}
