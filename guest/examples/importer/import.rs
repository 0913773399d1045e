//! The work: every table, each under its lease.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use leases_guest::{Guard, Lease, Request, Verdict};

use crate::args::Args;
use crate::event::Event;
use crate::output::{Output, Partial, Receipt};
use crate::parse;
use crate::row::Row;
use crate::tables::{self, Format};

/// How many instances may read from a source at once.
const SOURCE_PLACES: u32 = 2;

/// Imports every table that is not imported yet; returns once all are.
///
/// Tables that somebody else is at are passed over first, so that nobody waits while there is work
/// left, and waited for in the end: their holder may yet fail.
pub(crate) fn all(args: &Args) -> Result<()> {
    let mut busy = Vec::new();
    for table in tables::starting_at(tables::list(&args.tables)?, args.instance) {
        let lease = lease_of(&table, args).try_acquire();
        match lease.with_context(|| format!("leasing {table}"))? {
            Some(lease) => under(lease, &table, args)?,
            None => busy.push(table),
        }
    }
    for table in busy {
        let lease = lease_of(&table, args).acquire();
        under(lease.with_context(|| format!("waiting for {table}"))?, &table, args)?;
    }
    Ok(())
}

fn lease_of(table: &str, args: &Args) -> Request<Lease> {
    leases_guest::lease(format!("import:{table}"))
        .ttl(args.ttl)
        .wait(args.wait)
        .note(format!("instance {}", args.instance))
}

fn under(lease: Lease, table: &str, args: &Args) -> Result<()> {
    let output = Output::new(&args.out, table);
    if output.is_imported()? {
        Event::Skipped.print(table, args.instance);
        return Ok(());
    }
    let import = Import { held: Held::new(lease, args.ttl), output, table, args };
    import.run().with_context(|| format!("importing {table}"))
}

/// One table's import.
struct Import<'a> {
    held: Held,
    output: Output,
    table: &'a str,
    args: &'a Args,
}

impl Import<'_> {
    fn run(mut self) -> Result<()> {
        let fence = self.held.lease.fence();
        self.print(Event::Took { fence });
        self.held.may_write()?;
        let mut partial = self.output.begin(fence)?;

        let format = Format::of(self.table).context("not a table")?;
        let text = self.read_source()?;
        let rows = parse::rows(&text, format)?;
        for batch in rows.chunks(self.args.batch_rows) {
            self.write(batch, &mut partial)?;
            self.trap_if_told(&partial, rows.len())?;
        }

        self.held.may_write()?;
        let rows = partial.rows();
        self.output.publish(partial)?;
        self.output.add_receipt(Receipt { instance: self.args.instance, fence, rows })?;
        self.print(Event::Imported { fence, rows });
        Ok(())
    }

    /// Reads the table's text in one of the source's places.
    fn read_source(&mut self) -> Result<String> {
        let path = self.args.tables.join(self.table);
        // A wait that outlived the lease would be for nothing, and the place of somebody who died is
        // free before the wait ends. While the place is held the host keeps it alive.
        let place = leases_guest::semaphore(format!("source:{}", self.args.source), SOURCE_PLACES)
            .ttl(self.args.ttl / 4)
            .wait(self.args.ttl / 2)
            .note(format!("instance {}", self.args.instance));
        place
            .hold(|_| Ok(fs::read_to_string(&path)?))
            .map_err(|error: anyhow::Error| error.context(format!("reading {}", path.display())))
    }

    fn write(&mut self, batch: &[Row<'_>], partial: &mut Partial) -> Result<()> {
        thread::sleep(self.args.pace);
        self.held.may_write()?;
        partial.add(batch)
    }

    /// Traps in the middle of a table if that was asked for and was not done yet: what is held then
    /// is given back by the host.
    fn trap_if_told(&self, partial: &Partial, rows_total: usize) -> Result<()> {
        let asked = self.args.trap_in.as_deref() == Some(self.table);
        let in_the_middle = partial.rows() * 2 >= rows_total;
        if asked && in_the_middle && self.output.mark_trapped()? {
            self.print(Event::Trapping { fence: self.held.lease.fence(), rows: partial.rows() });
            std::process::abort();
        }
        Ok(())
    }

    fn print(&self, event: Event) {
        event.print(self.table, self.args.instance);
    }
}

/// The lease, with what it takes to go on writing under it.
struct Held {
    lease: Lease,
    guard: Guard,
    refresh_every: Duration,
    refreshed: Instant,
}

impl Held {
    fn new(lease: Lease, ttl: Duration) -> Self {
        let guard = leases_guest::guard(lease.name());
        Held { lease, guard, refresh_every: ttl / 3, refreshed: Instant::now() }
    }

    /// Refreshes the lease when that is due, and asks the guard. An error means: write no more.
    fn may_write(&mut self) -> Result<()> {
        if self.refreshed.elapsed() >= self.refresh_every {
            self.lease.refresh().context("refreshing the lease")?;
            self.refreshed = Instant::now();
        }
        let fence = self.lease.fence();
        match self.guard.admit(fence)? {
            Verdict::Admitted => Ok(()),
            Verdict::Stale(greater) => bail!("fence {fence} is stale: {greater} was admitted"),
        }
    }
}
