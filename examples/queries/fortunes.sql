-- All fortunes, in their order.
SELECT id, message FROM fortune ORDER BY id;
