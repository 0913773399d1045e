-- Those of this process who were woken and have not asked since. ?1 its inbox. By leases_tickets_woken.
SELECT holder FROM leases_tickets WHERE inbox = ?1 AND woken = 1
