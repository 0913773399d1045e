//! A program that starts a server of the kind that it is told, says the server's process id, and
//! runs until it is killed.

use std::ops::Deref;

use leases_tests::servers::{MariaDb, Postgres, Redis, Server};

#[tokio::main]
async fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("redis") => serve(Redis::start().await).await,
        Some("mariadb") => serve(MariaDb::start().await).await,
        Some("postgres") => serve(Postgres::start().await).await,
        kind => panic!("no kind of server: {kind:?}"),
    }
}

async fn serve(server: impl Deref<Target = Server>) {
    println!("{}", server.process_id());
    std::future::pending().await
}
