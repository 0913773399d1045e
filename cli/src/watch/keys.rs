//! What the keys do.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::Move;

/// What the reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// To end it.
    End,
    /// To look now.
    Look,
    /// To see another part.
    Move(Move),
}

/// What is wished for by a key; nothing by what is no key that does something.
pub(super) fn wish(event: &Event) -> Option<Wish> {
    let Event::Key(KeyEvent { code, modifiers, kind, .. }) = event else { return None };
    if *kind == KeyEventKind::Release {
        return None;
    }
    if modifiers.contains(KeyModifiers::CONTROL) {
        return (*code == KeyCode::Char('c')).then_some(Wish::End);
    }
    Some(match code {
        KeyCode::Char('q') | KeyCode::Esc => Wish::End,
        KeyCode::Char('r') => Wish::Look,
        KeyCode::Up | KeyCode::Char('k') => Wish::Move(Move::Up),
        KeyCode::Down | KeyCode::Char('j') => Wish::Move(Move::Down),
        KeyCode::PageUp => Wish::Move(Move::PageUp),
        KeyCode::PageDown => Wish::Move(Move::PageDown),
        KeyCode::Home => Wish::Move(Move::Home),
        KeyCode::End => Wish::Move(Move::End),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wished(code: KeyCode, modifiers: KeyModifiers) -> Option<Wish> {
        wish(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn a_key_does_what_the_foot_says() {
        let plain = |code| wished(code, KeyModifiers::NONE);
        for code in [KeyCode::Char('q'), KeyCode::Esc] {
            assert_eq!(plain(code), Some(Wish::End));
        }
        assert_eq!(wished(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Wish::End));
        assert_eq!(plain(KeyCode::Char('r')), Some(Wish::Look));
        for (code, to) in [
            (KeyCode::Up, Move::Up),
            (KeyCode::Char('k'), Move::Up),
            (KeyCode::Down, Move::Down),
            (KeyCode::Char('j'), Move::Down),
            (KeyCode::PageUp, Move::PageUp),
            (KeyCode::PageDown, Move::PageDown),
            (KeyCode::Home, Move::Home),
            (KeyCode::End, Move::End),
        ] {
            assert_eq!(plain(code), Some(Wish::Move(to)));
        }
    }

    #[test]
    fn another_key_does_nothing() {
        assert_eq!(wished(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert_eq!(wished(KeyCode::Char('q'), KeyModifiers::CONTROL), None);
        assert_eq!(wish(&Event::Resize(80, 24)), None);
        let mut up = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        up.kind = KeyEventKind::Release;
        assert_eq!(wish(&Event::Key(up)), None);
    }
}
