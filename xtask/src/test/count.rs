//! How many tests passed and failed, read from what a test runner printed.

use std::fmt;
use std::ops::Add;

/// Passed and failed; what was ignored is neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

impl Count {
    pub(super) const PASSED: Count = Count { passed: 1, failed: 0 };
    pub(super) const FAILED: Count = Count { passed: 0, failed: 1 };
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The sum of every summary in the output: nextest's `Summary […]` lines, or where it has none the
/// `test result:` lines of Rust's own test harness. nextest shows those of tests that failed too.
pub(super) fn of_output(output: &str) -> Count {
    let lines: Vec<_> = output.lines().map(without_escapes).collect();
    let sum = |of: fn(&str) -> Option<Count>| {
        lines.iter().filter_map(|line| of(line.trim_start())).reduce(Add::add)
    };
    sum(of_summary).or_else(|| sum(of_result)).unwrap_or_default()
}

/// `Summary [   1.2s] 5 tests run: 3 passed (1 slow), 1 failed, 1 timed out, 2 skipped`
fn of_summary(line: &str) -> Option<Count> {
    let (_, counts) = line.strip_prefix("Summary [")?.split_once("run:")?;
    Some(of_list(counts))
}

/// `test result: FAILED. 3 passed; 1 failed; 0 ignored; …; finished in 0.01s`
fn of_result(line: &str) -> Option<Count> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    Some(of_list(counts))
}

/// Sums a list such as `3 passed (1 slow), 1 failed, 1 timed out`.
fn of_list(list: &str) -> Count {
    without_parentheses(list).split([',', ';']).map(of_item).fold(Count::default(), Add::add)
}

fn of_item(item: &str) -> Count {
    let Some((number, what)) = item.trim().split_once(' ') else { return Count::default() };
    let Ok(number) = number.parse() else { return Count::default() };
    match what.trim() {
        "passed" => Count { passed: number, failed: 0 },
        "failed" | "exec failed" | "timed out" => Count { passed: 0, failed: number },
        _ => Count::default(),
    }
}

/// What stands in parentheses tells a count's parts, and they are in it already.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let outside = |c: &char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(outside).collect()
}

/// The line without its colours: an escape character, a bracket, and all up to a letter.
fn without_escapes(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        text.push_str(end.and_then(|end| part.get(end + 1..)).unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(output: &str) -> (u64, u64) {
        let count = of_output(output);
        (count.passed, count.failed)
    }

    #[test]
    fn nextest_summaries_are_read() {
        let all = "------------\n     Summary [   0.012s] 5 tests run: 5 passed, 2 skipped\n";
        assert_eq!(counted(all), (5, 0));
        let some = "Summary [ 61.0s] 9 tests run: 4 passed (2 slow, 1 leaky), 2 failed \
                    (1 due to being leaky), 1 exec failed, 2 timed out, 0 skipped";
        assert_eq!(counted(some), (4, 5));
        let cut = "     Summary [   0.1s] 3/10 tests run: 2 passed, 1 failed, 0 skipped";
        assert_eq!(counted(cut), (2, 1));
        assert_eq!(counted("     Summary [   0.1s] 1 test run: 1 passed, 0 skipped"), (1, 0));
    }

    #[test]
    fn what_a_failed_test_printed_is_not_counted_again() {
        let output = "  stdout ---\n    test result: FAILED. 0 passed; 1 failed; 0 ignored\n\
            Summary [ 1.0s] 3 tests run: 2 passed, 1 failed, 0 skipped\n";
        assert_eq!(counted(output), (2, 1));
    }

    #[test]
    fn harness_results_are_summed() {
        let output = "running 3 tests\ntest a ... ok\n\n\
            test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; \
            finished in 0.01s\n\n\
            test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(counted(output), (4, 2));
    }

    #[test]
    fn colours_do_not_matter() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [ 0.1s] \u{1b}[1m2\u{1b}[0m tests run: \
                    \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped";
        assert_eq!(counted(line), (2, 0));
    }

    #[test]
    fn other_lines_count_nothing() {
        let output = "test passed ... ok\nerror: 1 failed\nSummary: 3 passed\ntest result: odd\n";
        assert_eq!(counted(output), (0, 0));
    }

    #[test]
    fn the_last_line_has_both_numbers() {
        assert_eq!(Count { passed: 12, failed: 0 }.to_string(), "12 passed, 0 failed");
    }
}
