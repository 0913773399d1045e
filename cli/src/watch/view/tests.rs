use std::time::{Duration, Instant};

use super::*;
use crate::watch::test_rows::{holders, looked};

fn view(keys: u32) -> View {
    let at = Instant::now();
    let mut view = View::new("*".to_owned(), looked(holders(keys), at));
    view.fit(10);
    view
}

fn names(view: &View) -> Vec<String> {
    view.rows(view.answered_at).into_iter().map(|[name, ..]| name).collect()
}

#[test]
fn every_way_leads_through_all_rows_and_no_farther() {
    let mut view = view(25);
    for (to, first, last) in [
        (Move::Down, "n00001", "n00010"),
        (Move::PageDown, "n00011", "n00020"),
        (Move::PageDown, "n00015", "n00024"),
        (Move::Down, "n00015", "n00024"),
        (Move::Up, "n00014", "n00023"),
        (Move::PageUp, "n00004", "n00013"),
        (Move::PageUp, "n00000", "n00009"),
        (Move::Up, "n00000", "n00009"),
        (Move::End, "n00015", "n00024"),
        (Move::Home, "n00000", "n00009"),
    ] {
        view.go(to);
        let names = names(&view);
        let ends = (names.first().map(String::as_str), names.last().map(String::as_str));
        assert_eq!(ends, (Some(first), Some(last)), "{to:?}");
    }
}

#[test]
fn a_shorter_answer_leaves_no_empty_page() {
    let mut view = view(25);
    view.go(Move::End);
    view.take(looked(holders(12), Instant::now()));
    assert_eq!(names(&view).first().map(String::as_str), Some("n00002"));
    view.take(looked(holders(0), Instant::now()));
    assert_eq!(names(&view), Vec::<String>::new());
    view.go(Move::PageDown);
    assert_eq!(view.seen(), 0..0);
}

#[test]
fn the_rows_of_one_key_are_scrolled_through_too() {
    let at = Instant::now();
    let mut keys = holders(2);
    let more = keys[0].view.holders[0].clone();
    keys[0].view.holders.extend(std::iter::repeat_n(more, 4));
    let mut view = View::new("*".to_owned(), looked(keys, at));
    view.fit(3);
    assert_eq!((view.len(), view.counts()), (6, (6, 0)));
    view.go(Move::End);
    assert_eq!(names(&view), ["n00000", "n00000", "n00001"]);
}

#[test]
fn what_was_answered_last_stays_while_there_is_no_answer() {
    let at = Instant::now();
    let mut view = View::new("*".to_owned(), looked(holders(3), at));
    view.fit(10);
    let why = Looked { answer: Err("gone".to_owned()), at: at + Duration::from_secs(5) };
    view.take(why);
    assert_eq!((names(&view).len(), view.unanswered()), (3, Some("gone")));
    assert_eq!(view.age(at + Duration::from_secs(7)), Duration::from_secs(7));
    view.take(looked(holders(1), at + Duration::from_secs(9)));
    assert_eq!((names(&view).len(), view.unanswered()), (1, None));
    assert_eq!(view.age(at + Duration::from_secs(10)), Duration::from_secs(1));
}

#[test]
fn times_go_on_between_answers() {
    let view = view(1);
    let [.., since, ends_in, _, _] = view.rows(view.answered_at + Duration::from_secs(5)).remove(0);
    assert_eq!((&*since, &*ends_in), ("9s ago", "21s"));
    let [.., since, ends_in, _, _] =
        view.rows(view.answered_at + Duration::from_secs(90)).remove(0);
    assert_eq!((&*since, &*ends_in), ("1m 34s ago", "0s"));
}
