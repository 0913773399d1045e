//! The backend in the memory of one process: the embedded default.

mod backend;
mod config;
mod shard;

pub use backend::MemoryBackend;
pub use config::MemoryConfig;
