//! Each test starts this binary again, in a terminal of its own, to have it do there what is in one
//! of the tests that are ignored otherwise.

use std::process::Command;

use leases_tests::terminal::{Left, Terminal};
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use super::*;

fn shown(screen: &mut Screen, text: &str) -> bool {
    screen.draw(|area, buffer| Line::raw(text).render(area, buffer)).expect("a terminal")
}

/// Starts one of the ignored tests.
fn in_a_terminal(test: &str) -> Terminal {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    let name = format!("watch::screen::tests::{test}");
    command.args(["--exact", &name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("RUST_BACKTRACE", "0");
    Terminal::start(command, (24, 100), "what stood there before")
}

#[track_caller]
fn is_as_it_was(terminal: Terminal) -> String {
    let found = terminal.found().clone();
    assert_eq!((found.is_main_screen, found.has_cursor), (true, true));
    let (_, left, text): (_, Left, _) = terminal.ended();
    assert_eq!(left, found, "{text}");
    assert!(text.contains("what stood there before"), "{text}");
    text
}

#[test]
#[ignore = "fails: another test starts it in a terminal"]
fn panics_while_it_lays_out() {
    let mut screen = Screen::enter().expect("a terminal");
    assert!(shown(&mut screen, "all is well"));
    io::stdin().read_line(&mut String::new()).expect("a terminal");
    drop(screen.draw(|_, _| panic!("the layout is wrong")));
}

#[test]
fn after_a_panic_the_terminal_is_as_it_was_and_the_message_is_on_it() {
    let terminal = in_a_terminal("panics_while_it_lays_out");
    terminal.wait_for("its screen", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && screen.contents() == "all is well"
    });
    terminal.press("\n");
    let text = is_as_it_was(terminal);
    assert!(text.contains("the layout is wrong"), "{text}");
    assert!(!text.contains("all is well"), "{text}");
}

#[test]
#[ignore = "another test starts it in a terminal"]
fn panics_in_another_thread() {
    let mut screen = Screen::enter().expect("a terminal");
    assert!(shown(&mut screen, "all is well"));
    let panicking = std::thread::spawn(|| panic!("a fault in the background"));
    assert!(panicking.join().is_err());
    assert!(!shown(&mut screen, "as if nothing had been"));
}

#[test]
fn after_a_panic_of_another_thread_nothing_is_drawn_any_more() {
    let text = is_as_it_was(in_a_terminal("panics_in_another_thread"));
    assert!(text.contains("a fault in the background"), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    assert!(!text.contains("as if nothing had been"), "{text}");
}
