-- What a customer has ordered, newest first: {"customer": "Ada Byron", "since": "2024-02-01"}
-- subject: orders.of_customer
-- timeout: 5s
-- param: customer nvarchar(100)
-- param: since date = '2000-01-01'
SELECT o.id AS order_id, o.ordered, p.name AS product, o.quantity, o.quantity * p.price AS total
FROM orders AS o
JOIN customers AS c ON c.id = o.customer_id
JOIN products AS p ON p.id = o.product_id
WHERE c.name = @customer AND o.ordered >= @since
ORDER BY o.ordered DESC, o.id DESC;
