-- The database of the demo: fortunes, and a small shop.
CREATE TABLE fortune (id int NOT NULL PRIMARY KEY, message nvarchar(2048) NOT NULL);
INSERT INTO fortune (id, message) VALUES
(1, N'fortune: No such file or directory'),
(2, N'A computer scientist is someone who fixes things that aren''t broken.'),
(3, N'After enough decimal places, nobody gives a damn.'),
(4, N'A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1'),
(5, N'A computer program does what you tell it to do, not what you want it to do.'),
(6, N'Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen'),
(7, N'Any program that runs right is obsolete.'),
(8, N'A list is only as strong as its weakest link. — Donald Knuth'),
(9, N'Feature: A bug with seniority.'),
(10, N'Computers make very fast, very accurate mistakes.'),
(11, N'<script>alert("This should not be displayed in a browser alert box.");</script>'),
(12, N'フレームワークのベンチマーク');
GO
CREATE TABLE customers (id int NOT NULL PRIMARY KEY, name nvarchar(100) NOT NULL, city nvarchar(60) NULL);
CREATE TABLE products (id int NOT NULL PRIMARY KEY, name nvarchar(100) NOT NULL, price decimal(10,2) NOT NULL);
CREATE TABLE orders (id int NOT NULL PRIMARY KEY, customer_id int NOT NULL, product_id int NOT NULL,
                     quantity int NOT NULL, ordered date NOT NULL);
INSERT INTO customers (id, name, city) VALUES
(1, N'Ada Byron', N'London'), (2, N'Émilie du Châtelet', N'Paris'), (3, N'Grace Hopper', N'New York'),
(4, N'高木貞治', N'東京'), (5, N'Sofia Kovalevskaya', NULL);
INSERT INTO products (id, name, price) VALUES
(1, N'Slide rule', 24.50), (2, N'Abacus', 18.00), (3, N'Punched cards, 1000', 9.95),
(4, N'Difference engine', 17470.00), (5, N'Graph paper', 3.20);
INSERT INTO orders (id, customer_id, product_id, quantity, ordered) VALUES
(1, 1, 4, 1, '2024-01-05'), (2, 2, 1, 2, '2024-01-17'), (3, 3, 3, 12, '2024-02-02'), (4, 1, 3, 4, '2024-02-11'),
(5, 4, 2, 3, '2024-02-29'), (6, 3, 5, 30, '2024-03-08'), (7, 1, 5, 10, '2024-03-14'), (8, 2, 5, 6, '2024-04-01'),
(9, 4, 1, 1, '2024-04-22'), (10, 3, 1, 1, '2024-05-09');
GO
