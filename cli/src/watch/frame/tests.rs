use std::time::{Duration, Instant};

use leases::{Kind, Listed};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::watch::looks::Looked;
use crate::watch::test_rows::{holder, holders, key, looked, waiter};

/// The screen two seconds after this was found, and perhaps another look had no answer.
fn drawn(listed: Vec<Listed>, why: Option<&str>, (lines, columns): (u16, u16)) -> String {
    let at = Instant::now();
    let mut view = View::new("import:* in redis".to_owned(), looked(listed, at));
    if let Some(why) = why {
        view.take(Looked { answer: Err(why.to_owned()), at });
    }
    screen(&mut view, at + Duration::from_secs(2), (lines, columns))
}

fn screen(view: &mut View, now: Instant, (lines, columns): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| draw(view, now, frame.area(), frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = buffer.content().chunks(usize::from(columns.max(1))).map(|cells| {
        let mut hidden = 0;
        let mut line = String::new();
        for cell in cells {
            if hidden == 0 {
                line.push_str(cell.symbol());
                hidden = Span::raw(cell.symbol()).width();
            }
            hidden = hidden.saturating_sub(1);
        }
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn usual() -> Vec<Listed> {
    let nightly = vec![holder(0, "job-7", "nightly [web-3:4711]")];
    let waiting = vec![waiter("", "[web-12:99]"), waiter("job-8", "")];
    let uploads = vec![holder(0, "", "[web-3:4711]"), holder(2, "a-rather-long-owner-of-it", "")];
    vec![
        key(Kind::Lease, "import:42", nightly, waiting),
        key(Kind::Semaphore, "uploads-of-the-very-long-named-tenant:42", uploads, vec![]),
    ]
}

/// Names that would turn the text around, hide in it, or are twice as wide as their letters are many.
fn odd() -> Vec<Listed> {
    let name = |name: &str| key(Kind::Lease, name, vec![holder(0, "中文中文中文中文", "")], vec![]);
    let wide = "名".repeat(40);
    ["a\u{202e}gpj", "x ", "caf\u{e9}", &wide, &"n".repeat(500)].map(name).into()
}

#[test]
fn a_wide_screen_is_as_it_was_agreed() {
    assert_eq!(drawn(usual(), None, (9, 150)), include_str!("../golden/wide.txt"));
}

#[test]
fn a_usual_screen_is_as_it_was_agreed() {
    assert_eq!(drawn(usual(), None, (9, 80)), include_str!("../golden/usual.txt"));
}

#[test]
fn a_narrow_screen_is_as_it_was_agreed() {
    assert_eq!(drawn(usual(), None, (9, 40)), include_str!("../golden/narrow.txt"));
}

#[test]
fn more_rows_than_lines_are_as_it_was_agreed() {
    assert_eq!(drawn(holders(30), None, (8, 80)), include_str!("../golden/more.txt"));
}

#[test]
fn odd_names_are_as_it_was_agreed() {
    assert_eq!(drawn(odd(), None, (9, 80)), include_str!("../golden/odd.txt"));
}

#[test]
fn a_backend_without_answer_is_as_it_was_agreed() {
    let why = Some("connection refused\u{1b}[2J");
    assert_eq!(drawn(usual(), why, (9, 80)), include_str!("../golden/unanswered.txt"));
}

#[test]
fn nothing_in_use_is_as_it_was_agreed() {
    assert_eq!(drawn(vec![], None, (5, 80)), include_str!("../golden/nothing.txt"));
}

/// However small it is, there is something to see and no panic.
#[test]
fn a_screen_of_any_size_is_drawn() {
    for lines in 0..8 {
        for columns in 0..100 {
            for listed in [usual(), odd(), vec![]] {
                drop(drawn(listed, Some("gone"), (lines, columns)));
            }
        }
    }
}

/// Of 10,000 rows no more are laid out than are seen, whether they are of many keys or of one.
#[test]
fn only_what_is_seen_is_laid_out() {
    let many = vec![waiter("job", "a note"); 10_000];
    for listed in [holders(10_000), vec![key(Kind::Lease, "one", vec![], many)]] {
        let mut view = View::new("*".to_owned(), looked(listed, Instant::now()));
        view.fit(20);
        view.go(crate::watch::view::Move::End);
        assert_eq!((view.len(), view.rows(Instant::now()).len()), (10_000, 20));
        assert!(screen(&mut view, Instant::now(), (24, 120)).contains("of 10000\n"));
    }
}
