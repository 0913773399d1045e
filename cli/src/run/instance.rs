//! One instance: a store of its own, dropped as soon as its call has ended.

use std::time::Duration;

use leases::Scope;
use leases::component::{LeasesCtx, LeasesCtxView, LeasesView};
use wasmtime::component::ResourceTable;
use wasmtime::{Store, Trap};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxView, WasiView};

use super::limits::{self, Given, Memory};
use super::program::Program;
use crate::args::SharedDir;
use crate::failure::one_line;
use crate::typed::Typed;

/// What every instance is given.
pub(crate) struct Sandbox {
    pub(super) scope: Scope,
    pub(super) name: String,
    pub(super) args: Vec<String>,
    pub(super) dirs: Vec<SharedDir>,
    pub(super) memory_max: Typed<usize>,
    pub(super) time_max: Typed<Duration>,
    pub(super) guest_prints_to_stderr: bool,
}

/// How an instance ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, with this status.
    Exited(u8),
    /// By a trap, or because it could not begin.
    Trapped(String),
    /// By its host.
    Stopped(String),
}

impl Ended {
    pub(super) fn status(&self) -> u8 {
        match self {
            Ended::Exited(status) => *status,
            Ended::Trapped(_) | Ended::Stopped(_) => 1,
        }
    }

    pub(super) fn trap(&self) -> Option<&str> {
        match self {
            Ended::Trapped(why) => Some(why),
            Ended::Exited(_) | Ended::Stopped(_) => None,
        }
    }

    pub(super) fn stopped(&self) -> Option<&str> {
        match self {
            Ended::Stopped(why) => Some(why),
            Ended::Exited(_) | Ended::Trapped(_) => None,
        }
    }
}

/// What an instance's store keeps.
pub(crate) struct State {
    wasi: WasiCtx,
    leases: LeasesCtx,
    table: ResourceTable,
    pub(super) memory: Memory,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl LeasesView for State {
    fn leases(&mut self) -> LeasesCtxView<'_> {
        LeasesCtxView { ctx: &mut self.leases, table: &mut self.table }
    }
}

/// Runs one instance to its end, or to the end of its time. Its store is gone when this returns,
/// and with it all that the instance held.
pub(crate) async fn run(program: &Program, sandbox: &Sandbox, number: u32) -> Ended {
    let time_max = &sandbox.time_max;
    // Wherever it is, it is dropped there: it waits in a call to the host, or its turn is over.
    match tokio::time::timeout(time_max.value, call(program, sandbox, number)).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => Ended::Trapped(format!("failed: {}", one_line(format!("{error:#}")))),
        Err(_) => Ended::Stopped(format!("it ran for longer than --time-max {time_max}")),
    }
}

async fn call(program: &Program, sandbox: &Sandbox, number: u32) -> wasmtime::Result<Ended> {
    let state = State {
        wasi: wasi(sandbox, number)?,
        leases: LeasesCtx::new(sandbox.scope.clone()),
        table: ResourceTable::new(),
        memory: Memory::of(sandbox.memory_max.value),
    };
    let mut store = Store::new(&program.engine, state);
    limits::bound(&mut store);
    // At the end of its turn a guest that computes makes room, and goes on.
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    let called = async {
        let command = program.command.instantiate_async(&mut store).await?;
        command.wasi_cli_run().call_run(&mut store).await
    };
    Ok(match called.await {
        Ok(Ok(())) => Ended::Exited(0),
        Ok(Err(())) => Ended::Exited(1),
        Err(error) => ended_by(&error, store.data().memory.given(), &sandbox.memory_max),
    })
}

fn wasi(sandbox: &Sandbox, number: u32) -> wasmtime::Result<WasiCtx> {
    let mut wasi = WasiCtx::builder();
    wasi.inherit_stderr().env("LEASES_INSTANCE", number.to_string());
    match sandbox.guest_prints_to_stderr {
        true => wasi.stdout(wasmtime_wasi::cli::stderr()),
        false => wasi.inherit_stdout(),
    };
    wasi.arg(&sandbox.name).args(&sandbox.args);
    for dir in &sandbox.dirs {
        wasi.preopened_dir(&dir.host, &dir.guest, FsPerms::ReadWrite)?;
    }
    Ok(wasi.build())
}

fn ended_by(error: &wasmtime::Error, memory: Given, memory_max: &Typed<usize>) -> Ended {
    if let Some(I32Exit(status)) = error.downcast_ref() {
        return Ended::Exited(u8::try_from(*status).unwrap_or(1));
    }
    let why = match error.downcast_ref::<Trap>() {
        Some(trap) => format!("trapped: {}", one_line(trap)),
        None => format!("failed: {}", one_line(format!("{error:#}"))),
    };
    Ended::Trapped(match memory {
        Given::All => why,
        Given::Refused => {
            format!("{why}, after it was refused memory beyond --memory-max {memory_max}")
        }
    })
}
