//! Real servers, each private to the test that starts it: on free ports of 127.0.0.1, in a
//! temporary folder, gone when its handle is dropped or the test's process dies. And a proxy that
//! makes the trouble that networks make.

mod port;
mod process;
pub mod proxy;
pub mod redis;
mod server;
mod spawner;
mod until;

pub use proxy::Proxy;
pub use redis::{Cluster, Moving, Redis, Sentinel};
pub use server::Server;
pub use until::until;
