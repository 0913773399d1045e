//! Statements, and scripts of them that are sent in one go.

#[cfg(feature = "mysql")]
use std::fmt::Write as _;

/// What differs from one database to the other in the text of a statement.
#[derive(Debug, Clone, Copy)]
pub(in crate::sql) struct Words {
    /// Begins a transaction which sees all that was committed before each of its statements, or
    /// before its first, where that one waits for all others to end.
    pub(in crate::sql) begin: &'static str,
    /// The time, in microseconds since 1970: as of the beginning of a statement.
    pub(in crate::sql) now: &'static str,
    /// Behind a SELECT: locks its rows until the transaction ends.
    pub(in crate::sql) lock: &'static str,
    /// The same, of those that nobody has locked.
    pub(in crate::sql) lock_free: &'static str,
    pub(in crate::sql) values: Values,
}

/// How values get to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum Values {
    /// Beside the text, which is remembered.
    #[cfg(feature = "sqlite")]
    Bound,
    /// In the text: several statements are one request. Texts are written as the digits of their
    /// bytes: nothing in them is ever read as SQL.
    #[cfg(feature = "mysql")]
    Written,
}

/// A statement, or several that follow one another.
#[derive(Debug)]
pub(super) struct Statement {
    pieces: Vec<Piece>,
    count: usize,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    /// The argument at this place.
    Argument(usize),
    Now,
}

/// A value that a statement is given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arg<'a> {
    Number(i64),
    MaybeNumber(Option<i64>),
    Bytes(&'a [u8]),
    MaybeBytes(Option<&'a [u8]>),
    /// The values of a list, with commas between them; one that nothing equals where it has none.
    List(&'a [&'a [u8]]),
}

/// A value beside the text.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sql) enum Value {
    Number(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

/// What is sent in one go.
#[derive(Debug, Default)]
pub(in crate::sql) struct Request {
    pub(in crate::sql) text: String,
    #[cfg(feature = "sqlite")]
    pub(in crate::sql) values: Vec<Value>,
    /// How many statements it has.
    pub(in crate::sql) count: usize,
}

/// Statements that are carried out in order; the first that fails is the last.
#[derive(Debug)]
pub(super) struct Script {
    words: Words,
    /// The time, where a test tells it.
    told_us: Option<i64>,
    requests: Vec<Request>,
    count: usize,
}

/// A request beyond this is followed by another one: a server has a bound on either.
const TEXT_MAX: usize = 1 << 20;
#[cfg(feature = "sqlite")]
const VALUES_MAX: usize = 10_000;

impl Statement {
    /// Reads a text with `?1` and so on for its arguments, `{now}`, `{lock}` and `{lock_free}`. Lines
    /// that begin with `--` are for readers here.
    pub(super) fn new(text: &str, words: &Words) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("--"));
        let text = lines.collect::<Vec<_>>().join(" ");
        let text = text.replace("{lock}", words.lock).replace("{lock_free}", words.lock_free);
        let text = text.trim().trim_end_matches(';');
        let mut pieces = Vec::new();
        for (place, part) in text.split("{now}").enumerate() {
            if place > 0 {
                pieces.push(Piece::Now);
            }
            let mut between = part.split('?');
            pieces.push(Piece::Text(between.next().unwrap_or_default().to_owned()));
            for behind in between {
                let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
                let (number, rest) = behind.split_at(end);
                let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                pieces.push(Piece::Argument(place.unwrap_or(usize::MAX)));
                pieces.push(Piece::Text(rest.to_owned()));
            }
        }
        Statement { pieces, count: 1 + text.matches(';').count() }
    }
}

impl Script {
    pub(super) fn new(words: &Words, told_us: Option<i64>) -> Self {
        Script { words: *words, told_us, requests: Vec::new(), count: 0 }
    }

    /// Adds a statement; answers the place of its answer.
    pub(super) fn add(&mut self, statement: &Statement, arguments: &[Arg<'_>]) -> usize {
        let (words, told_us) = (self.words, self.told_us);
        let request = self.request(statement.count);
        for piece in &statement.pieces {
            match piece {
                Piece::Text(text) => request.text.push_str(text),
                Piece::Now => match told_us {
                    None => request.text.push_str(words.now),
                    told_us => request.number(told_us, words.values),
                },
                Piece::Argument(place) => match arguments.get(*place) {
                    Some(argument) => request.argument(*argument, words.values),
                    None => request.text.push_str("NULL"),
                },
            }
        }
        let place = self.count;
        self.count += statement.count;
        place
    }

    /// Adds statements without arguments.
    pub(super) fn add_text(&mut self, text: &str) {
        let count = 1 + text.matches(';').count();
        self.request(count).text.push_str(text);
        self.count += count;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// How many statements it has.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn into_requests(self) -> Vec<Request> {
        self.requests
    }

    /// Where so many statements more are written.
    fn request(&mut self, count: usize) -> &mut Request {
        match self.requests.last_mut() {
            Some(request) if !request.is_full() => request.text.push_str("; "),
            _ => self.requests.push(Request::default()),
        }
        let last = self.requests.len() - 1;
        // One was pushed if there was none.
        #[expect(clippy::indexing_slicing)]
        let request = &mut self.requests[last];
        request.count += count;
        request
    }
}

impl Request {
    fn is_full(&self) -> bool {
        #[cfg(feature = "sqlite")]
        let has_many_values = self.values.len() > VALUES_MAX;
        #[cfg(not(feature = "sqlite"))]
        let has_many_values = false;
        self.text.len() > TEXT_MAX || has_many_values
    }

