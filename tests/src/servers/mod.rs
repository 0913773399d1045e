//! Real servers, each private to the test that starts it: on free ports of 127.0.0.1, in a
//! temporary folder, gone when its handle is dropped or the test's process dies. And a proxy that
//! makes the trouble that networks make.

pub mod mariadb;
pub mod pgbouncer;
mod port;
pub mod postgres;
mod process;
mod program;
pub mod proxy;
pub mod redis;
mod server;
mod spawner;
mod template;
mod tree;
mod until;
mod user;

pub use mariadb::MariaDb;
pub use pgbouncer::PgBouncer;
pub use postgres::Postgres;
pub use proxy::Proxy;
pub use redis::{Cluster, Moving, Redis, Sentinel};
pub use server::Server;
pub use until::until;
