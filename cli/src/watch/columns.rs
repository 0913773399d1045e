//! Which columns a line has room for, and how wide they are.

use crate::looking::HEADS;

/// Blanks between two columns.
pub(super) const GAP: u16 = 2;

/// A column that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// Its place in [`HEADS`].
    pub(super) place: usize,
    /// How wide it is shown.
    pub(super) width: u16,
}

/// How a column is treated where there is not room for all.
struct Rank {
    place: usize,
    /// It is cut to this width rather than left off.
    least: u16,
    /// It has this width before a column that is not one of the [`MAIN`] is shown at all.
    easy: u16,
}

/// The greatest comes first: it is the last to be left off. A number or a time is shown whole.
const RANKS: [Rank; HEADS.len()] = [
    Rank { place: 0, least: 12, easy: 24 },             // NAME
    Rank { place: 2, least: u16::MAX, easy: u16::MAX }, // STATE
    Rank { place: 5, least: 6, easy: 16 },              // OWNER
    Rank { place: 6, least: u16::MAX, easy: u16::MAX }, // SINCE
    Rank { place: 7, least: u16::MAX, easy: u16::MAX }, // ENDS IN
    Rank { place: 8, least: 8, easy: 16 },              // PROCESS
    Rank { place: 1, least: u16::MAX, easy: u16::MAX }, // KIND
    Rank { place: 3, least: u16::MAX, easy: u16::MAX }, // SLOT
    Rank { place: 9, least: 8, easy: 8 },               // NOTE
    Rank { place: 4, least: u16::MAX, easy: u16::MAX }, // FENCE
];

/// So many of the [`RANKS`] matter most.
const MAIN: usize = 5;

/// The columns for which there is room, in the order of [`HEADS`], of those that would be this wide.
pub(super) fn fitted(wanted: &[u16; HEADS.len()], room: u16) -> Vec<Column> {
    let wants = |rank: &Rank| wanted.get(rank.place).copied().unwrap_or(0);
    let shown = RANKS.iter().enumerate().take_while(|(last, _)| {
        let needs = RANKS.iter().take(last + 1).map(|rank| {
            let at_least = if *last < MAIN { rank.least } else { rank.easy };
            wants(rank).min(at_least).saturating_add(GAP)
        });
        *last == 0 || needs.fold(0, u16::saturating_add) <= room.saturating_add(GAP)
    });
    let shown: Vec<&Rank> = shown.map(|(_, rank)| rank).collect();
    let gaps = GAP.saturating_mul(u16::try_from(shown.len()).unwrap_or(u16::MAX)) - GAP;
    let mut spare = room.saturating_sub(gaps);
    let mut columns: Vec<_> =
        shown.iter().map(|rank| Column { place: rank.place, width: 0 }).collect();
    let steps: [fn(&Rank) -> u16; 3] = [|rank| rank.least, |rank| rank.easy, |_| u16::MAX];
    for step in steps {
        for (rank, column) in shown.iter().zip(&mut columns) {
            let more = wants(rank).min(step(rank)).saturating_sub(column.width).min(spare);
            column.width += more;
            spare -= more;
        }
    }
    columns.sort_unstable_by_key(|column| column.place);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As wide as the columns of a usual list.
    const WANTED: [u16; HEADS.len()] = [30, 9, 8, 4, 16, 20, 11, 7, 14, 40];

    fn shown(wanted: &[u16; HEADS.len()], room: u16) -> Vec<(&'static str, u16)> {
        let columns = fitted(wanted, room);
        columns.iter().map(|column| (HEADS[column.place], column.width)).collect()
    }

    #[test]
    fn every_column_has_its_rank() {
        let mut places = RANKS.map(|rank| rank.place);
        places.sort_unstable();
        assert!(places.into_iter().eq(0..HEADS.len()));
        let main: Vec<_> = RANKS.iter().take(MAIN).map(|rank| HEADS[rank.place]).collect();
        assert_eq!(main, ["NAME", "STATE", "OWNER", "SINCE", "ENDS IN"]);
    }

    #[test]
    fn with_room_for_all_each_is_as_wide_as_it_wants() {
        let all = HEADS.into_iter().zip(WANTED).collect::<Vec<_>>();
        let total = WANTED.iter().sum::<u16>() + 9 * GAP;
        assert_eq!(shown(&WANTED, total), all);
        assert_eq!(shown(&WANTED, u16::MAX), all);
        assert_eq!(shown(&WANTED, total - 1).last(), Some(&("NOTE", 39)), "the note is cut");
    }

    #[test]
    fn what_matters_less_is_left_off_before_what_matters_more_is_cut() {
        let heads = |room| shown(&WANTED, room).into_iter().map(|(head, _)| head);
        let mut before: Vec<_> = HEADS.to_vec();
        let mut left_off = Vec::new();
        for room in (0..200).rev() {
            let now: Vec<_> = heads(room).collect();
            left_off.extend(before.iter().filter(|head| !now.contains(head)).copied());
            before = now;
        }
        let expected =
            ["FENCE", "NOTE", "SLOT", "KIND", "PROCESS", "ENDS IN", "SINCE", "OWNER", "STATE"];
        assert_eq!(left_off, expected);
        assert_eq!(before, ["NAME"]);
    }

    #[test]
    fn no_line_is_wider_than_its_room() {
        for room in 0..300 {
            let columns = shown(&WANTED, room);
            let gaps = (columns.len() as u16 - 1) * GAP;
            let total = columns.iter().map(|(_, width)| width).sum::<u16>() + gaps;
            assert!(total <= room, "{total} in {room}: {columns:?}");
            assert!(room == 0 || columns.iter().all(|(_, width)| *width > 0), "{columns:?}");
        }
    }

    #[test]
    fn a_long_name_leaves_room_for_the_others() {
        let wanted = [512, 9, 8, 4, 16, 5, 11, 7, 14, 1];
        let at_80 = shown(&wanted, 80);
        let main = [("NAME", 25), ("STATE", 8), ("OWNER", 5), ("SINCE", 11), ("ENDS IN", 7)];
        assert_eq!(at_80.split_last(), Some((&("PROCESS", 14), &main[..])));
    }
}
