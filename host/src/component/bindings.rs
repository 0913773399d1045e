//! The generated side of the contract in `wit/v0.2`, and nothing else.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]

wasmtime::component::bindgen!({
    path: "../wit/v0.2",
    world: "imports",
    imports: {
        "leases:plugin/lease.acquire": async | trappable,
        "leases:plugin/lease.[method]lease.refresh": async | trappable,
        "leases:plugin/lease.[static]lease.release": async | trappable,
        "leases:plugin/semaphore.acquire": async | trappable,
        "leases:plugin/semaphore.[method]permit.refresh": async | trappable,
        "leases:plugin/semaphore.[static]permit.release": async | trappable,
        "leases:plugin/fence.admit": async | trappable,
        "leases:plugin/fence.admit-slot": async | trappable,
        "leases:plugin/fence.current": async | trappable,
        "leases:plugin/fence.current-slot": async | trappable,
        default: trappable,
    },
    with: {
        "leases:plugin/lease.lease": crate::component::HeldLease,
        "leases:plugin/semaphore.permit": crate::component::HeldPermit,
    },
    trappable_error_type: { "leases:plugin/types.error" => crate::component::GuestError },
    require_store_data_send: true,
});
