//! `leases run --policy`, as it is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use leases::{Key, Kind, Leases, Name};
use tempfile::TempDir;

use crate::kept::Kept;
use crate::{Ran, leases, probe};

/// A folder with one file of policies in it.
struct Policies {
    folder: TempDir,
}

impl Policies {
    fn new(text: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("plugins.toml"), text).expect("it is written");
        Policies { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("plugins.toml")
    }

    fn shown(&self) -> String {
        self.path().display().to_string()
    }

    /// What the plugin can do by this file.
    fn run(&self, plugin: &str, args: &[&str]) -> Ran {
        run(&self.path(), plugin, args)
    }
}

fn run(file: &Path, plugin: &str, args: &[&str]) -> Ran {
    let mut command = leases();
    command.args(["run", &probe(), "--plugin", plugin, "--policy"]).arg(file);
    Ran::to_its_end(command.args(args))
}

/// Two plugins with the same names: each in a namespace of its own, and both in one.
const TWO: &str = r#"
[plugins.one]
[[plugins.one.grants]]
names = "jobs/*"
prefix = "one/"
[[plugins.one.grants]]
names = "shared"
primitives = ["lease"]

[plugins.two]
wait-max = "100ms"
[[plugins.two.grants]]
names = "jobs/*"
prefix = "two/"
[[plugins.two.grants]]
names = "shared"
primitives = ["lease"]
"#;

#[test]
fn a_policy_gives_exactly_its_names_and_primitives() {
    let policies = Policies::new(TWO);
    for (operation, name) in [("lease", "jobs/1"), ("semaphore", "jobs/1"), ("lease", "shared")] {
        let ran = policies.run("one", &["--", operation, name]);
        assert_eq!((ran.status, &*ran.err), (0, ""), "{operation} {name}");
    }
    for (operation, name) in [
        ("lease", "jobs"),
        ("lease", "one/jobs/1"),
        ("lease", "two/jobs/1"),
        ("lease", "Shared"),
        ("semaphore", "shared"),
        ("admit", "shared"),
    ] {
        let ran = policies.run("one", &["--", operation, name]);
        let denied = format!("probe: {operation}: denied: this plugin may not use this name\n");
        assert_eq!((ran.status, ran.err), (1, denied), "{operation} {name}");
    }
}

#[test]
fn a_plugin_without_grants_is_denied_everything() {
    let policies = Policies::new("[plugins.one]\n");
    for operation in ["lease", "semaphore", "admit", "current"] {
        policies.run("one", &["--", operation, "a"]).refused(1, "denied");
    }
}

/// A plugin that holds a name until there is a file.
struct Holding {
    child: Child,
    done: PathBuf,
}

impl Holding {
    /// Starts it, and returns once the name is held where it is kept.
    async fn start(kept: &Kept, policies: &Policies, name: &str, kept_name: &str) -> Self {
        let mut command = leases();
        command.args(["run", &probe(), "--backend", &kept.url(), "--plugin", "one"]);
        command.arg("--policy").arg(policies.path());
        command.arg("--dir").arg(format!("{}::/done", policies.folder.path().display()));
        command.args(["--", "exit", name, "/done/now"]).stdout(Stdio::null());
        let child = command.spawn().expect("it runs");
        let held = Key { kind: Kind::Lease, name: Name::new(kept_name).expect("a name") };
        let leases: Leases = kept.connect().await;
        while leases.inspect(&held).await.expect("it answers").holders.is_empty() {
            tokio::task::yield_now().await;
        }
        Holding { child, done: policies.folder.path().join("now") }
    }

