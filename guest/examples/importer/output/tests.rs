use super::*;

/// A folder of its own for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("importer-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fence(number: u64) -> Fence {
    Fence::from_u64(number)
}

fn receipt(number: u64) -> Receipt {
    Receipt { instance: 3, fence: fence(number), rows: 1 }
}

#[test]
fn only_a_receipt_makes_it_imported() {
    let folder = Folder::new("receipt");
    let output = Output::new(&folder.0, "europe");
    let mut partial = output.begin(fence(7)).unwrap();
    partial.add(&[Row::Entry(vec!["a", "b"])]).unwrap();
    assert_eq!((partial.rows(), output.is_imported().unwrap()), (1, false));
    output.publish(partial).unwrap();
    assert!(!output.is_imported().unwrap());
    output.add_receipt(receipt(7)).unwrap();
    assert!(output.is_imported().unwrap());
    assert_eq!(folder.names(), ["europe.receipt", "europe.tsv"]);
    assert_eq!(fs::read_to_string(output.path("tsv")).unwrap(), "entry\ta\tb\n");
    assert_eq!(fs::read_to_string(output.path("receipt")).unwrap(), "europe\t3\t7\t1\n");
}

#[test]
fn a_second_import_would_be_seen() {
    let folder = Folder::new("second");
    let output = Output::new(&folder.0, "europe");
    output.add_receipt(receipt(7)).unwrap();
    output.add_receipt(receipt(8)).unwrap();
    let receipts = fs::read_to_string(output.path("receipt")).unwrap();
    assert_eq!(receipts, "europe\t3\t7\t1\neurope\t3\t8\t1\n");
}

#[test]
fn a_replaced_holder_cannot_publish() {
    let folder = Folder::new("replaced");
    let output = Output::new(&folder.0, "europe");
    let stale = output.begin(fence(7)).unwrap();
    let current = output.begin(fence(8)).unwrap();
    assert!(output.publish(stale).is_err());
    output.publish(current).unwrap();
    assert_eq!(folder.names(), ["europe.tsv"]);
}

#[test]
fn a_replaced_holder_that_begins_late_does_no_harm() {
    let folder = Folder::new("late");
    let output = Output::new(&folder.0, "europe");
    let current = output.begin(fence(8)).unwrap();
    let stale = output.begin(fence(7)).unwrap();
    output.publish(current).unwrap();
    assert_eq!(folder.names(), ["europe.rows", "europe.tsv"]);
    drop(stale);
}

#[test]
fn an_import_after_a_crash_replaces_the_rows() {
    let folder = Folder::new("crash");
    let output = Output::new(&folder.0, "europe");
    output.publish(output.begin(fence(7)).unwrap()).unwrap();
    let mut partial = output.begin(fence(8)).unwrap();
    partial.add(&[Row::Entry(vec!["a"])]).unwrap();
    output.publish(partial).unwrap();
    output.add_receipt(receipt(8)).unwrap();
    assert_eq!(fs::read_to_string(output.path("tsv")).unwrap(), "entry\ta\n");
    assert_eq!(fs::read_to_string(output.path("receipt")).unwrap(), "europe\t3\t8\t1\n");
}

#[test]
fn the_trap_springs_once() {
    let folder = Folder::new("trap");
    let output = Output::new(&folder.0, "europe");
    assert!(output.mark_trapped().unwrap());
    assert!(!output.mark_trapped().unwrap());
}
