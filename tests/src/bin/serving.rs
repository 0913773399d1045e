//! A program that starts a server, says the server's process id, and runs until it is killed.

use leases_tests::servers::Redis;

#[tokio::main]
async fn main() {
    let server = Redis::start().await;
    println!("{}", server.process_id());
    std::future::pending().await
}
