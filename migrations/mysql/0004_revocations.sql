-- Here nobody is told of anything: a hold that was revoked is found by its next refresh. The number is that of the other
-- databases.
DO 0;
