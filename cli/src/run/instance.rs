//! One instance: a store of its own, dropped as soon as its call has ended.

use leases::Scope;
use leases::component::{LeasesCtx, LeasesCtxView, LeasesView};
use wasmtime::component::ResourceTable;
use wasmtime::{Store, Trap};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxView, WasiView};

use super::program::Program;
use crate::args::SharedDir;
use crate::failure::one_line;

/// What every instance is given.
pub(crate) struct Sandbox {
    pub(super) scope: Scope,
    pub(super) name: String,
    pub(super) args: Vec<String>,
    pub(super) dirs: Vec<SharedDir>,
    pub(super) guest_prints_to_stderr: bool,
}

/// How an instance ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, with this status.
    Exited(u8),
    /// By a trap, or because it could not begin.
    Trapped(String),
}

impl Ended {
    pub(super) fn status(&self) -> u8 {
        match self {
            Ended::Exited(status) => *status,
            Ended::Trapped(_) => 1,
        }
    }

    pub(super) fn trap(&self) -> Option<&str> {
        match self {
            Ended::Exited(_) => None,
            Ended::Trapped(why) => Some(why),
        }
    }
}

/// What an instance's store keeps.
pub(crate) struct State {
    wasi: WasiCtx,
    leases: LeasesCtx,
    table: ResourceTable,
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

/// Runs one instance to its end. Its store is gone when this returns, and with it all that the
/// instance held.
pub(crate) async fn run(program: &Program, sandbox: &Sandbox, number: u32) -> Ended {
    match call(program, sandbox, number).await {
        Ok(Ok(())) => Ended::Exited(0),
        Ok(Err(())) => Ended::Exited(1),
        Err(error) => ended_by(&error),
    }
}

async fn call(
    program: &Program,
    sandbox: &Sandbox,
    number: u32,
) -> wasmtime::Result<Result<(), ()>> {
    let state = State {
        wasi: wasi(sandbox, number)?,
        leases: LeasesCtx::new(sandbox.scope.clone()),
        table: ResourceTable::new(),
    };
    let mut store = Store::new(&program.engine, state);
    // At the end of its turn a guest that computes makes room, and goes on.
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    let command = program.command.instantiate_async(&mut store).await?;
    command.wasi_cli_run().call_run(&mut store).await
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

fn ended_by(error: &wasmtime::Error) -> Ended {
    if let Some(I32Exit(status)) = error.downcast_ref() {
        return Ended::Exited(u8::try_from(*status).unwrap_or(1));
    }
    Ended::Trapped(match error.downcast_ref::<Trap>() {
        Some(trap) => format!("trapped: {}", one_line(trap)),
        None => format!("failed: {}", one_line(format!("{error:#}"))),
    })
}
