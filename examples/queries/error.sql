-- An error of the SQL Server, as a client sees it: 8134.
SELECT 1 / 0 AS nothing;
