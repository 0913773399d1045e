use std::fs;
use std::path::Path;

use super::*;
use crate::tables;

fn zone_rows(text: &str) -> Vec<String> {
    rows(text, Format::ZoneSource).unwrap().iter().map(ToString::to_string).collect()
}

fn zone_error(text: &str) -> String {
    format!("{:#}", rows(text, Format::ZoneSource).unwrap_err())
}

#[test]
fn rules_have_years_and_seconds() {
    let text = "Rule EU 1979 only - Sep lastSun 1:00u 1:00 S # a comment\n\
                Rule EU 1981 max  - Mar lastSun 1:00u 0    -\n\
                Rule EU 1977 1980 - Apr Sun>=1  1:00u -0:20 \"x y\"\n";
    let expected = [
        "rule\tEU\t1979\t1979\tSep\tlastSun\t1:00u\t3600\tS",
        "rule\tEU\t1981\tmax\tMar\tlastSun\t1:00u\t0\t-",
        "rule\tEU\t1977\t1980\tApr\tSun>=1\t1:00u\t-1200\tx y",
    ];
    assert_eq!(zone_rows(text), expected);
}

#[test]
fn an_era_with_an_end_is_continued() {
    let text = "# head\n\nZone Europe/X -0:01:15 - LMT 1847 Dec 1\n\
                \t\t\t0:00 GB %s 1968 Oct 27 # why\n\n\t\t\t1:00 - BST\n\
                Link Europe/X Europe/Y\n";
    let expected = [
        "zone\tEurope/X\t-75\t-\tLMT\t1847 Dec 1",
        "continuation\tEurope/X\t0\tGB\t%s\t1968 Oct 27",
        "continuation\tEurope/X\t3600\t-\tBST\t",
        "link\tEurope/X\tEurope/Y",
    ];
    assert_eq!(zone_rows(text), expected);
}

#[test]
fn leap_seconds_are_rows() {
    let text = "Leap\t1972\tJun\t30\t23:59:60\t+\tS\n";
    assert_eq!(zone_rows(text), ["leap\t1972 Jun 30\t23:59:60\t+\tS"]);
}

#[test]
fn tab_separated_fields_keep_their_spaces() {
    let text = "#code\tname\nGB\tBritain (UK)\nAQ\tAntarctica # south\n";
    let rows = rows(text, Format::TabSeparated).unwrap();
    assert_eq!(rows[0].to_string(), "entry\tGB\tBritain (UK)");
    assert_eq!(rows[1].to_string(), "entry\tAQ\tAntarctica # south");
    assert_eq!(rows.len(), 2);
}

#[test]
fn the_faulty_line_is_named() {
    assert_eq!(zone_error("\nRule EU 1979\n"), "line 2: Rule has 2 fields");
    assert_eq!(zone_error("0:00 - GMT\n"), "line 1: \"0:00\" begins no row");
    assert_eq!(zone_error("Zone A\n"), "line 1: an era has an offset, rules and a format");
    assert_eq!(zone_error("Zone A 0 - \"GMT\n"), "line 1: a quote that does not end");
    assert_eq!(zone_error("Zone A 0:60 - GMT\n"), "line 1: \"0:60\" is not a length of time");
    assert_eq!(zone_error("Zone A 0:0:0:0 - G\n"), "line 1: \"0:0:0:0\" is not a length of time");
    assert_eq!(zone_error("Zone A 0 - GMT 1847\n"), "the text ends before zone A does");
}

#[test]
fn every_table_has_a_row_per_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/importer/tables");
    let tables = tables::list(&folder).unwrap();
    let mut total = 0;
    for table in &tables {
        let text = fs::read_to_string(folder.join(table)).unwrap();
        let rows = rows(&text, Format::of(table).unwrap()).unwrap();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        assert_eq!(rows.len(), lines.filter(|line| !line.trim().is_empty()).count(), "{table}");
        total += rows.len();
    }
    assert_eq!((tables.len(), total), (12, 4903));
}
