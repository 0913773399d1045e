//! The statements, a file for each.

use super::script::{Statement, Words};

macro_rules! statements {
    ($($name:ident),+ $(,)?) => {
        /// Each of them, read once.
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: Statement),+
        }

        impl Statements {
            pub(super) fn new(words: &Words) -> Self {
                Statements {
                    $($name: Statement::new(
                        include_str!(concat!("statements/", stringify!($name), ".sql")),
                        words,
                    )),+
                }
            }
        }
    };
}

statements!(
    look_lease,
    look_semaphore,
    look_line,
    take_new,
    take_free,
    end_plain,
    load,
    drop_ended,
    drop_lapsed,
    add_slot,
    set_slot,
    free_slot,
    set_plain,
    add_ticket,
    set_ticket,
    drop_ticket,
    add_departed,
    drop_departed,
    time,
    lock_plain,
    look_holds,
    extend_holds,
    inspect,
    list,
    woken,
    guard,
    add_guard,
    set_guard,
    look_idle,
    lock_idle,
    forget_key,
    look_guards,
    forget_guard,
);
