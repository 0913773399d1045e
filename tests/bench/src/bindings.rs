//! The generated side of `wit/bench.wit`, and nothing else.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]

wasmtime::component::bindgen!({
    path: "wit",
    world: "bench",
    imports: {
        "leases:bench/things.[method]thing.noop-async": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: { "leases:bench/things.thing": crate::program::Thing },
    require_store_data_send: true,
});
