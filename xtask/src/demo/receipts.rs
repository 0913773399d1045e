//! Whether the output says that a table was imported exactly once.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};

use super::tables::Table;

/// What is wrong with a table's output, if anything is.
///
/// There must be one receipt, of this table; as many rows as the receipt says and as the source
/// has; and nothing left of an import that did not end.
pub(super) fn fault(table: &Table, out: &Path) -> Result<Option<String>> {
    let Some(receipts) = read(out, &table.name, "receipt")? else {
        return Ok(Some("not imported".to_owned()));
    };
    let Some(rows) = read(out, &table.name, "tsv")? else {
        return Ok(Some("a receipt, but no rows".to_owned()));
    };
    if out.join(format!("{}.rows", table.name)).exists() {
        return Ok(Some("abandoned rows are left".to_owned()));
    }
    Ok(mismatch(table, &receipts, rows.lines().count()))
}

fn mismatch(table: &Table, receipts: &str, written: usize) -> Option<String> {
    let mut lines = receipts.lines();
    let (Some(receipt), None) = (lines.next(), lines.next()) else {
        return Some(format!("{} receipts", receipts.lines().count()));
    };
    let Some((name, rows)) = name_and_rows(receipt) else {
        return Some(format!("not a receipt: {receipt}"));
    };
    if name != table.name {
        return Some(format!("a receipt of {name}"));
    }
    let source = table.rows;
    (rows != source || written != source)
        .then(|| format!("{source} rows in the source, {rows} in the receipt, {written} written"))
}

fn name_and_rows(receipt: &str) -> Option<(&str, usize)> {
    let mut fields = receipt.split('\t');
    let name = fields.next()?;
    let _instance: u32 = fields.next()?.parse().ok()?;
    let _fence: u64 = fields.next()?.parse().ok()?;
    let rows = fields.next()?.parse().ok()?;
    fields.next().is_none().then_some((name, rows))
}

/// A table's file with this extension, if there is one.
pub(super) fn read(out: &Path, table: &str, extension: &str) -> Result<Option<String>> {
    let path = out.join(format!("{table}.{extension}"));
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(receipts: &str, written: usize) -> Option<String> {
        mismatch(&Table { name: "europe".to_owned(), rows: 3 }, receipts, written)
    }

    #[test]
    fn one_receipt_for_every_row_is_right() {
        assert_eq!(fault_of("europe\t1\t17\t3\n", 3), None);
    }

    #[test]
    fn anything_else_is_said() {
        let twice = fault_of("europe\t1\t17\t3\neurope\t2\t18\t3\n", 3);
        assert_eq!(twice.unwrap(), "2 receipts");
        assert_eq!(fault_of("", 3).unwrap(), "0 receipts");
        assert_eq!(fault_of("asia\t1\t17\t3\n", 3).unwrap(), "a receipt of asia");
        assert_eq!(fault_of("europe\t1\t17\n", 3).unwrap(), "not a receipt: europe\t1\t17");
        let counts = "3 rows in the source, 3 in the receipt, 2 written";
        assert_eq!(fault_of("europe\t1\t17\t3\n", 2).unwrap(), counts);
        let counts = "3 rows in the source, 4 in the receipt, 3 written";
        assert_eq!(fault_of("europe\t1\t17\t4\n", 3).unwrap(), counts);
    }
}
