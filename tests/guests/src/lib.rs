//! Guests that the tests run: see `examples` and `src/bin`.
