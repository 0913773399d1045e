//! The whole terminal, and giving it back as it was.

use std::io::{self, IsTerminal as _, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Whether the terminal is not as it was: its state is one for the whole process, and a panic in any
/// thread has to give it back.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);

/// The alternate screen, in raw mode and without a cursor, until this is dropped or there is a panic.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    _leaving: Leaving,
}

struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        leave();
    }
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter() -> io::Result<Self> {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // First, so that the message stays on the screen that the user comes back to.
            leave();
            report(info);
        }));
        let leaving = Leaving;
        IS_ENTERED.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(Screen { terminal, _leaving: leaving })
    }

    /// Shows a frame, laid out for the size that the terminal has now. Answers whether there is still
    /// a screen: there is none after a panic of any thread.
    pub(super) fn draw(&mut self, layout: impl FnOnce(Rect, &mut Buffer)) -> io::Result<bool> {
        if !IS_ENTERED.load(Ordering::SeqCst) {
            return Ok(false);
        }
        self.terminal.draw(|frame| layout(frame.area(), frame.buffer_mut()))?;
        Ok(true)
    }
}

/// Gives the terminal back, once. Where that fails there is no terminal any more, and nobody to tell.
fn leave() {
    if IS_ENTERED.swap(false, Ordering::SeqCst) {
        drop(execute!(io::stdout(), LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// Where the log goes: to standard error, but not onto the screen while it is shown.
pub(crate) fn log_writer() -> Box<dyn Write> {
    match IS_ENTERED.load(Ordering::SeqCst) && io::stderr().is_terminal() {
        true => Box::new(io::sink()),
        false => Box::new(io::stderr()),
    }
}

#[cfg(test)]
mod tests;
