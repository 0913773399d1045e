//! `leases run --metrics`: what is counted agrees with what the guests did.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use leases_tests::guests;
use leases_tests::servers::until;

use crate::kept::Kept;
use crate::sharing::{rows, tables};
use crate::{Ran, leases, probe};

/// How many rows the importer asks its guard for at once.
const BATCH: usize = 50;
const INSTANCES: usize = 4;

/// A demo's command while it runs: what its guests printed, and where its metrics are.
struct Demo {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
    address: String,
}

impl Demo {
    fn start(kept: &Kept, out: &std::path::Path) -> Self {
        let mut command = leases();
        command.args(["run", "--backend", &kept.url(), "--metrics", "127.0.0.1:0"]);
        command.args(["--instances", &INSTANCES.to_string(), "--allow", "import:*"]);
        command.args(["--allow", "source:*", "--dir"]);
        command.arg(format!("{}::/tables", tables().display())).arg("--dir");
        command.arg(format!("{}::/out", out.display())).arg(guests::example("importer"));
        command.args(["--", "--wait", "600", "--batch", &BATCH.to_string()]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let said = Arc::<Mutex<Vec<String>>>::default();
        let hears = Arc::clone(&said);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                hears.lock().unwrap().push(line.expect("UTF-8"));
            }
        });
        let mut first = String::new();
        BufReader::new(stderr).read_line(&mut first).expect("it says where");
        let address = first.trim().strip_prefix("leases: metrics at http://").expect("as it says");
        let address = address.strip_suffix("/metrics").expect("as it says").to_owned();
        Demo { child, said, address }
    }

    /// How often the guests have said this so far.
    fn said(&self, what: &str) -> u64 {
        let said = self.said.lock().unwrap();
        said.iter().filter(|line| line.split('\t').next() == Some(what)).count() as u64
    }

    /// The tables that were imported so far.
    fn imported(&self) -> BTreeSet<String> {
        let said = self.said.lock().unwrap();
        let imported = said.iter().filter_map(|line| line.strip_prefix("imported\t"));
        imported.filter_map(|rest| rest.split('\t').next()).map(str::to_owned).collect()
    }

    fn scrape(&self) -> Scrape {
        let mut connection = TcpStream::connect(&self.address).expect("it listens");
        connection.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("it reads");
        let mut text = String::new();
        connection.read_to_string(&mut text).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.0 200 OK"), "{head}");
        assert!(head.to_lowercase().contains("content-type: text/plain; version=0.0.4"), "{head}");
        Scrape::read(body)
    }
}

/// The value of each series, by its name and labels.
struct Scrape {
    series: BTreeMap<String, f64>,
    types: BTreeMap<String, String>,
    helped: BTreeSet<String>,
}