    fn end(mut self) {
        fs::write(&self.done, "").expect("it is written");
        self.child.wait().expect("it is ours");
        fs::remove_file(&self.done).expect("it is there");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_exclude_each_other_where_their_policies_meet_and_nowhere_else() {
    let (kept, policies) = (Kept::in_sqlite().await, Policies::new(TWO));
    let two_takes =
        |name: &str| policies.run("two", &["--backend", &kept.url(), "--", "lease", name]);
    let one = Holding::start(&kept, &policies, "jobs/1", "one/jobs/1").await;
    let ran = two_takes("jobs/1");
    assert_eq!((ran.status, &*ran.err), (0, ""), "each has a namespace of its own");
    one.end();

    let one = Holding::start(&kept, &policies, "shared", "shared").await;
    let ran = two_takes("shared");
    assert_eq!((ran.status, &*ran.out), (1, ""), "both have this one");
    assert!(ran.err.starts_with("probe: lease: not acquired"), "{}", ran.err);
    one.end();
    assert_eq!(two_takes("shared").status, 0);
}

#[test]
fn a_quota_of_the_file_is_kept() {
    let policy = "[plugins.p]\nheld = 1\n[[plugins.p.grants]]\nnames = \"*\"\n";
    let ran = Policies::new(policy).run("p", &["--", "wait", "a", "b"]);
    assert_eq!((ran.status, &*ran.out), (1, "took\n"));
    assert!(ran.err.starts_with("probe: wait: over quota"), "{}", ran.err);
}

#[test]
fn a_file_that_is_no_policy_is_65_and_names_the_line() {
    for (text, line, why) in [
        ("[plugins.importer\n", 1, "unclosed table, expected `]`"),
        ("[plugins.importer]\nholds = 1\n", 2, "unknown field `holds`, expected one of"),
        (
            "[plugins.importer]\n[[plugins.importer.grants]]\nnames = \"jobs/*\"\nlimit-max = 0\n",
            4,
            "plugin importer: grant of jobs/*: limit-max: 1 to 1000, not 0",
        ),
        ("[plugins.importer]\nttl-max = \"soon\"\n", 2, "plugin importer: ttl-max: \"soon\" is no"),
        (
            "[plugins.importer]\n\n[[plugins.importer.grants]]\nnames = \"a*\"\n\
             [[plugins.importer.grants]]\nnames = \"ab\"\n",
            6,
            "plugin importer: grant of ab: names: overlaps with the grant of a*",
        ),
        ("[plugins.\"a/b\"]\n", 1, "plugin a/b: invalid plugin: 1 to 64 of A-Z a-z 0-9 . _ -"),
    ] {
        let policies = Policies::new(text);
        let ran = policies.run("importer", &["--", "lease", "jobs/1"]);
        ran.refused(65, why);
        let begins = format!("leases: {}:{line}: {why}", policies.shown());
        assert!(ran.err.starts_with(&begins), "{:?} does not begin with {begins:?}", ran.err);
    }
    let policies = Policies::new(b"[plugins.importer]\n# \xff\n");
    let ran = policies.run("importer", &[]);
    ran.refused(65, &format!("leases: {}:2: not UTF-8\n", policies.shown()));
}

#[test]
fn a_policy_that_is_not_there_or_has_no_such_plugin_is_64() {
    let ran = run(Path::new("no-such-file.toml"), "importer", &[]);
    ran.refused(64, "leases: --policy no-such-file.toml: No such file or directory");
    let policies = Policies::new(TWO);
    let shown = policies.shown();
    let ran = policies.run("importer", &[]);
    ran.refused(64, &format!("leases: --plugin importer: not in {shown}, which has one, two\n"));
    let nobody = Policies::new("");
    let why = format!("--plugin importer: not in {}, which has none\n", nobody.shown());
    nobody.run("importer", &[]).refused(64, &why);
    let both = policies.run("one", &["--allow", "jobs/*"]);
    both.refused(64, "the argument '--policy <FILE>' cannot be used with '--allow <PATTERN>'");
}

/// A backend that can't be reached would be 69, and a component that is none 65.
#[test]
fn a_policy_is_checked_before_anything_else_is_done() {
    let policies = Policies::new(TWO);
    let mut command = leases();
    command.args(["run", "no-such-file.wasm", "--backend", "redis://127.0.0.1:1"]);
    command.args(["--plugin", "importer", "--policy"]).arg(policies.path());
    Ran::to_its_end(&mut command).refused(64, "--plugin importer: not in ");
}

#[test]
fn names_that_are_allowed_twice_are_64() {
    let mut command = leases();
    command.args(["run", &probe(), "--allow", "jobs/*", "--allow", "jobs/1"]);
    let ran = Ran::to_its_end(&mut command);
    ran.refused(64, "--allow: grant of jobs/1: names: overlaps with the grant of jobs/*\n");
}

/// What the help shows is a policy.
#[test]
fn the_policy_in_the_help_is_one() {
    let help = Ran::to_its_end(leases().args(["run", "--help"]));
    assert!(help.out.contains("leases run importer.wasm --plugin importer --policy plugins.toml"));
    let lines = help.out.lines().map(str::trim);
    let shown = lines.skip_while(|line| !line.starts_with("[plugins.importer]"));
    let shown: Vec<&str> = shown.take_while(|line| !line.starts_with("A plugin")).collect();
    assert!(shown.iter().any(|line| line.starts_with("limit-max = 4")), "{shown:?}");
    let policies = Policies::new(shown.join("\n"));
    let ran = policies.run("importer", &["--", "semaphore", "jobs/1"]);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (0, "slot 0\n", ""));
    policies.run("importer", &["--", "lease", "jobs/1"]).refused(1, "denied");
}
