//! One page of the manual.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::{environment, failure};

/// A page, as man reads it.
pub(super) struct Page {
    /// What its file is called.
    pub(super) file: String,
    /// What stands in it.
    pub(super) text: String,
}

impl Page {
    /// Of a built command: of `leases`, or of a subcommand of it.
    pub(super) fn of(command: &Command) -> Self {
        let version = command.get_version().unwrap_or_default();
        let man = Man::new(command.clone()).source(format!("leases {version}"));
        let mut text = Vec::new();
        // To a Vec it can't fail.
        let _ = man.render_title(&mut text);
        let _ = man.render_name_section(&mut text);
        let _ = man.render_synopsis_section(&mut text);
        let _ = man.render_description_section(&mut text);
        let _ = man.render_options_section(&mut text);
        if command.has_subcommands() {
            let _ = man.render_subcommands_section(&mut text);
        }
        let _ = further(command).to_writer(&mut text);
        Page { file: man.get_filename(), text: laid_out(&String::from_utf8_lossy(&text)) }
    }
}

/// The sections that are not made of what can be typed.
fn further(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (status, means) in failure::STATUSES {
        roff.control("TP", []).text([bold(status.to_string())]).text([roman(means)]);
    }
    roff.control("SH", ["ENVIRONMENT"]);
    for environment::Variable { name, says } in environment::ALL {
        roff.control("TP", []).text([bold(name)]).text([roman(says)]);
    }
    if let Some(examples) = command.get_after_help() {
        roff.control("SH", ["EXAMPLES"]);
        // Its first line is the heading that `--help` shows.
        for line in examples.to_string().lines().skip(1) {
            roff.text([roman(line)]);
        }
    }
    let others: Vec<_> = match command.has_subcommands() {
        true => {
            command.get_subcommands().map(|sub| format!("leases-{}(1)", sub.get_name())).collect()
        }
        false => vec!["leases(1)".to_owned()],
    };
    roff.control("SH", ["SEE ALSO"]).text([roman(others.join(", "))]);
    roff
}

/// Help that is laid out by its author stays so: a line that is indented is not filled. An empty line
/// is a space, and no end of the entry that it is in.
fn laid_out(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len());
    let mut is_filled = true;
    for line in text.lines() {
        let is_own = line.starts_with("  ");
        if is_own && is_filled {
            laid_out.push_str(".nf\n");
        } else if !is_own && !is_filled {
            laid_out.push_str(".fi\n");
        }
        is_filled = !is_own;
        laid_out.push_str(if line.trim().is_empty() { ".sp" } else { line });
        laid_out.push('\n');
    }
    if !is_filled {
        laid_out.push_str(".fi\n");
    }
    laid_out
}
