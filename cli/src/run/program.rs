//! A component that is compiled and linked, ready to be run many times.

use std::path::Path;
use std::time::Duration;

use leases::component;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine};
use wasmtime_wasi::p2::bindings::CommandPre;

use super::instance::State;
use crate::failure::Failure;

/// What the instances have in common.
pub(crate) struct Program {
    pub(super) engine: Engine,
    pub(super) command: CommandPre<State>,
}

impl Program {
    /// Compiles and links; whatever is wrong with the file is known before anything runs.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let named = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let bytes = std::fs::read(path).map_err(|error| Failure::usage(named(&error)))?;
        let not_ours = |error: wasmtime::Error| Failure::data(named(&format!("{error:#}")));

        let mut config = Config::new();
        // Without the asynchronous ABI, which this contract does not use, host calls are cheaper.
        config.concurrency_support(false);
        config.epoch_interruption(true);
        let engine = Engine::new(&config).map_err(not_ours)?;
        tick(&engine).map_err(|error| Failure::usage(named(&error)))?;
        let component = Component::new(&engine, bytes).map_err(not_ours)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(not_ours)?;
        component::add_to_linker(&mut linker).map_err(not_ours)?;
        let linked = linker.instantiate_pre(&component).map_err(not_ours)?;
        let command = CommandPre::new(linked).map_err(not_ours)?;
        Ok(Program { engine, command })
    }
}

/// How long a guest computes before it makes room: for the other instances, for what refreshes
/// their holds, for timers.
const TURN: Duration = Duration::from_millis(10);

/// Ends every guest's turn at its time, for as long as there is an engine.
fn tick(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    let turns = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TURN);
        }
    };
    std::thread::Builder::new().name("leases-turns".to_owned()).spawn(turns).map(drop)
}
