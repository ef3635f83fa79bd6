-- What each customer has spent, of those who have spent at least so much: {"minimum": 100}
-- subject: orders.totals
-- param: minimum decimal(10,2) = 0
SELECT c.name AS customer, COUNT(*) AS orders, SUM(o.quantity * p.price) AS total
FROM orders AS o
JOIN customers AS c ON c.id = o.customer_id
JOIN products AS p ON p.id = o.product_id
GROUP BY c.name
HAVING SUM(o.quantity * p.price) >= @minimum
ORDER BY total DESC;
