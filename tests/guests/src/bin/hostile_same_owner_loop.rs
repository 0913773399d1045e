//! Takes over its own hold for ever and keeps every superseded handle.

use leases_test_guests::expect::{say, terms};
use leases_test_guests::raw::{Error, Loss, Quota, Terms, lease};

fn main() {
    let owned = Terms { owner: Some("job".to_owned()), ..terms() };
    let mut handles = Vec::new();
    loop {
        match lease::acquire("own/a", &owned, None) {
            Ok(lease) => handles.push(lease),
            Err(Error::OverQuota(Quota::Held)) => break,
            Err(error) => panic!("{} handles: {error:?}", handles.len()),
        }
    }
    assert_eq!(handles.len(), 8, "a handle counts until it is gone");
    let last = handles.pop().expect("eight");
    for earlier in handles {
        assert!(earlier.fence() < last.fence());
        assert_eq!(earlier.refresh(None), Err(Error::Lost(Loss::Superseded)));
        drop(earlier);
    }
    assert!(last.refresh(None).is_ok(), "the drop of a superseded handle takes nothing away");
    say("refused");
}
