-- The time.
SELECT {now}
