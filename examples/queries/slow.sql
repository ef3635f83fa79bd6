-- A query that takes its time: a request gives up earlier with the header Aloft-Timeout: 100ms,
-- and the query is stopped in the server then.
-- timeout: 30s
WAITFOR DELAY '00:00:10';
SELECT COUNT(*) AS orders FROM orders;
