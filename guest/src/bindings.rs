//! The generated side of the contract in `wit/v0.2`, and nothing else.

#![allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, clippy::all)]

wit_bindgen::generate!({
    path: "../wit/v0.2",
    world: "imports",
});