impl Scrape {
    fn read(body: &str) -> Self {
        let (mut series, mut types, mut helped) =
            (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for line in body.lines().filter(|line| !line.is_empty()) {
            if let Some(of) = line.strip_prefix("# TYPE ") {
                let (name, kind) = of.split_once(' ').expect("a type");
                types.insert(name.to_owned(), kind.to_owned());
            } else if let Some(of) = line.strip_prefix("# HELP ") {
                let (name, what) = of.split_once(' ').expect("a text");
                assert!(!what.trim().is_empty(), "{line}");
                helped.insert(name.to_owned());
            } else {
                let (name, value) = line.rsplit_once(' ').expect("a value");
                series.insert(name.to_owned(), value.parse().expect("a number"));
            }
        }
        Scrape { series, types, helped }
    }

    #[track_caller]
    fn of(&self, series: &str) -> u64 {
        let value = self.series.get(series);
        *value.unwrap_or_else(|| panic!("no {series} in {:?}", self.series)) as u64
    }

    fn acquires(&self, kind: &str, outcome: &str) -> u64 {
        self.of(&format!("leases_acquires_total{{kind=\"{kind}\",outcome=\"{outcome}\"}}"))
    }

    fn ends(&self, kind: &str, reason: &str) -> u64 {
        self.of(&format!("leases_holds_ended_total{{kind=\"{kind}\",reason=\"{reason}\"}}"))
    }

    /// All series of one metric together.
    fn sum(&self, metric: &str) -> u64 {
        let of = |name: &&String| name.split('{').next() == Some(metric);
        self.series.iter().filter(|(name, _)| of(name)).map(|(_, value)| *value as u64).sum()
    }
}

/// The test holds one table's lease; once all else is done, every instance waits for it, and the demo
/// stands still while it is looked at.
async fn every_counter_agrees_with_the_demo(kept: Kept) {
    let out = tempfile::tempdir().expect("a folder");
    let leases = kept.connect().await;
    let withheld = "europe";
    let request = leases.lease(format!("import:{withheld}")).unwrap().keep_alive();
    let mut ours = request.ttl(Duration::from_secs(60)).acquire().await.unwrap();
    let mut demo = Demo::start(&kept, out.path());
    let seen = until("every instance waits", || async {
        let seen = demo.scrape();
        // It serves before it has connected.
        let waiters = *seen.series.get("leases_waiters{kind=\"lease\"}")?;
        let waits = waiters == INSTANCES as f64;
        let printed = demo.said("took") + demo.said("skipped");
        let is_still = seen.of("leases_holds{kind=\"lease\"}") == 0
            && seen.acquires("lease", "granted") == printed
            && seen.of("leases_give_backs_total{outcome=\"done\"}") == printed;
        (waits && is_still).then_some(seen)
    })
    .await;

    let tables = rows();
    let imported: Vec<_> = tables.iter().filter(|(table, _)| table != withheld).collect();
    assert_eq!(demo.imported(), imported.iter().map(|(table, _)| table.clone()).collect());
    let (took, skipped) = (demo.said("took"), demo.said("skipped"));
    assert_eq!(took, 11);

    // A lease for each table that an instance took or found done, and all of them given back.
    assert_eq!(seen.acquires("lease", "granted"), took + skipped);
    assert_eq!(seen.ends("lease", "released"), took + skipped);
    assert_eq!(seen.of("leases_hold_duration_seconds_count{kind=\"lease\"}"), took + skipped);
    assert_eq!(seen.of("leases_give_backs_total{outcome=\"given-up\"}"), 0);
    // Each instance has tried all twelve, and waits for each that was not granted at once.
    let refused = seen.acquires("lease", "not-acquired");
    let tried = (INSTANCES * tables.len()) as u64;
    assert!(refused >= INSTANCES as u64 && refused + took + skipped >= tried, "{refused}");
    let stood = seen.of("leases_line_position_count{kind=\"lease\"}");
    assert!((INSTANCES as u64..=refused).contains(&stood), "{stood} of {refused}");
    // A place at the source for each import, a verdict before, after and for each batch.
    assert_eq!(seen.acquires("semaphore", "granted"), took);
    assert_eq!(seen.ends("semaphore", "released"), took);
    let verdicts = imported.iter().map(|(_, rows)| 2 + rows.div_ceil(BATCH) as u64);
    let admitted = "leases_guard_verdicts_total{verdict=\"admitted\"}";
    assert_eq!(seen.of(admitted), verdicts.sum::<u64>());
    assert_eq!(seen.sum("leases_guard_verdicts_total"), seen.of(admitted));
    assert_eq!(
        seen.sum("leases_acquires_total"),
        took + skipped + refused + took,
        "and no other outcome"
    );
    assert_eq!(seen.sum("leases_holds_ended_total"), took + skipped + took, "and no loss");
    assert_eq!(seen.sum("leases_backend_errors_total"), 0);
    let asks = "leases_backend_duration_seconds_count{operation=\"ask\"}";
    assert!(seen.of(asks) >= seen.sum("leases_acquires_total") + INSTANCES as u64);
    let admits = "leases_backend_duration_seconds_count{operation=\"admit\"}";
    assert_eq!(seen.of(admits), seen.of(admitted));
    is_well_formed(&seen);

    ours.release().await.unwrap();
    assert_eq!(demo.child.wait().expect("it ends").code(), Some(0));
    assert_eq!(demo.imported().len(), tables.len());
}

/// Each metric has a type and a text, and no series says a name or an owner.
fn is_well_formed(seen: &Scrape) {
    for series in seen.series.keys() {
        let name = series.split('{').next().expect("a name");
        let parts = ["_bucket", "_sum", "_count"];
        let whole = parts.iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
        let metric = [name, whole].into_iter().find(|name| seen.types.contains_key(*name));
        let metric = metric.unwrap_or_else(|| panic!("no type of {series}"));
        assert!(seen.helped.contains(metric), "no help of {series}");
        assert!(!series.contains("import") && !series.contains("source"), "{series}");
    }
    assert!(seen.types.values().any(|kind| kind == "histogram"), "buckets, not quantiles");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_counter_agrees_with_the_demo_over_redis() {
    every_counter_agrees_with_the_demo(Kept::in_redis().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_counter_agrees_with_the_demo_over_postgres() {
    every_counter_agrees_with_the_demo(Kept::in_postgres().await).await;
}

#[test]
fn an_address_that_is_taken_or_none_is_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    for (address, why) in
        [(&*taken, "--metrics"), ("nowhere", "--metrics"), ("1.2.3.4", "--metrics")]
    {
        let ran = Ran::to_its_end(leases().args(["run", &probe(), "--metrics", address]));
        ran.refused(64, why);
    }
}

/// Messages and what the library logs: each line is an object that says when, how grave and what.
#[test]
fn lines_are_objects_where_a_collector_reads_them() {
    let gone = "redis://127.0.0.1:1?timeout=300ms";
    let mut command = leases();
    command.args(["run", &probe(), "--log", "json", "--backend", gone]);
    let ran = Ran::to_its_end(command.env("LEASES_LOG", "debug"));
    assert_eq!(ran.status, 69);
    let mut seen = BTreeSet::new();
    for line in ran.err.lines() {
        let object: serde_json::Value = serde_json::from_str(line).expect("an object");
        for field in ["timestamp", "level", "message", "target"] {
            assert!(object[field].is_string(), "{field} of {line}");
        }
        seen.insert(object["level"].as_str().unwrap_or_default().to_owned());
    }
    assert!(seen.is_superset(&["DEBUG", "ERROR"].map(str::to_owned).into()), "{seen:?}");
}
