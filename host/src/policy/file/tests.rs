//! What a file may say, and what is wrong with others, to the line.

use super::Policies;

/// The error of a file: its line and its text.
fn error(text: &str) -> (usize, String) {
    let error = Policies::from_toml(text).expect_err(text);
    (error.line().expect("a line"), error.to_string())
}

/// A plugin `a` whose settings are these lines, with one grant of `x`.
fn plugin(lines: &str) -> String {
    format!("[plugins.a]\n{lines}\n[[plugins.a.grants]]\nnames = \"x\"\n")
}

/// A plugin `a` with a grant whose settings are these lines.
fn grant(lines: &str) -> String {
    format!("[plugins.a]\n[[plugins.a.grants]]\n{lines}\n")
}

#[test]
fn a_file_without_plugins_grants_nothing() {
    let policies = Policies::from_toml("# nobody yet\n").unwrap();
    assert_eq!(policies.iter().count(), 0);
}

#[test]
fn what_is_no_toml_or_no_setting_is_an_error_with_its_line() {
    for (text, line) in [
        ("[plugins.a", 1),
        ("\n\nplugin = 1", 3),
        ("[plugins.a]\nheld = 1\nhold = 2\n", 3),
        ("[plugins.a]\nheld = -1\n", 2),
        ("[plugins.a]\nheld = \"8\"\n", 2),
        ("[plugins.a]\nheld = 1\nheld = 2\n", 3),
        ("[plugins.a]\n[[plugins.a.grants]]\nnames = \"x\"\nname = \"y\"\n", 4),
        ("[plugins.a]\n\n[[plugins.a.grants]]\nprimitives = [\"lease\"]\n", 3),
        ("[plugins.a]\n[[plugins.a.grants]]\nnames = \"x\"\nprimitives = [\"lock\"]\n", 4),
        ("[plugins.a]\n[plugins.a]\n", 2),
    ] {
        assert_eq!(error(text).0, line, "{text}: {}", error(text).1);
    }
    assert!(error("[plugins.a]\nhold = 2\n").1.contains("unknown field `hold`"));
}

#[test]
fn a_duration_that_is_none_is_an_error_with_its_line() {
    for bad in ["5", "5 parsecs", "", "-1s", "1e9s", "\\u0000"] {
        for setting in ["ttl-max", "hold-max", "wait-max"] {
            let (line, text) = error(&plugin(&format!("held = 1\n{setting} = \"{bad}\"")));
            assert_eq!(line, 3, "{bad}");
            assert!(text.starts_with(&format!("plugin a: {setting}: ")), "{text}");
            assert!(text.ends_with("is no duration, as are 500ms, 30s, 5m, 1h"), "{text}");
        }
    }
    let (line, text) = error(&grant("names = \"x\"\nttl-max = \"soon\""));
    let wanted =
        "plugin a: grant of x: ttl-max: \"soon\" is no duration, as are 500ms, 30s, 5m, 1h";
    assert_eq!((line, text.as_str()), (4, wanted));
}

#[test]
fn a_bound_that_nothing_could_keep_is_an_error_with_its_line() {
    for (lines, told) in [
        ("held = 0", "held: 0 lets no grant of a hold through"),
        ("held = 2\nwaiting = 3", "waiting: 3 are never reached: an ask counts as held too, of 2"),
        ("acquires-per-second = 0", "acquires-per-second: 1 or more, not 0"),
        ("calls-per-second = 0", "calls-per-second: 1 or more, not 0"),
        ("names-per-day = 0", "names-per-day: 1 or more, not 0"),
        ("ttl-max = \"9ms\"", "ttl-max: 10ms to 86400s, not 9ms"),
        ("ttl-max = \"25h\"", "ttl-max: 10ms to 86400s, not 90000s"),
        ("hold-max = \"9ms\"", "hold-max: 10ms to 2592000s, not 9ms"),
        ("hold-max = \"31days\"", "hold-max: 10ms to 2592000s, not 2678400s"),
        ("limit-max = 0", "limit-max: 1 to 1000, not 0"),
        ("limit-max = 1001", "limit-max: 1 to 1000, not 1001"),
        ("owner-bytes-max = 129", "owner-bytes-max: 0 to 128, not 129"),
        ("note-bytes-max = 257", "note-bytes-max: 0 to 256, not 257"),
    ] {
        let last = lines.lines().count() + 1;
        assert_eq!(error(&plugin(lines)), (last, format!("plugin a: {told}")), "{lines}");
    }
    for lines in [
        "held = 1",
        "ttl-max = \"10ms\"",
        "ttl-max = \"24h\"",
        "hold-max = \"30days\"",
        "limit-max = 1000",
        "owner-bytes-max = 128",
        "note-bytes-max = 0",
        "wait-max = \"0s\"",
        "held = 2\nwaiting = 2",
        "held = 2\nwaiting = 0",
    ] {
        assert!(Policies::from_toml(&plugin(lines)).is_ok(), "{lines}");
    }
    assert!(Policies::from_toml("[plugins.a]\nheld = 0\n").is_ok(), "it may ask for nothing");
}

