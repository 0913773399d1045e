//! A command, and what may be done when its reply does not come.

use redis::{Arg, Cmd};

use super::super::scripts::Script;

/// One operation's command.
#[derive(Debug)]
pub(in super::super) struct Request<'a> {
    pub(super) command: Cmd,
    repeat: Repeat,
    script: Option<&'a Script>,
    /// The node that it goes to, by a slot; none for the one that has its keys.
    node: Option<u16>,
}

/// Whether a command may be sent again when it may have been carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Repeat {
    /// Carried out twice, it does and answers what it would once.
    Freely,
    /// The second time it would answer otherwise.
    Never,
}

impl<'a> Request<'a> {
    /// A script, without its keys and arguments yet.
    pub(in super::super) fn script(script: &'a Script, repeat: Repeat) -> Self {
        Request { command: script.by_hash(), repeat, script: Some(script), node: None }
    }

    /// Any other command.
    pub(in super::super) fn command(command: Cmd) -> Self {
        Request { command, repeat: Repeat::Freely, script: None, node: None }
    }

    /// Any command, to the node of a cluster that has this slot.
    pub(in super::super) fn to_node_of(slot: u16, command: Cmd) -> Self {
        Request { node: Some(slot), ..Request::command(command) }
    }

    pub(super) fn node(&self) -> Option<u16> {
        self.node
    }

    pub(in super::super) fn repeat(&self) -> Repeat {
        self.repeat
    }

    /// What is sent, to add to it.
    pub(in super::super) fn add(&mut self) -> &mut Cmd {
        &mut self.command
    }

    /// The same for a server that does not know the script.
    pub(super) fn by_text(&self) -> Option<Cmd> {
        let mut command = self.script?.by_text();
        for argument in self.command.args_iter().skip(2) {
            if let Arg::Simple(bytes) = argument {
                command.arg(bytes);
            }
        }
        Some(command)
    }
}
