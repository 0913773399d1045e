//! Waiting for a condition.

use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Looks again and again until there is an answer. Panics with `what` when there is none for 30
/// seconds.
pub async fn until<T, L>(what: &str, mut look: impl FnMut() -> L) -> T
where
    L: Future<Output = Option<T>>,
{
    let looking = async {
        loop {
            if let Some(answer) = look().await {
                return answer;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    match tokio::time::timeout(PATIENCE, looking).await {
        Ok(answer) => answer,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}