    fn argument(&mut self, argument: Arg<'_>, how: Values) {
        match argument {
            Arg::Number(number) => self.number(Some(number), how),
            Arg::MaybeNumber(number) => self.number(number, how),
            Arg::Bytes(bytes) => self.bytes(Some(bytes), how),
            Arg::MaybeBytes(bytes) => self.bytes(bytes, how),
            Arg::List([]) => self.text.push_str("NULL"),
            Arg::List(list) => {
                for (place, bytes) in list.iter().enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    self.bytes(Some(bytes), how);
                }
            }
        }
    }

    fn number(&mut self, number: Option<i64>, how: Values) {
        match how {
            #[cfg(feature = "sqlite")]
            Values::Bound => self.bind(Value::Number(number)),
            // Writing to a string does not fail.
            #[cfg(feature = "mysql")]
            Values::Written => match number {
                Some(number) => drop(write!(self.text, "{number}")),
                None => self.text.push_str("NULL"),
            },
        }
    }

    fn bytes(&mut self, bytes: Option<&[u8]>, how: Values) {
        match how {
            #[cfg(feature = "sqlite")]
            Values::Bound => self.bind(Value::Bytes(bytes.map(<[u8]>::to_vec))),
            #[cfg(feature = "mysql")]
            Values::Written => match bytes {
                Some(bytes) => {
                    self.text.push_str("x'");
                    data_encoding::HEXLOWER.encode_append(bytes, &mut self.text);
                    self.text.push('\'');
                }
                None => self.text.push_str("NULL"),
            },
        }
    }

    #[cfg(feature = "sqlite")]
    fn bind(&mut self, value: Value) {
        self.values.push(value);
        self.text.push('?');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: Values) -> Words {
        Words { begin: "BEGIN", now: "NOW()", lock: " FOR UPDATE", lock_free: "", values }
    }

    const TEXT: &str =
        "-- For readers: ?1; {now}.\nSELECT ?2, {now} FROM t\n  WHERE a = ?1{lock};\nB";

    #[cfg(feature = "mysql")]
    #[test]
    fn arguments_are_written_by_their_numbers_and_never_read_as_sql() {
        let words = words(Values::Written);
        let mut script = Script::new(&words, None);
        let name = b"'; DROP TABLE leases_grants; --?1";
        let statement = Statement::new(TEXT, &words);
        assert_eq!(script.add(&statement, &[Arg::Bytes(name), Arg::Number(-1)]), 0);
        assert_eq!(script.add(&statement, &[Arg::MaybeBytes(None)]), 2);
        let [Request { text, count, .. }] = &*script.into_requests() else { panic!("one") };
        assert_eq!(*count, 4);
        assert!(text.starts_with("SELECT -1, NOW() FROM t WHERE a = x'273b2044524f50"), "{text}");
        let end = " FOR UPDATE; B; SELECT NULL, NOW() FROM t WHERE a = NULL FOR UPDATE; B";
        assert!(text.ends_with(end), "{text}");
        assert!(!text.contains("DROP"), "{text}");
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn arguments_are_bound_in_the_order_in_which_they_are_used() {
        let words = words(Values::Bound);
        let mut script = Script::new(&words, Some(7));
        let statement = Statement::new(TEXT, &words);
        script.add(&statement, &[Arg::List(&[b"a", b"b"]), Arg::Number(-1)]);
        let [Request { text, values, .. }] = &*script.into_requests() else { panic!("one") };
        assert_eq!(text, "SELECT ?, ? FROM t WHERE a = ?,? FOR UPDATE; B");
        let bytes = |bytes: &[u8]| Value::Bytes(Some(bytes.to_vec()));
        let numbers = [Value::Number(Some(-1)), Value::Number(Some(7))];
        assert_eq!(values[..2], numbers);
        assert_eq!(values[2..], [bytes(b"a"), bytes(b"b")]);
    }
}
