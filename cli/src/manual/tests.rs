use super::*;

/// What stands under a heading of a page.
fn section<'a>(page: &'a Page, heading: &str) -> &'a str {
    let quoted = format!("\n.SH \"{heading}\"\n");
    let plain = format!("\n.SH {heading}\n");
    let (_, behind) = page
        .text
        .split_once(&quoted)
        .or_else(|| page.text.split_once(&plain))
        .unwrap_or_else(|| panic!("{}: no {heading}\n{}", page.file, page.text));
    behind.split("\n.SH ").next().unwrap_or_default()
}

/// As roff has it.
fn roff(text: &str) -> String {
    text.replace('\\', "\\\\").replace('-', "\\-").replace('\'', "\\*(Aq")
}

fn command() -> clap::Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

#[test]
fn every_command_has_a_page_with_the_usual_sections() {
    let pages = pages();
    let files: Vec<_> = pages.iter().map(|page| page.file.clone()).collect();
    let mut expected = vec!["leases.1".to_owned()];
    expected.extend(command().get_subcommands().map(|sub| format!("leases-{}.1", sub.get_name())));
    assert_eq!(files, expected);
    for page in &pages {
        for heading in
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"]
        {
            assert!(!section(page, heading).trim().is_empty(), "{}: {heading}", page.file);
        }
    }
}

#[test]
fn every_subcommand_stands_on_the_first_page() {
    let subcommands = section(&pages()[0], "SUBCOMMANDS").to_owned();
    for sub in command().get_subcommands() {
        let entry = format!(".TP\n{}(1)\n", roff(&format!("leases-{}", sub.get_name())));
        assert!(subcommands.contains(&entry), "no {entry} in {subcommands}");
    }
}

#[test]
fn every_option_and_argument_has_an_entry_on_its_page() {
    let command = command();
    let commands = std::iter::once(&command).chain(command.get_subcommands());
    let mut count = 0;
    for (page, command) in pages().iter().zip(commands) {
        let options = section(page, "OPTIONS");
        for argument in command.get_arguments() {
            let name = match argument.get_long() {
                Some(long) => format!("\\fB{}\\fR", roff(&format!("--{long}"))),
                None => {
                    let names = argument.get_value_names().expect("it has a value");
                    format!("\\fI{}\\fR", roff(&names[0]))
                }
            };
            let heads = options.split(".TP\n").filter_map(|entry| entry.lines().next());
            let found = heads.filter(|head| head.contains(&name)).count();
            assert_eq!(found, 1, "{}: {name} in {options}", page.file);
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn examples_stand_a_line_each_as_they_are_typed() {
    for (page, command) in pages().iter().skip(1).zip(command().get_subcommands()) {
        let Some(examples) = command.get_after_help() else { continue };
        let lines: Vec<_> = examples.to_string().lines().skip(1).map(roff).collect();
        let expected = format!(".nf\n{}\n.fi", lines.join("\n"));
        assert!(
            section(page, "EXAMPLES").contains(&expected),
            "{}: {expected}\n{}",
            page.file,
            page.text
        );
    }
}

#[test]
fn every_status_that_a_command_speaks_of_is_explained() {
    let explained = section(&pages()[0], "EXIT STATUS").to_owned();
    let statuses = crate::failure::STATUSES.map(|(status, _)| status);
    for status in statuses {
        assert!(explained.contains(&format!(".TP\n\\fB{status}\\fR\n")), "{explained}");
    }
    for command in command().get_subcommands() {
        let said = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        let numbers = said.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        for number in numbers.filter(|number| (64..=78).contains(number)) {
            assert!(statuses.contains(&number), "{}: {number}", command.get_name());
        }
    }
}

#[test]
fn a_table_in_a_help_text_is_not_filled() {
    let options = section(&pages()[0], "OPTIONS").to_owned();
    let table = options.split(".nf\n").nth(1).and_then(|rest| rest.split(".fi\n").next());
    let lines: Vec<_> = table.expect("the kinds of URL").lines().collect();
    assert_eq!(lines.len(), 7, "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("  ")), "{lines:?}");
    assert!(!options.contains("\n\n"), "an empty line: {options}");
}
