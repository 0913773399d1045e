//! What tests of the Redis backend alone share.

use std::sync::Arc;

use leases::{Leases, ManualClock, RedisBackend, RedisConfig};

/// The backend alone, over the server of a URL.
pub async fn backend(url: &str) -> RedisBackend {
    let config = RedisConfig::from_url(url).expect("a URL");
    RedisBackend::connect(config).await.expect("the server answers")
}

/// A handle over a server that is told the time.
pub async fn told(url: &str, time: &ManualClock) -> Leases {
    let config = RedisConfig::from_url(url).expect("a URL").manual_clock(time);
    let backend = RedisBackend::connect(config).await.expect("the server answers");
    Leases::builder(Arc::new(backend)).clock(time.clock()).build()
}
