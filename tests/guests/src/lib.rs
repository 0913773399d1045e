//! Guests that the tests run: see `examples` and `src/bin`. What the hostile ones among them share
//! is here: the contract as a guest without manners sees it.

pub mod expect;
pub mod raw;
pub mod wild;
