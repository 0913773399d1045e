//! Keeping the view on the screen.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crossterm::event::EventStream;
use futures_util::StreamExt as _;
use tokio::time::{MissedTickBehavior, interval};

use super::frame;
use super::keys::{Wish, wish};
use super::looks::Looks;
use super::screen::Screen;
use super::signals::Signals;
use super::view::View;
use crate::failure::Failure;

/// How often the times that are shown go on.
const TICK: Duration = Duration::from_millis(250);

/// Shows what is found until the reader, or a signal, ends it.
pub(super) async fn show(mut view: View, mut looks: Looks) -> Result<ExitCode, Failure> {
    let mut signals = Signals::taken().map_err(Failure::terminal)?;
    let mut screen = Screen::enter().map_err(Failure::terminal)?;
    let mut events = EventStream::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let now = Instant::now();
        let shown = screen.draw(|area, buffer| frame::draw(&mut view, now, area, buffer));
        if !shown.map_err(Failure::terminal)? {
            return Err(Failure::panicked());
        }
        tokio::select! {
            status = signals.status() => return Ok(status.into()),
            event = events.next() => {
                let event = event.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
                match wish(&event.map_err(Failure::terminal)?) {
                    Some(Wish::End) => return Ok(ExitCode::SUCCESS),
                    Some(Wish::Look) => looks.now(),
                    Some(Wish::Move(to)) => view.go(to),
                    None => {}
                }
            }
            looked = looks.next() => view.take(looked.ok_or_else(Failure::panicked)?),
            _ = tick.tick() => {}
        }
    }
}