#[test]
fn a_grant_that_lets_nothing_through_is_an_error_with_its_line() {
    let long = format!("names = \"{}\"\nprefix = \"importer/\"", "x".repeat(504));
    for (lines, line, told) in [
        ("names = \"\"", 3, "grant of : names: 1 to 512 bytes, not 0"),
        ("names = \"a*b\"", 3, "grant of a*b: names: a * only at the end, not \"a*b\""),
        ("names = \"x\"\nprimitives = []", 4, "grant of x: primitives: none: it grants nothing"),
        ("names = \"x\"\nprefix = \"\"", 4, "grant of x: prefix: 1 to 256 bytes, not 0"),
        (
            "names = \"x\"\nprefix = \"imp\"",
            4,
            "grant of x: prefix: a text that ends in / or :, not \"imp\"",
        ),
        ("names = \"x\"\nlimit-max = 0", 4, "grant of x: limit-max: 1 to 1000, not 0"),
        (
            "names = \"x\"\nprimitives = [\"lease\", \"fence\"]\nlimit-max = 4",
            5,
            "grant of x: limit-max: bounds nothing that is granted",
        ),
        (
            "names = \"x\"\nprimitives = [\"fence\"]\nwait-max = \"1s\"",
            5,
            "grant of x: wait-max: bounds nothing that is granted",
        ),
    ] {
        assert_eq!(error(&grant(lines)), (line, format!("plugin a: {told}")), "{lines}");
    }
    let (line, text) = error(&grant(&long));
    assert_eq!(line, 4);
    assert!(text.ends_with("prefix: no name fits: a name has at most 512 bytes"), "{text}");
}

#[test]
fn grants_that_overlap_are_an_error_at_the_second() {
    let two = |first: &str, second: &str| {
        format!("[plugins.a]\n[[plugins.a.grants]]\n{first}\n[[plugins.a.grants]]\n{second}\n")
    };
    for (first, second) in [
        ("names = \"x\"", "names = \"x\""),
        ("names = \"x*\"", "names = \"xy\""),
        ("names = \"xy\"", "names = \"x*\""),
        ("names = \"*\"", "names = \"x*\""),
        ("names = \"x*\"", "names = \"xy\"\nprimitives = [\"lease\"]"),
        // Two names of the plugin's own would be one.
        ("names = \"x*\"\nprefix = \"p/\"", "names = \"p/*\""),
    ] {
        let (line, text) = error(&two(first, second));
        assert_eq!(line, first.lines().count() + 4, "{text}");
        assert!(text.contains(": names: overlaps with the grant of "), "{text}");
    }
    for (first, second) in [
        ("names = \"x\"", "names = \"y\""),
        ("names = \"x*\"", "names = \"y*\""),
        ("names = \"x\"\nprimitives = [\"lease\"]", "names = \"x*\"\nprimitives = [\"fence\"]"),
        ("names = \"x\"\nprefix = \"p/\"", "names = \"y\"\nprefix = \"p/\""),
    ] {
        assert!(Policies::from_toml(&two(first, second)).is_ok(), "{first} {second}");
    }
}

#[test]
fn a_namespace_within_another_plugins_is_an_error() {
    let two = |of_b: &str| {
        format!(
            "{}\n[[plugins.b.grants]]\nnames = \"*\"\nprefix = \"{of_b}\"\n",
            grant("names = \"*\"\nprefix = \"a/\"")
        )
    };
    let (line, text) = error(&two("a/b/"));
    assert_eq!((line, text.as_str()), (8, "plugin b: grant of *: prefix: within that of a"));
    assert!(Policies::from_toml(&two("b/")).is_ok());
    assert!(Policies::from_toml(&two("a/")).is_ok(), "that is how two share one");
}

#[test]
fn a_plugins_identity_is_checked() {
    let (line, text) = error("\n[plugins.\"a/b\"]\n");
    assert_eq!(line, 2);
    assert_eq!(text, "plugin a/b: invalid plugin: 1 to 64 of A-Z a-z 0-9 . _ -");
    for text in ["[plugins.\"a\\nb\"]", &grant("names = \"a\\nb\"")] {
        let told = error(text).1;
        assert!(told.contains(r"a\nb: ") && told.lines().count() == 1, "{told}");
    }
}
