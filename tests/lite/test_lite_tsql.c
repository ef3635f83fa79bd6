/* T-SQL, statement by statement: what goes in, and what must come out (script.h says how it is
 * written). Each group runs in order on a database of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

typedef struct pair {
  const char *sql;
  const char *wanted;
} pair;

static const pair thin[] = {
    {"SELECT 1", "int / 1"},
    {"SELECT 1 AS a, N'x' AS b, 'abc'+'d', 1.5, 1e0, NULL",
     "int,nvarchar(1),varchar(4),numeric(2,1),float,int? / 1,x,abcd,1.5,1,NULL"},
    {"CREATE TABLE fortune(id int NOT NULL PRIMARY KEY, message nvarchar(2048) NOT NULL)", ""},
    {"INSERT INTO fortune VALUES (1, N'a'),(2,N'フレーム')", "#2"},
    {"SELECT id, message FROM fortune ORDER BY id DESC", "int,nvarchar(2048) / 2,フレーム / 1,a"},
    {"SELECT * FROM fortune WHERE message = 'A'", "int,nvarchar(2048) / 1,a"},
    {"INSERT fortune VALUES (1,'z')", "!2627"},
    {"INSERT fortune(id) VALUES (3)", "!515"},
    {"SELECT 1/0", "int? / !8134"},
    {"SELECT 7/2, -7/2, 7%3, 2.0/3, 1+1.5, 3*2.50",
     "int?,int?,int?,numeric(7,6)?,numeric(3,1)?,numeric(5,2)? / 3,-3,1,0.666666,2.5,7.50"},
    {"UPDATE fortune SET id = id+1", "#2"},
    {"SELECT * FROM fortune", "int,nvarchar(2048) / 2,a / 3,フレーム"},
    {"DELETE FROM fortune WHERE id=3", "#1"},
    {"SELECT COUNT(*), SUM(id), AVG(id), MIN(message), MAX(id) FROM fortune",
     "int,int?,int?,nvarchar(2048)?,int? / 1,2,2,a,2"},
    {"DECLARE @x int = 5; SET @x = @x + 1; SELECT @x; IF @x > 5 PRINT 'yes' ELSE PRINT 'no'",
     "int? / 6 / i:yes"},
    {"BEGIN TRAN; SELECT @@TRANCOUNT; COMMIT", "begun / int / 1 / committed"},
    {"SELEC 1", "!102"},
    {"SELECT * FROM nope", "!208"},
    {"SELECT nope FROM fortune", "!207"},
    {"WAITFOR DELAY '00:00:01'; SELECT 1", "wait:1000000000 / int / 1"},
    {"DECLARE @i int = 0; WHILE @i < 3 BEGIN SET @i += 1; PRINT @i END", "i:1 / i:2 / i:3"},
};

static const pair statements[] = {
    {"SELECT CAST('9999999999999999999999999999.9999999999' AS decimal(38,10)) AS v",
     "decimal(38,10) / 9999999999999999999999999999.9999999999"},
    {"SELECT CAST('0.0001' AS numeric(18,4)) AS v, CAST('23:59:59.9999990' AS time(7)), "
     "CAST('2024-02-29 12:34:56.123' AS datetime), CAST('2024-02-29 12:34:56.123456 +05:30' AS "
     "datetimeoffset(7)), CAST('2079-06-06 23:59:00' AS smalldatetime)",
     "numeric(18,4),time(7),datetime,datetimeoffset(7),smalldatetime / "
     "0.0001,23:59:59.9999990,2024-02-29 12:34:56.123,2024-02-29 12:34:56.1234560 "
     "+05:30,2079-06-06 23:59:00"},
    {"SELECT CAST(N'Ω' AS nchar(4)), CAST(N'日本語 😀 ☃' AS nvarchar(50)), CAST(0x0102030405060708 "
     "AS binary(8)), CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)",
     "nchar(4),nvarchar(50),binary(8),uniqueidentifier / Ω   ,日本語 😀 "
     "☃,0x0102030405060708,6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {"SELECT GETDATE(), SYSDATETIME(), CONVERT(varchar(30), GETDATE(), 120), CONVERT(varchar(30), "
     "GETDATE()), CAST(GETDATE() AS date)",
     "datetime,datetime2(7),varchar(30),varchar(30),date / 2024-02-29 12:34:56.123,2024-02-29 "
     "12:34:56.1234567,2024-02-29 12:34:56,Feb 29 2024 12:34PM,2024-02-29"},
    {"SELECT 'a' + NULL, 'a' + N'b', 1 + '2', '1' + 2.5",
     "varchar(2)?,nvarchar(2),int?,numeric(3,1)? / NULL,ab,3,3.5"},
    {"SELECT 'abc' + 1", "int? / !245"},
    {"SELECT CASE WHEN 'abc' = 'ABC  ' THEN 'eq' ELSE 'ne' END, CASE WHEN 'é' = 'e' THEN 1 ELSE 0 "
     "END",
     "varchar(2),int / eq,0"},
    {"SELECT CAST(300 AS tinyint)", "tinyint / !220"},
    {"SELECT 2147483647 + 1", "int? / !8115"},
    {"SELECT CAST('x' AS int)", "int / !245"},
    {"SELECT CAST('2024-13-01' AS date)", "date / !241"},
    {"SELECT CAST('99999999999' AS int)", "int / !248"},
    {"CREATE TABLE t(id int IDENTITY(10,5) PRIMARY KEY, a varchar(3) NULL, b decimal(5,2) DEFAULT "
     "1.5, c datetime2(3) NOT NULL DEFAULT GETDATE(), u int UNIQUE)",
     ""},
    {"INSERT t(a,u) VALUES('x',1),('y',2); SELECT SCOPE_IDENTITY(), @@ROWCOUNT, @@IDENTITY",
     "#2 / numeric(38,0)?,int,numeric(38,0)? / 15,2,15"},
    {"INSERT t(a) VALUES('toolong')", "!2628"},
    {"INSERT t(a) VALUES('n1'); INSERT t(a) VALUES('n2')", "#1 / !2627"},
    {"SELECT * FROM t",
     "int,varchar(3)?,decimal(5,2)?,datetime2(3),int? / 10,x,1.50,2024-02-29 12:34:56.123,1 / "
     "15,y,1.50,2024-02-29 12:34:56.123,2 / 20,n1,1.50,2024-02-29 12:34:56.123,NULL"},
    {"INSERT t(id,a) VALUES (1,'q')", "!544"},
    {"INSERT t VALUES('q')", "!213"},
    {"INSERT t(b) VALUES (1000.5)", "!8115"},
    {"SELECT a, COUNT(*) FROM t GROUP BY a", "varchar(3)?,int / n1,1 / x,1 / y,1"},
    {"SELECT a, b FROM t GROUP BY a", "!8120"},
    {"SELECT a FROM t HAVING COUNT(*) > 1", "!8120"},
    {"SELECT t1.a, t2.a FROM t t1 LEFT JOIN t t2 ON t1.id = t2.id + 5 ORDER BY t1.id",
     "varchar(3)?,varchar(3)? / x,NULL / y,x / n1,y"},
    {"SELECT (SELECT a FROM t)", "varchar(3)? / !512"},
    {"SELECT a FROM t WHERE id IN (SELECT MAX(id) FROM t) OR EXISTS (SELECT 1 FROM t x WHERE x.id "
     "= t.id + 5)",
     "varchar(3)? / x / y / n1"},
    {"SELECT TOP 1 a FROM t ORDER BY a DESC", "varchar(3)? / y"},
    {"SELECT a FROM t ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", "varchar(3)? / y"},
    {"SELECT DISTINCT UPPER(a) FROM t UNION ALL SELECT 'zz' ORDER BY 1",
     "varchar(3)? / N1 / X / Y / zz"},
    {"SELECT 1 UNION SELECT 2.5 UNION SELECT '3'", "numeric(11,1) / 1.0 / 2.5 / 3.0"},
    {"SELECT * FROM (VALUES (1,'a'),(2,'b')) v(n,s) WHERE n BETWEEN 1 AND 5",
     "int,varchar(1) / 1,a / 2,b"},
    {"MERGE t USING t ON 1=1", "!40510"},
    {"WITH x AS (SELECT 1 a) SELECT * FROM x", "!40510"},
    {"SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t", "!40510"},
    {"EXEC sp_who", "!40510"},
    {"SELECT FORMAT(1,'x')", "!40510"},
    {"SELECT nosuch(1)", "!195"},
    {"SELECT LEN('ab  '), DATALENGTH(N'ab'), SUBSTRING('hello',2,3), LEFT('hello',2), "
     "RIGHT('hello',2), REPLACE('aXbx','x','-'), CHARINDEX('L','hello'), REPLICATE('ab',3), "
     "REVERSE('abc'), CONCAT('a',NULL,1), LTRIM('  a'), TRIM(' a ')",
     "int,int,varchar(3),varchar(5),varchar(5),varchar(8000),int,varchar(8000)?,varchar(3),varchar("
     "50),varchar(3),varchar(3) / 2,4,ell,he,lo,a-b-,3,ababab,cba,a1,a,a"},
    {"SELECT ABS(-5), ROUND(123.456,1), FLOOR(-1.5), CEILING(1.2), SIGN(-2.5), POWER(2,10), "
     "ROUND(2.5e0,0), ROUND(-7,-1)",
     "int,numeric(6,3),numeric(2,0),numeric(2,0),numeric(2,1),int,float,int / "
     "5,123.500,-2,2,-1.0,1024,3,-10"},
    {"SELECT DATEADD(day,1,'2024-02-28'), DATEDIFF(day,'2024-02-28','2024-03-01'), DATEPART(year, "
     "GETDATE()), YEAR('2024-01-01'), DATEADD(month,1,CAST('2024-01-31' AS date))",
     "datetime,int,int,int,date / 2024-02-29 00:00:00.000,2,2024,2024,2024-02-29"},
    {"SELECT 'a' WHERE 'hello' LIKE 'h[a-f]l%' AND 'x' NOT LIKE '[^x]' AND '50%' LIKE '50!%' "
     "ESCAPE '!'",
     "varchar(1) / a"},
    {"SELECT COALESCE(NULL,NULL,3), ISNULL(NULL,'x'), NULLIF(1,1), IIF(1=1,'a',N'b')",
     "int,varchar(1),int?,nvarchar(1) / 3,x,NULL,a"},
    {"SELECT @@VERSION, DB_NAME(), SUSER_SNAME(), @@SERVERNAME, OBJECT_ID('t'), OBJECT_ID('nope'), "
     "@@SPID",
     "nvarchar(300),nvarchar(128)?,nvarchar(128)?,nvarchar(128),int?,int?,smallint / Aloft lite "
     "0.1 (T-SQL on SQLite), answering as Microsoft SQL Server 16.0.0.0,test,sa,lite,1,NULL,51"},
    {"RAISERROR('custom failure', 16, 7)", "!50000"},
    {"THROW 50001, 'mine', 3", "!50001"},
    {"USE test", "db:test / i:Changed database context to 'test'."},
    {"USE other", "!911"},
    {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ""},
    {"SET QUOTED_IDENTIFIER OFF", "!40510"},
    {"set textsize 2147483647; set nocount on; UPDATE t SET a='z' WHERE id=10; SET NOCOUNT OFF",
     "#"},
    {"COMMIT", "!3902"},
    {"ROLLBACK", "!3903"},
    {"BEGIN TRAN; INSERT t(a,u) VALUES('tr',77); ROLLBACK; SELECT COUNT(*) FROM t WHERE a='tr'",
     "begun / #1 / rolled back / int / 0"},
    {"DROP TABLE t; DROP TABLE IF EXISTS t; DROP TABLE t", "!3701"},
    {"SELECT NEWID() WHERE 1=0", "uniqueidentifier"},
};

static const pair values[] = {
    {"SELECT CAST(1.005 AS decimal(5,2)), CAST(-1.005 AS decimal(5,2)), CAST(1e0/3 AS "
     "decimal(10,4)), CAST(99.99 AS int), CAST(-99.99 AS int)",
     "decimal(5,2),decimal(5,2),decimal(10,4)?,int,int / 1.01,-1.01,0.3333,99,-99"},
    {"SELECT CAST(123.45 AS decimal(4,2))", "decimal(4,2) / !8115"},
    {"SELECT CAST('abc' AS decimal(5,2))", "decimal(5,2) / !8114"},
    {"SELECT CAST('abc' AS bigint)", "bigint / !8114"},
    {"SELECT CAST('abc' AS float)", "float / !8114"},
    {"SELECT CAST('abc' AS uniqueidentifier)", "uniqueidentifier / !8169"},
    {"SELECT CAST('abc' AS bit)", "bit / !245"},
    {"SELECT CAST('true' AS bit), CAST(2 AS bit), CAST('' AS int), CAST('  12 ' AS int)",
     "bit,bit,int,int / 1,1,0,12"},
    {"SELECT CAST(3000000000 AS int)", "int / !8115"},
    {"SELECT CAST('300' AS tinyint)", "tinyint / !244"},
    {"SELECT CAST('99999999999999999999' AS bigint)", "bigint / !8115"},
    {"SELECT CAST(1e20 AS int)", "int / !232"},
    {"SELECT CAST(1e300*1e300 AS float)", "float? / !8115"},
    {"SELECT CAST(1e39 AS real)", "real / !232"},
    {"SELECT CAST('1752-12-31' AS datetime)", "datetime / !242"},
    {"SELECT CAST(12345 AS varchar(3)), CAST(12345 AS nvarchar(10))",
     "varchar(3),nvarchar(10) / *,12345"},
    {"SELECT CAST(12345 AS nvarchar(3))", "nvarchar(3) / !8115"},
    {"SELECT CAST(1.5 AS varchar(10)), CAST(1e10 AS varchar(20)), CAST(0.00001e0 AS varchar(20)), "
     "CAST(CAST(1.1 AS real) AS varchar(20)), CAST(123456789e0 AS varchar(30))",
     "varchar(10),varchar(20),varchar(20),varchar(20),varchar(30) / "
     "1.5,1e+010,1e-005,1.1,1.23457e+008"},
    {"SELECT CAST(NEWID() AS char(10))", "char(10) / !8170"},
    {"SELECT CONVERT(varchar(10), 0xDEAD, 1), CONVERT(varbinary(4), '0xBEEF', 1), CAST('ab' AS "
     "varbinary(4)), CAST(N'ab' AS varbinary(4)), CAST(258 AS varbinary(4)), CAST(258 AS "
     "binary(2)), CAST(0x0102 AS int)",
     "varchar(10),varbinary(4),varbinary(4),varbinary(4),varbinary(4),binary(2),int / "
     "0xDEAD,0xBEEF,0x6162,0x61006200,0x00000102,0x0102,258"},
    {"SELECT CAST(GETDATE() AS int)", "int / 45350"},
    {"SELECT CAST(CAST('2024-01-01' AS date) AS int)", "!529"},
    {"SELECT CAST(1 AS date)", "!529"},
    {"SELECT CAST('2024-01-01' AS date) + 1", "!206"},
    {"SELECT GETDATE() + 1", "!40510"},
    {"SELECT CAST(0 AS datetime), CAST(1.5 AS datetime)",
     "datetime,datetime / 1900-01-01 00:00:00.000,1900-01-02 12:00:00.000"},
    {"SELECT CAST(CAST('2024-01-01' AS date) AS time)", "!529"},
    {"SELECT CAST('a' AS money)", "!40510"},
    {"SELECT 'a' - 'b'", "!8117"},
    {"SELECT CAST(1 AS bit) + CAST(1 AS bit)", "!402"},
    {"SELECT 1.5e0 % 2", "!402"},
    {"SELECT 5 & 3, 5 | 3, 5 ^ 3, ~5", "int?,int?,int?,int / 1,7,6,-6"},
    {"SELECT -CAST(5 AS tinyint)", "smallint / -5"},
    {"SELECT 1 + NULL, NULL + 'a'", "int?,varchar(2)? / NULL,NULL"},
    {"SELECT CAST(0.0000009000 AS DECIMAL(30,10)) * CAST(1.0000000000 AS DECIMAL(30,10))",
     "numeric(38,6)? / 0.000001"},
    {"SELECT CAST(0.0000009000 AS DECIMAL(30,20)) * CAST(1.0000000000 AS DECIMAL(30,20))",
     "numeric(38,17)? / 0.00000090000000000"},
    {"SELECT CAST(1 AS decimal(38,0)) + CAST(1 AS decimal(38,10))", "numeric(38,0)? / 2"},
    {"SELECT CAST(10 AS decimal(18,2)) / 3", "numeric(22,6)? / 3.333333"},
    {"SELECT CAST(9999999999999999999999999999999999999 AS decimal(38,0)) * 1000",
     "numeric(38,0)? / !8115"},
    {"SELECT 12345678901234567890123456789012345678 + 0.1",
     "numeric(38,0)? / 12345678901234567890123456789012345678"},
    {"SELECT 123456789012345678901234567890123456789", "!1007"},
    {"SELECT 2147483648, -2147483648, 0x, 0xABC, .5, 1., 1e",
     "numeric(10,0),numeric(10,0),varbinary(1),varbinary(2),numeric(1,1),numeric(1,0),float / "
     "2147483648,-2147483648,0x,0x0ABC,0.5,1,1"},
    {"SELECT 1 WHERE NULL = NULL", "int"},
    {"SELECT 1 WHERE NOT (NULL = 1)", "int"},
    {"SELECT 1 WHERE 1 IN (2, NULL) OR 1 = 1", "int / 1"},
    {"SELECT 1 WHERE 3 NOT IN (1, NULL)", "int"},
    {"SELECT 1 WHERE 1", "!4145"},
    {"SELECT 1 = 1", "!102"},
    {"SELECT 1 FROM", "!156"},
    {"SELECT", "!156"},
    {"SELECT 1 +", "!102"},
    {"SELECT 'abc", "!105"},
    {"SELECT [a", "!105"},
    {"/* x", "!113"},
    {"SELECT @y", "!137"},
    {"DECLARE @a int, @a int", "!134"},
    {"PRINT x", "!207"},
    {"SELECT x.* ", "!107"},
    {"SELECT *", "!263"},
    {"SELECT a.b.c.d", "!4104"},
    {"SELECT TOP -1 1", "!102"},
    {"SELECT TOP (0-1) 1", "int / !127"},
    {"SELECT 1 ORDER BY 2", "!108"},
    {"SELECT 1 AS a UNION SELECT 2 ORDER BY b", "!104"},
    {"SELECT 1, 2 UNION SELECT 1", "!205"},
    {"SELECT COUNT(*) WHERE COUNT(*) > 1", "!147"},
    {"SELECT SUM(COUNT(*))", "!130"},
    {"SELECT SUM('a')", "!8117"},
    {"SELECT MIN(CAST(1 AS bit))", "!8117"},
    {"SELECT (SELECT 1, 2)", "!116"},
    {"SELECT * FROM (SELECT 1) x", "!8155"},
    {"SELECT * FROM (SELECT 1 a, 2 a) x", "!8156"},
    {"SELECT * FROM (SELECT 1 a ORDER BY a) x", "!1033"},
    {"SELECT CASE WHEN 1=1 THEN NULL ELSE NULL END", "!8133"},
    {"SELECT LEFT('abc')", "!174"},
    {"SELECT SUBSTRING('abc',1,-1)", "varchar(3) / !537"},
    {"SELECT LEFT('abc',-1)", "varchar(3) / !536"},
    {"SELECT SQRT(-1)", "float / !3623"},
    {"SELECT DATEDIFF(ns,'1900-01-01','2024-01-01')", "int / !535"},
    {"SELECT DATEADD(year,9999,GETDATE())", "datetime / !517"},
    {"SELECT DATEADD(hour,1,CAST('2024-01-01' AS date))", "!9810"},
    {"SELECT 'a' LIKE 'a'", "!102"},
    {"SELECT 1 WHERE 'a' LIKE 'a' ESCAPE 'xx'", "int / !506"},
    {"CREATE TABLE q(a int, a int)", "!2705"},
    {"CREATE TABLE q(a foo)", "!2715"},
    {"CREATE TABLE q(a varchar(9000))", "!2717"},
    {"CREATE TABLE q(a decimal(39,0))", "!2750"},
    {"CREATE TABLE q(a decimal(5,6))", "!2751"},
    {"CREATE TABLE q(a int PRIMARY KEY, b int PRIMARY KEY)", "!8110"},
    {"CREATE TABLE q(a int NULL PRIMARY KEY)", "!8111"},
    {"CREATE TABLE q(a int, PRIMARY KEY(zz))", "!1911"},
    {"CREATE TABLE q(a varchar(max) PRIMARY KEY)", "!1919"},
    {"CREATE TABLE q(a varchar(5) IDENTITY)", "!2749"},
    {"CREATE TABLE q(a int IDENTITY, b int IDENTITY)", "!2744"},
    {"CREATE TABLE q(a int CHECK (a > 1))", "!40510"},
    {"CREATE TABLE q(a int REFERENCES z)", "!40510"},
    {"CREATE TABLE q(a int DEFAULT (SELECT 1))", "!1046"},
    {"CREATE TABLE other.q(a int)", "!40510"},
    {"CREATE TABLE #q(a int)", "!40510"},
    {"CREATE VIEW v AS SELECT 1", "!40510"},
    {"TRUNCATE TABLE nope", "!4701"},
    {"WAITFOR DELAY 'abc'", "!148"},
    {"WAITFOR TIME '10:00'", "!40510"},
    {"SELECT 1; SELECT nope FROM (SELECT 1 a) x; SELECT 2", "!207"},
    {"SELECT 1; SELEC 2", "!102"},
    {"SELECT 1; SELECT * FROM nope; SELECT 2", "int / 1 / !208"},
    {"SELECT 1; SELECT 1/0; SELECT @@ERROR", "int / 1 / int? / !8134 / int / 8134"},
    {"SELECT 1; SELECT CAST('a' AS int); SELECT 2", "int / 1 / int / !245"},
    {"SELECT @@ROWCOUNT, @@ERROR", "int,int / 0,245"},
};

static const pair tables[] = {
    {"CREATE TABLE emp(id int NOT NULL PRIMARY KEY, name nvarchar(20) NOT NULL, dept int NULL, pay "
     "decimal(9,2) NULL, hired date NULL)",
     ""},
    {"INSERT emp VALUES "
     "(1,N'Ann',1,1000.50,'2020-01-05'),(2,N'bob',1,2000,'2021-06-30'),(3,N'Çelik',2,NULL,'"
     "20220101'),(4,N'ann',NULL,500.25,NULL)",
     "#4"},
    {"CREATE TABLE dept(id int NOT NULL PRIMARY KEY, title varchar(10) NOT NULL)", ""},
    {"INSERT dept(id,title) SELECT 1,'Sales' UNION ALL SELECT 2,'Dev' UNION ALL SELECT 3,'Empty'",
     "#3"},
    {"SELECT e.name, d.title FROM emp e INNER JOIN dept d ON d.id = e.dept ORDER BY e.id",
     "nvarchar(20),varchar(10) / Ann,Sales / bob,Sales / Çelik,Dev"},
    {"SELECT e.name, d.title FROM emp e FULL OUTER JOIN dept d ON d.id = e.dept ORDER BY e.id, "
     "d.id",
     "nvarchar(20)?,varchar(10)? / NULL,Empty / Ann,Sales / bob,Sales / Çelik,Dev / ann,NULL"},
    {"SELECT e.name, d.title FROM emp e RIGHT JOIN dept d ON d.id = e.dept ORDER BY d.id, e.id",
     "nvarchar(20)?,varchar(10) / Ann,Sales / bob,Sales / Çelik,Dev / NULL,Empty"},
    {"SELECT COUNT(*) FROM emp CROSS JOIN dept", "int / 12"},
    {"SELECT COUNT(*) FROM emp, dept WHERE emp.dept = dept.id", "int / 3"},
    {"SELECT d.title, COUNT(e.id) AS n, SUM(e.pay) total, AVG(e.pay) FROM dept d LEFT JOIN emp e "
     "ON e.dept = d.id GROUP BY d.title HAVING COUNT(e.id) >= 0 ORDER BY n DESC, d.title",
     "varchar(10),int,decimal(38,2)?,decimal(38,6)? / Sales,2,3000.50,1500.250000 / "
     "Dev,1,NULL,NULL / Empty,0,NULL,NULL"},
    {"SELECT name, COUNT(*) FROM emp GROUP BY name ORDER BY name",
     "nvarchar(20),int / Ann,2 / bob,1 / Çelik,1"},
    {"SELECT DISTINCT name FROM emp ORDER BY name", "nvarchar(20) / Ann / bob / Çelik"},
    {"SELECT YEAR(hired) y, COUNT(*) FROM emp GROUP BY YEAR(hired) ORDER BY YEAR(hired)",
     "int?,int / NULL,1 / 2020,1 / 2021,1 / 2022,1"},
    {"SELECT YEAR(hired) + 1, COUNT(*) FROM emp GROUP BY YEAR(hired) ORDER BY 1",
     "int?,int / NULL,1 / 2021,1 / 2022,1 / 2023,1"},
    {"SELECT MONTH(hired) FROM emp GROUP BY YEAR(hired)", "!8120"},
    {"SELECT COUNT(DISTINCT name), COUNT(pay), COUNT_BIG(*), MAX(name), MIN(hired), SUM(id), "
     "AVG(CAST(id AS float)) FROM emp",
     "int,int,bigint,nvarchar(20)?,date?,int?,float? / 3,3,4,Çelik,2020-01-05,10,2.5"},
    {"SELECT SUM(pay), AVG(pay), MIN(pay) FROM emp WHERE 1=0",
     "decimal(38,2)?,decimal(38,6)?,decimal(9,2)? / NULL,NULL,NULL"},
    {"SELECT name FROM emp WHERE name = N'ANN' ORDER BY id", "nvarchar(20) / Ann / ann"},
    {"SELECT name FROM emp WHERE name LIKE '%N_' OR name LIKE N'ç%' ORDER BY id",
     "nvarchar(20) / Ann / Çelik / ann"},
    {"SELECT name FROM emp WHERE pay > (SELECT AVG(pay) FROM emp)", "nvarchar(20) / bob"},
    {"SELECT name, (SELECT title FROM dept WHERE dept.id = emp.dept) FROM emp ORDER BY emp.id",
     "nvarchar(20),varchar(10)? / Ann,Sales / bob,Sales / Çelik,Dev / ann,NULL"},
    {"SELECT name FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE id > 1) ORDER BY id",
     "nvarchar(20) / Ann / bob"},
    {"SELECT name FROM emp e WHERE NOT EXISTS (SELECT * FROM dept d WHERE d.id = e.dept)",
     "nvarchar(20) / ann"},
    {"SELECT x.title, x.n FROM (SELECT title, LEN(title) n FROM dept) x WHERE x.n > 3 ORDER BY "
     "x.title",
     "varchar(10),int / Empty,5 / Sales,5"},
    {"SELECT TOP (2) name FROM emp ORDER BY pay DESC, id", "nvarchar(20) / bob / Ann"},
    {"SELECT TOP 0 * FROM emp", "int,nvarchar(20),int?,decimal(9,2)?,date?"},
    {"UPDATE emp SET pay = pay * 1.1 WHERE dept = 1; SELECT pay FROM emp ORDER BY id",
     "#2 / decimal(9,2)? / 1100.55 / 2200.00 / NULL / 500.25"},
    {"UPDATE emp SET pay = (SELECT MAX(pay) FROM emp) WHERE pay IS NULL; SELECT pay FROM emp WHERE "
     "id = 3",
     "#1 / decimal(9,2)? / 2200.00"},
    {"UPDATE emp SET pay = 1/0", "!8134"},
    {"UPDATE emp SET name = NULL WHERE id = 1", "!515"},
    {"UPDATE emp SET id = 5 - id; SELECT id, name FROM emp ORDER BY id",
     "#4 / int,nvarchar(20) / 1,ann / 2,Çelik / 3,bob / 4,Ann"},
    {"UPDATE emp SET id = 1", "!2627"},
    {"UPDATE emp SET nope = 1", "!207"},
    {"DELETE FROM emp WHERE dept IS NULL; SELECT @@ROWCOUNT", "#1 / int / 1"},
    {"INSERT INTO emp(id,name) SELECT id + 10, name FROM emp; SELECT COUNT(*) FROM emp",
     "#3 / int / 6"},
    {"INSERT emp(id,name) VALUES (1)", "!109"},
    {"INSERT emp(id,name) SELECT 1", "!120"},
    {"INSERT emp(id,id) VALUES (1,2)", "!264"},
    {"INSERT emp VALUES (100, N'x', DEFAULT, DEFAULT, DEFAULT)", "#1"},
    {"INSERT emp(id, name) VALUES ((SELECT MAX(id)+1 FROM emp), N'y'); SELECT MAX(id) FROM emp",
     "#1 / int? / 101"},
    {"SELECT id FROM emp, dept", "!209"},
    {"SELECT name n FROM emp n JOIN emp m ON 1=1", "!209"},
    {"SELECT * FROM emp e JOIN dept e ON 1=1", "!1011"},
    {"SELECT * FROM emp JOIN emp ON 1=1", "!1013"},
    {"SELECT DISTINCT name FROM emp ORDER BY pay", "!145"},
    {"SELECT COUNT(*) FROM emp WHERE hired BETWEEN '2020-01-01' AND '2021-12-31'", "int / 2"},
    {"DECLARE @n nvarchar(20), @c int; SELECT @n = name, @c = id FROM emp WHERE id = 2; SELECT @n, "
     "@c",
     "nvarchar(20)?,int? / Çelik,2"},
    {"DECLARE @s varchar(100) = ''; SELECT @s = @s + title + ',' FROM dept; SELECT @s",
     "varchar(100)? / Sales,Dev,Empty,"},
    {"DECLARE @i int = 1; WHILE @i < 10 BEGIN SET @i = @i * 2; IF @i = 4 CONTINUE; IF @i > 7 "
     "BREAK; PRINT @i; END; SELECT @i",
     "i:2 / int? / 8"},
    {"IF EXISTS (SELECT 1 FROM dept WHERE title = 'dev') BEGIN SELECT 'yes' END ELSE BEGIN SELECT "
     "'no' END",
     "varchar(3) / yes"},
    {"IF (SELECT COUNT(*) FROM dept) = 4 SELECT 'four' ELSE IF 1 = 1 SELECT 'other'",
     "varchar(5) / other"},
    {"BEGIN TRAN a; BEGIN TRAN; SELECT @@TRANCOUNT; COMMIT; SELECT @@TRANCOUNT; ROLLBACK TRAN b; "
     "ROLLBACK TRAN a; SELECT @@TRANCOUNT",
     "begun / int / 2 / int / 1 / !6401 / rolled back / int / 0"},
    {"BEGIN TRAN; INSERT dept VALUES (4,'tx'); INSERT dept VALUES (4,'dup'); SELECT COUNT(*) FROM "
     "dept; COMMIT; SELECT COUNT(*) FROM dept",
     "begun / #1 / !2627 / int / 4 / committed / int / 4"},
    {"SET XACT_ABORT ON; BEGIN TRAN; INSERT dept VALUES (5,'tx'); INSERT dept VALUES (5,'dup'); "
     "SELECT 'not reached'",
     "begun / #1 / !2627 / rolled back"},
    {"SET XACT_ABORT OFF; SELECT @@TRANCOUNT, COUNT(*) FROM dept", "int,int / 0,4"},
    {"CREATE TABLE kinds(g uniqueidentifier UNIQUE, b varbinary(8) UNIQUE, o datetimeoffset(0) "
     "UNIQUE, f float, r real, c char(4), t time(2), s smalldatetime)",
     ""},
    {"INSERT kinds VALUES ('00000000-0000-0000-0000-000000000001', 0x01, '2024-01-01 00:00:00 "
     "+00:00', 0.1, 0.1, 'ab', '10:11:12.345', '2024-01-01 10:10:31')",
     "#1"},
    {"INSERT kinds(g) VALUES ('01000000-0000-0000-0000-000000000000')", "#1"},
    {"INSERT kinds(b) VALUES (0x0100)", "!2627"},
    {"INSERT kinds(o) VALUES ('2024-01-01 05:30:00 +05:30')", "!2627"},
    {"SELECT g FROM kinds WHERE g IS NOT NULL ORDER BY g",
     "uniqueidentifier? / 01000000-0000-0000-0000-000000000000 / "
     "00000000-0000-0000-0000-000000000001"},
    {"SELECT f, r, c, t, s, o, b, LEN(c), DATALENGTH(c) FROM kinds WHERE b = 0x010000",
     "float?,real?,char(4)?,time(2)?,smalldatetime?,datetimeoffset(0)?,varbinary(8)?,int?,int? / "
     "0.1,0.1,ab  ,10:11:12.35,2024-01-01 10:11:00,2024-01-01 00:00:00 +00:00,0x01,2,4"},
    {"SELECT CASE WHEN CAST(0.1 AS real) = 0.1e0 THEN 1 ELSE 0 END, CASE WHEN 1.0 = 1 THEN 1 ELSE "
     "0 END",
     "int,int / 0,1"},
    {"SELECT v FROM (VALUES ('b'),('A'),('_'),('1'),('a'),('é'),('f'),('e')) x(v) ORDER BY v, "
     "DATALENGTH(v)",
     "varchar(1) / _ / 1 / A / a / b / e / é / f"},
    {"SELECT MAX(v) FROM (VALUES ('b'),('C'),('a')) x(v)", "varchar(1)? / C"},
    {"SELECT CAST('02/29/2024' AS date), CAST('Feb 29 2024 1:05PM' AS datetime), CAST('20240229 "
     "13:05:06.78' AS datetime2(1)), CAST('2024-02-29T13:05:06' AS datetime), CAST('13:05' AS "
     "datetime)",
     "date,datetime,datetime2(1),datetime,datetime / 2024-02-29,2024-02-29 13:05:00.000,2024-02-29 "
     "13:05:06.8,2024-02-29 13:05:06.000,1900-01-01 13:05:00.000"},
    {"SET DATEFORMAT dmy; SELECT CAST('29/02/2024' AS date); SET DATEFORMAT mdy",
     "date / 2024-02-29"},
    {"SELECT CONVERT(varchar(30), CAST('2024-02-29 13:05:06.789' AS datetime), 121), "
     "CONVERT(varchar(30), CAST('2024-02-29' AS date), 103), CONVERT(varchar(8), GETDATE(), 112), "
     "CONVERT(varchar(30), GETDATE(), 126), CONVERT(varchar(30), GETDATE(), 101), "
     "CONVERT(varchar(5), GETDATE(), 108)",
     "varchar(30),varchar(30),varchar(8),varchar(30),varchar(30),varchar(5) / 2024-02-29 "
     "13:05:06.790,29/02/2024,20240229,2024-02-29T12:34:56.123,02/29/2024,12:34"},
    {"SELECT CONVERT(varchar(30), GETDATE(), 131)", "varchar(30) / !40510"},
    {"SELECT CAST('2024-02-29 23:59:59.999' AS datetime), CAST('2024-02-29 10:00:29.999' AS "
     "smalldatetime), CAST('23:59:59.99' AS time(1))",
     "datetime,smalldatetime,time(1) / 2024-03-01 00:00:00.000,2024-02-29 10:01:00,00:00:00.0"},
    {"SELECT CAST('2024-02-29 10:00:29.998' AS smalldatetime)",
     "smalldatetime / 2024-02-29 10:00:00"},
    {"SELECT CAST('2024-01-01 12:00:00.1234' AS datetime)", "datetime / !241"},
    {"SELECT CAST('2024-01-01 12:00:00.1234' AS smalldatetime)", "smalldatetime / !241"},
    {"SELECT CAST('2024-01-01 12:00:00.1234' AS datetime2(4))",
     "datetime2(4) / 2024-01-01 12:00:00.1234"},
    {"SELECT SUBSTRING(N'a😀b',2,2), LEFT(N'😀b',2), STUFF(N'a😀b',2,2,N'-'), "
     "CHARINDEX(N'b',N'😀b',3)",
     "nvarchar(2),nvarchar(3),nvarchar(5)?,int / 😀,😀,a-b,3"},
    {"SELECT SUBSTRING(N'😀',1,1)", "nvarchar(1) / !40510"},
    {"SELECT SUBSTRING(N'😀',2,1)", "nvarchar(1) / !40510"},
    {"SELECT LEFT(N'a😀b',2)", "nvarchar(4) / !40510"},
    {"SELECT RIGHT(N'a😀b',2)", "nvarchar(4) / !40510"},
    {"SELECT STUFF(N'😀abc',2,1,N'-')", "nvarchar(6)? / !40510"},
    {"SELECT REVERSE(N'a😀')", "nvarchar(3) / !40510"},
    {"SELECT NCHAR(55357)", "nchar(1)? / !40510"},
    {"SELECT CAST(N'ab😀' AS nvarchar(3))", "nvarchar(3) / !40510"},
    {"DECLARE @s nvarchar(3) = N'ab😀'; SELECT @s", "!40510"},
    {"SELECT CASE WHEN N'😀' LIKE N'_' THEN 1 END", "int? / !40510"},
    {"SELECT CASE WHEN N'a😀b' LIKE N'a%b' THEN 1 END", "int? / 1"},
    {"SELECT UPPER(N'straße ñ привет ω'), LOWER('ÀÉ'), LEN(N'😀'), DATALENGTH('é'), N'ПРИВЕТ', CASE "
     "WHEN N'ПРИВЕТ' = N'привет' THEN 1 END",
     "nvarchar(17),varchar(2),int,int,nvarchar(6),int? / STRAßE Ñ ПРИВЕТ Ω,àé,2,1,ПРИВЕТ,1"},
    {"SELECT CAST(N'Ω' AS varchar(5)), 'Ω', ASCII('A'), CHAR(65), NCHAR(937), UNICODE(N'Ω'), "
     "STUFF('abcd',2,2,'XYZ'), SPACE(2)+'|'",
     "varchar(5),varchar(1),int?,char(1)?,nchar(1)?,int?,varchar(7)?,varchar(8000)? / "
     "?,?,65,A,Ω,937,aXYZd,  |"},
    {"SELECT SUM(v) FROM (VALUES (2000000000),(2000000000)) x(v)", "int? / !8115"},
    {"SELECT AVG(v), SUM(CAST(v AS bigint)) FROM (VALUES (2000000000),(2000000001)) x(v)",
     "int?,bigint? / 2000000000,4000000001"},
    {"SELECT AVG(v) FROM (VALUES (1),(2)) x(v)", "int? / 1"},
    {"SELECT AVG(v), SUM(v) FROM (VALUES (1.0),(2.5)) x(v)",
     "numeric(38,6)?,numeric(38,1)? / 1.750000,3.5"},
    {"SELECT 1 AS a, 2 AS a", "int,int / 1,2"},
    {"SELECT [select] FROM (SELECT 1 AS [select]) AS [from]", "int / 1"},
    {"SELECT \"q\" = 5, b = 6", "int,int / 5,6"},
    {"SELECT dbo.emp.id FROM dbo.emp", "int / 2 / 3 / 4 / 12 / 13 / 14 / 100 / 101"},
    {"SELECT id FROM other.emp", "!208"},
    {"SELECT 1; -- comment", "int / 1"},
    {"SELECT /* a /* nested */ b */ 1", "int / 1"},
    {"DROP TABLE kinds; DROP TABLE emp, dept", ""},
    {"SELECT 1 WHERE EXISTS (SELECT 1 WHERE 1=0)", "int"},
    {"SELECT LEN(REPLICATE('x', 9000)), LEN(REPLICATE(CAST('z' AS varchar(max)),9000))",
     "int?,bigint? / 8000,9000"},
};

static const pair more[] = {
    {"SELECT CAST(1 AS tinyint) + CAST(255 AS tinyint)", "tinyint? / !8115"},
    {"SELECT CAST(1 AS smallint) + CAST(1 AS tinyint), CAST(1 AS bigint) * 2, CAST(1 AS real) + 1, "
     "1e0 + 1.5, CAST(1 AS bit) + 1",
     "smallint?,bigint?,real?,float?,int? / 2,2,2,2.5,2"},
    {"SELECT 9223372036854775807 + 1", "numeric(20,0)? / 9223372036854775808"},
    {"SELECT CAST(9223372036854775807 AS bigint) + 1", "bigint? / !8115"},
    {"SELECT CAST(-2147483648 AS int) / -1", "int? / !8115"},
    {"SELECT -CAST(-2147483648 AS int)", "int / !8115"},
    {"SELECT 1e308 * 10", "float? / !8115"},
    {"SELECT 5 / 2.0, 5.0 / 2, 1.0 / 3.0, CAST(1 AS decimal(38,10)) / CAST(3 AS decimal(38,10)), "
     "1.5 % 1",
     "numeric(8,6)?,numeric(7,6)?,numeric(8,6)?,numeric(38,6)?,numeric(2,1)? / "
     "2.500000,2.500000,0.333333,0.333333,0.5"},
    {"SELECT 7 % 0", "int? / !8134"},
    {"SELECT 1.0 / 0", "numeric(7,6)? / !8134"},
    {"SELECT 1e0 / 0", "float? / !8134"},
    {"SELECT CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN 1=0 THEN 1/0 ELSE 5 END, "
     "CASE WHEN 1=1 THEN 1 ELSE 2.5 END",
     "varchar(3)?,int?,numeric(11,1) / two,5,1.0"},
    {"SELECT CASE WHEN 1=1 THEN 'x' ELSE 1 END", "int / !245"},
    {"SELECT COALESCE(CAST(NULL AS int), 2.5), ISNULL(CAST(NULL AS varchar(2)), 'abcdef'), "
     "NULLIF('a','A')",
     "numeric(11,1),varchar(2),varchar(1)? / 2.5,ab,NULL"},
    {"SELECT 'x' + CAST(5 AS varchar), N'x' + 'y' + CAST('z' AS char(3))",
     "varchar(31),nvarchar(5) / x5,xyz  "},
    {"SELECT CAST('abc' AS char(5)) + '|', CAST('abcdef' AS varchar(3)), CAST(0x010203 AS "
     "varbinary(2)), CAST(0x01 AS binary(3))",
     "varchar(6),varchar(3),varbinary(2),binary(3) / abc  |,abc,0x0102,0x010000"},
    {"SELECT 1 WHERE 'a' = 'A' AND 'a ' = 'a' AND N'ä' = N'Ä' AND 'a' <> 'á'", "int / 1"},
    {"SELECT 1 WHERE 0x01 = 0x0100 AND 0x01 < 0x0101", "int / 1"},
    {"SELECT 1 WHERE '2024-01-01' = CAST('2024-01-01' AS datetime2) AND CAST('2024-01-01 00:00:00 "
     "+02:00' AS datetimeoffset) = CAST('2023-12-31 22:00:00 +00:00' AS datetimeoffset)",
     "int / 1"},
    {"SELECT 1 WHERE 10 > '9' AND '10' < '9'", "int / 1"},
    {"SELECT 1 WHERE 'abc' LIKE 'a%' AND 'abc' LIKE '_b_' AND 'a%c' LIKE 'a[%]c' AND 'abc' LIKE "
     "'[a-c][b]%' AND NOT 'abc' LIKE '[^a]%' AND '' LIKE '%' AND 'a ' LIKE 'a'",
     "int / 1"},
    {"SELECT 1 WHERE N'a ' LIKE N'a'", "int"},
    {"SELECT 1 WHERE 'a' LIKE NULL OR NOT ('a' LIKE NULL)", "int"},
    {"SELECT 1 WHERE (1=1 OR 1/0=1) AND NOT (1=0 AND 1/0=1)", "int / 1"},
    {"SELECT 1 WHERE 2 NOT BETWEEN 3 AND 4 AND NULL IS NULL AND 1 IS NOT NULL", "int / 1"},
    {"SELECT LEN(''), LEN(' a '), LEN(NULL), LEN(123), LEN(0x0100), DATALENGTH(1), "
     "DATALENGTH(CAST(1 AS bigint)), DATALENGTH(N'é'), DATALENGTH(GETDATE()), DATALENGTH(1.5)",
     "int,int,int?,int,int,int,int,int,int,int / 0,2,NULL,3,2,4,8,2,8,5"},
    {"SELECT SUBSTRING('abc',0,2), SUBSTRING('abc',2,100), SUBSTRING(N'日本語',2,1), "
     "SUBSTRING(0x010203,2,1), RIGHT('abc',5), LEFT(N'日本',1)",
     "varchar(2),varchar(3),nvarchar(1),varbinary(1),varchar(3),nvarchar(2) / a,bc,本,0x02,abc,日"},
    {"SELECT CHARINDEX('b','abcb',3), CHARINDEX('z','abc'), CHARINDEX('','abc'), "
     "REPLACE('abc','','x'), REPLACE('ABAB','a','--'), REPLICATE('a',0), REPLICATE('a',-1), "
     "REVERSE(N'日本')",
     "int,int,int,varchar(8000),varchar(8000),varchar(8000)?,varchar(8000)?,nvarchar(2) / "
     "4,0,0,abc,--B--B,,NULL,本日"},
    {"SELECT ROUND(1234.5678,2), ROUND(1234.5678,-2), ROUND(1234.5678,2,1), ROUND(5,-1), "
     "ROUND(CAST(2.5 AS float),0), FLOOR(CAST(-1.5 AS float)), CEILING(-1.5), ABS(-1.5), SIGN(-3), "
     "SIGN(0.0)",
     "numeric(8,4),numeric(8,4),numeric(8,4),int,float,float,numeric(2,0),numeric(2,1),int,numeric("
     "1,1) / 1234.5700,1200.0000,1234.5600,10,3,-2,-1,1.5,-1,0.0"},
    {"SELECT ROUND(999.9, 0)", "numeric(4,1) / !8115"},
    {"SELECT ABS(CAST(-2147483648 AS int))", "int / !8115"},
    {"SELECT DATEADD(month,1,'2024-01-31'), DATEADD(hh,25,CAST('2024-01-01' AS datetime2(0))), "
     "DATEADD(mi,-1,CAST('00:00' AS time(0))), DATEADD(ms,3,CAST('2024-01-01' AS datetime)), "
     "DATEADD(dd,1,CAST('2024-01-01 00:00:00 +05:00' AS datetimeoffset(0)))",
     "datetime,datetime2(0),time(0),datetime,datetimeoffset(0) / 2024-02-29 "
     "00:00:00.000,2024-01-02 01:00:00,23:59:00,2024-01-01 00:00:00.003,2024-01-02 00:00:00 "
     "+05:00"},
    {"SELECT DATEDIFF(year,'2023-12-31','2024-01-01'), DATEDIFF(month,'2024-01-31','2024-02-01'), "
     "DATEDIFF(week,'2024-01-06','2024-01-07'), DATEDIFF(hour,'2024-01-01 00:59','2024-01-01 "
     "01:00'), DATEDIFF(second,CAST('10:00' AS time),CAST('10:00:05' AS time))",
     "int,int,int,int,int / 1,1,1,1,5"},
    {"SELECT DATEPART(quarter,'2024-05-01'), DATEPART(dy,'2024-03-01'), DATEPART(dw,'2024-02-29'), "
     "DATEPART(wk,'2024-02-29'), DATEPART(ms,'2024-01-01 00:00:00.123'), "
     "DATENAME(month,'2024-02-01'), DATENAME(dw,'2024-02-29'), EOMONTH('2024-02-01'), "
     "DATEFROMPARTS(2024,2,29)",
     "int,int,int,int,int,nvarchar(30),nvarchar(30),date,date / "
     "2,61,5,9,123,February,Thursday,2024-02-29,2024-02-29"},
    {"SELECT DATEPART(foo, GETDATE())", "!40510"},
    {"SELECT SCOPE_IDENTITY(), @@IDENTITY, @@LANGUAGE, @@DATEFIRST, @@MAX_PRECISION, @@TEXTSIZE, "
     "CURRENT_USER, APP_NAME(), USER_NAME(), CURRENT_TIMESTAMP",
     "numeric(38,0)?,numeric(38,0)?,nvarchar(128),tinyint,tinyint,int,nvarchar(128)?,nvarchar(128)?"
     ",nvarchar(128)?,datetime / NULL,NULL,us_english,7,38,2147483647,dbo,tests,dbo,2024-02-29 "
     "12:34:56.123"},
    {"SELECT POWER(2.0,3), POWER(2e0,0.5), SQRT(16), CAST(POWER(2,30) AS bigint)*4",
     "numeric(2,1),float,float,bigint? / 8.0,1.4142135623730951,4,4294967296"},
    {"SELECT POWER(2,31)", "int / !232"},
    {"DECLARE @d decimal(5,2) = 123.456, @v varchar(3) = 'abcdef', @c char(4) = 'x', @b bit = 5, "
     "@t time(0) = '10:11:12.6'; SELECT @d, @v, @c, @b, @t",
     "decimal(5,2)?,varchar(3)?,char(4)?,bit?,time(0)? / 123.46,abc,x   ,1,10:11:13"},
    {"DECLARE @d decimal(3,1); SET @d = 100", "!8115"},
    {"DECLARE @x int; SET @x = 'abc'", "!245"},
    {"DECLARE @x int = 1; SELECT @x = @x + n FROM (VALUES (1),(2),(3)) v(n); SELECT @x, @@ROWCOUNT",
     "int?,int / 7,3"},
    {"SET @undeclared = 1", "!137"},
    {"SET @late = 1; DECLARE @late int", "!137"},
    {"SELECT @x = 1, 2", "!137"},
    {"CREATE TABLE a(i int PRIMARY KEY, s varchar(10) DEFAULT 'dflt', n nvarchar(5) NOT NULL "
     "DEFAULT N'né', g uniqueidentifier DEFAULT NEWID())",
     ""},
    {"INSERT a(i) VALUES (1); INSERT a DEFAULT VALUES", "#1 / !515"},
    {"INSERT a(i,s) VALUES (2,DEFAULT),(3,NULL); SELECT i, s, n, CASE WHEN g IS NULL THEN 0 ELSE 1 "
     "END FROM a ORDER BY i",
     "#2 / int,varchar(10)?,nvarchar(5),int / 1,dflt,né,1 / 2,dflt,né,1 / 3,NULL,né,1"},
    {"UPDATE a SET s = DEFAULT WHERE i = 3; SELECT s FROM a WHERE i = 3",
     "#1 / varchar(10)? / dflt"},
    {"INSERT a(i) VALUES ('x')", "!245"},
    {"INSERT a(i) VALUES (4),('5'),(6); SELECT COUNT(*) FROM a", "#3 / int / 6"},
    {"INSERT a(i) VALUES (7),(7); SELECT COUNT(*) FROM a WHERE i = 7", "!2627 / int / 0"},
    {"INSERT a(i) SELECT i + 10 FROM a UNION ALL SELECT 1; SELECT COUNT(*) FROM a",
     "!2627 / int / 6"},
    {"INSERT a(i) VALUES (CAST('2024-01-01' AS date))", "!206"},
    {"INSERT a(i, nope) VALUES (1, 2)", "!207"},
    {"INSERT nope VALUES (1)", "!208"},
    {"DELETE nope", "!208"},
    {"UPDATE a SET i = i, i = 2", "!264"},
    {"SELECT A.I FROM A ORDER BY a.i DESC", "int / 6 / 5 / 4 / 3 / 2 / 1"},
    {"SELECT i AS x FROM a ORDER BY x DESC, i", "int / 6 / 5 / 4 / 3 / 2 / 1"},
    {"SELECT TOP 2 i FROM a ORDER BY 1 DESC", "int / 6 / 5"},
    {"SELECT i FROM a ORDER BY i OFFSET -1 ROWS", "int / !10742"},
    {"SELECT i FROM a ORDER BY i OFFSET 0 ROWS FETCH NEXT 0 ROWS ONLY", "int / !10744"},
    {"SELECT i FROM a ORDER BY i OFFSET 4 ROWS", "int / 5 / 6"},
    {"SELECT i % 2 AS odd, COUNT(*) FROM a GROUP BY i % 2 HAVING COUNT(*) > 1 ORDER BY 1",
     "int?,int / 0,3 / 1,3"},
    {"SELECT i + 1 FROM a GROUP BY i % 2", "!8120"},
    {"SELECT i FROM a WHERE i = (SELECT i FROM a)", "int / !512"},
    {"SELECT MAX(i) FROM a GROUP BY (SELECT 1)", "!144"},
    {"SELECT 1 FROM a GROUP BY 1", "!164"},
    {"SELECT COUNT(*) FROM a GROUP BY i % 2 ORDER BY i", "!8127"},
    {"SELECT (SELECT COUNT(*) FROM a y WHERE y.i <= x.i) FROM a x WHERE x.i < 4 ORDER BY x.i",
     "int? / 1 / 2 / 3"},
    {"SELECT x.i, (SELECT MAX(y.i) FROM a y WHERE y.i < x.i) FROM a x GROUP BY x.i HAVING x.i < 3 "
     "ORDER BY x.i",
     "int,int? / 1,NULL / 2,1"},
    {"SELECT s, (SELECT MAX(y.i) FROM a y WHERE y.i < x.i) FROM a x GROUP BY s", "!8120"},
    {"SELECT * FROM a x JOIN (SELECT i, COUNT(*) c FROM a GROUP BY i) y ON x.i = y.i WHERE y.c > 1",
     "int,varchar(10)?,nvarchar(5),uniqueidentifier?,int,int"},
    {"SELECT i FROM a WHERE i IN (1.0, '2')", "int / 1 / 2"},
    {"SELECT i FROM a WHERE i IN (SELECT '2' UNION SELECT '3') ORDER BY i", "int / 2 / 3"},
    {"SELECT COUNT(*) FROM a WHERE s IN ('DFLT ', 'x')", "int / 6"},
    {"SELECT 1 AS i UNION ALL SELECT i FROM a WHERE i < 3 UNION SELECT 1 ORDER BY i",
     "int / 1 / 2"},
    {"SELECT i FROM (SELECT TOP 2 i FROM a ORDER BY i DESC) z ORDER BY i", "int / 5 / 6"},
    {"SELECT b.x FROM (SELECT 1) b(x)", "int / 1"},
    {"SELECT b.x FROM (SELECT 1, 2) b(x)", "!8158"},
    {"SELECT b.x FROM (SELECT 1) b(x, y)", "!8159"},
    {"SELECT * FROM (VALUES (1),(2,3)) v(a)", "!10709"},
    {"TRUNCATE TABLE a; SELECT COUNT(*) FROM a", "# / int / 0"},
    {"CREATE TABLE a(i int)", "!2714"},
    {"DROP TABLE a", ""},
    {"CREATE TABLE a(i int, j int, CONSTRAINT uq UNIQUE (i, j)); INSERT a VALUES "
     "(1,NULL),(1,2),(NULL,NULL); INSERT a VALUES (NULL,NULL); INSERT a VALUES (1,NULL)",
     "#3 / !2627 / !2627"},
    {"CREATE TABLE b(i tinyint IDENTITY(254,1), j int); INSERT b(j) VALUES (1); INSERT b(j) VALUES "
     "(2); INSERT b(j) VALUES (3)",
     "#1 / #1 / !8115"},
    {"UPDATE b SET i = 1", "!8102"},
    {"IF 1 = 1 SELECT 'a' ELSE SELECT 'b'", "varchar(1) / a"},
    {"IF 1 = 0 SELECT 'a'; ELSE SELECT 'b'", "varchar(1) / b"},
    {"IF NULL = 1 SELECT 'a'", ""},
    {"WHILE 1 = 1 BREAK; SELECT 'out'", "varchar(3) / out"},
    {"BREAK", "!156"},
    {"PRINT N'ü'; PRINT 1; PRINT NULL; PRINT 1.50", "i:ü / i:1 / i: / i:1.50"},
    {"PRINT 'a' + 1", "!245"},
    {"RAISERROR('info', 10, 1); SELECT @@ERROR", "i:info / int / 0"},
    {"RAISERROR(N'bad', 16, 2); SELECT @@ERROR", "!50000 / int / 50000"},
    {"RAISERROR('x', 19, 1)", "!2754"},
    {"THROW 49999, 'x', 1", "!2732"},
    {"SELECT 1; THROW 50000, 'end', 1; SELECT 2", "int / 1 / !50000"},
    {"RETURN; SELECT 1", ""},
    {"SELECT 1; RETURN", "int / 1"},
    {"BEGIN TRAN; BEGIN TRAN; COMMIT; ROLLBACK; COMMIT", "begun / rolled back / !3902"},
    {"BEGIN TRAN; CREATE TABLE tx(i int); INSERT tx VALUES (1); ROLLBACK; SELECT * FROM tx",
     "begun / #1 / rolled back / !208"},
    {"BEGIN TRAN; DROP TABLE b; ROLLBACK; SELECT COUNT(*) FROM b", "begun / rolled back / int / 2"},
    {"SET NOCOUNT ON; INSERT a VALUES (5,5); SET NOCOUNT OFF; INSERT a VALUES (6,6)", "# / #1"},
    {"SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS ON; SET ARITHABORT ON; SET "
     "CONCAT_NULL_YIELDS_NULL ON; SET CURSOR_CLOSE_ON_COMMIT OFF; SET IMPLICIT_TRANSACTIONS OFF; "
     "SET ROWCOUNT 0; SET DATEFIRST 7; SET LOCK_TIMEOUT -1; SET TRANSACTION ISOLATION LEVEL "
     "SERIALIZABLE; SET NUMERIC_ROUNDABORT OFF",
     ""},
    {"SET LANGUAGE us_english", "i:Changed language setting to us_english."},
    {"SELECT [a]]b] FROM (SELECT 1 AS [a]]b]) x; SELECT 'it''s', \"x\"\"y\" FROM (SELECT 2 AS "
     "\"x\"\"y\") z",
     "int / 1 / varchar(4),int / it's,2"},
    {"CREATE TABLE [my table]([a b] int, [select] int); INSERT [my table]([a b]) VALUES (1); "
     "SELECT [a b], [select] FROM [MY TABLE]",
     "#1 / int?,int? / 1,NULL"},
    {"SELECT 1;;;SELECT 2", "int / 1 / int / 2"},
    {";", ""},
    {"SELECT 1 SELECT 2", "int / 1 / int / 2"},
    {"SELECT 1 'x', 2 AS 'y'", "int,int / 1,2"},
    {"SELECT DISTINCT 1, 'a' UNION SELECT 1, 'A'", "int,varchar(1) / 1,A"},
    {"SELECT CAST(1 AS int) x UNION ALL SELECT CAST(NULL AS int)", "int? / 1 / NULL"},
    {"SELECT CAST(N'a' AS nvarchar(max)) + N'b', CAST('a' AS varchar(max))",
     "nvarchar(max),varchar(max) / ab,a"},
    {"SELECT CONVERT(int, '12'), CONVERT(varchar, 5), CONVERT(decimal(5,1), '1.25'), CONVERT(date, "
     "'2024-02-29', 120)",
     "int,varchar(30),decimal(5,1),date / 12,5,1.3,2024-02-29"},
    {"SELECT COUNT(*) FROM aloft_lite_table", "!208"},
    {"SELECT * FROM sys.tables", "!208"},
    {"SELECT * FROM INFORMATION_SCHEMA.TABLES", "!208"},
};

static const pair errors[] = {
    {"SELECT "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "!103"},
    {"CREATE TABLE g(a int, b int)", ""},
    {"INSERT g(a) VALUES (1,2)", "!110"},
    {"INSERT g(a) SELECT 1,2", "!121"},
    {"CREATE TABLE h(a int DEFAULT zz)", "!128"},
    {"UPDATE g SET a = COUNT(*)", "!157"},
    {"SELECT @x = a, b FROM g", "!137"},
    {"DECLARE @x int; SELECT @x = a, b FROM g", "!141"},
    {"SELECT 1e999", "!168"},
    {"SELECT CHARINDEX('a')", "!189"},
    {"SELECT TOP (1.5) a FROM g", "!1060"},
    {"SELECT a, b FROM g GROUP BY a HAVING b > 1", "!8120"},
    {"SELECT a FROM g GROUP BY a HAVING b > 1", "!8121"},
    {"CREATE TABLE h(a int NULL IDENTITY)", "!8147"},
    {"INSERT g VALUES (1); INSERT g SELECT 1", "!213"},
    {"CREATE TABLE h(a int IDENTITY, b int)", ""},
    {"INSERT h VALUES (1,2)", "!8101"},
    {"SELECT LEN(0x01), UPPER(0x01)", "!8116"},
};

/* Constructs of T-SQL that lite does not have. */
static const char *const missing[] = {
    "MERGE t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
    "WITH c AS (SELECT 1 AS a) SELECT * FROM c",
    "SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t",
    "SELECT SUM(a) OVER (PARTITION BY a) FROM t",
    "SELECT * FROM t PIVOT (SUM(a) FOR b IN ([1])) p",
    "SELECT * FROM t UNPIVOT (a FOR b IN (c)) p",
    "DECLARE c CURSOR FOR SELECT 1",
    "OPEN c",
    "FETCH NEXT FROM c",
    "CLOSE c",
    "DEALLOCATE c",
    "EXEC sp_who",
    "EXECUTE ('SELECT 1')",
    "EXEC sp_executesql N'SELECT 1'",
    "ALTER TABLE t ADD b int",
    "CREATE VIEW v AS SELECT 1 AS a",
    "CREATE INDEX i ON t(a)",
    "CREATE UNIQUE INDEX i ON t(a)",
    "CREATE PROCEDURE p AS SELECT 1",
    "CREATE OR ALTER VIEW v AS SELECT 1 AS a",
    "CREATE FUNCTION f() RETURNS int AS BEGIN RETURN 1 END",
    "CREATE TRIGGER g ON t AFTER INSERT AS SELECT 1",
    "CREATE TABLE #t(a int)",
    "CREATE TABLE x(a int CHECK (a > 0))",
    "CREATE TABLE x(a int FOREIGN KEY REFERENCES t(a))",
    "CREATE TABLE x(a int, b AS a + 1)",
    "CREATE TABLE x(a money)",
    "CREATE TABLE x(a xml)",
    "CREATE TABLE x(a text)",
    "CREATE TABLE x(a sql_variant)",
    "CREATE TABLE x(a rowversion)",
    "CREATE TABLE x(a varchar(10) COLLATE Latin1_General_BIN)",
    "CREATE TABLE x(a int) ON [PRIMARY]",
    "DROP VIEW v",
    "DROP INDEX i ON t",
    "DROP PROCEDURE p",
    "GRANT SELECT ON t TO u",
    "BACKUP DATABASE test TO DISK = 'x'",
    "DBCC CHECKDB",
    "KILL 51",
    "BULK INSERT t FROM 'x'",
    "GOTO done",
    "BEGIN TRY SELECT 1 END TRY BEGIN CATCH END CATCH",
    "SAVE TRAN a",
    "WAITFOR TIME '10:00'",
    "RAISERROR(50001, 16, 1)",
    "RAISERROR('%d', 16, 1)",
    "RAISERROR('%d', 16, 1, 5)",
    "THROW",
    "SELECT a INTO u FROM t",
    "SELECT TOP 10 PERCENT a FROM t",
    "SELECT TOP 1 WITH TIES a FROM t ORDER BY a",
    "SELECT a FROM t INTERSECT SELECT 1",
    "SELECT a FROM t EXCEPT SELECT 1",
    "SELECT a FROM t FOR XML PATH",
    "SELECT a FROM t FOR JSON AUTO",
    "SELECT a FROM t OPTION (RECOMPILE)",
    "SELECT a FROM t WITH (NOLOCK)",
    "SELECT a FROM t TABLESAMPLE (1 PERCENT)",
    "SELECT a FROM t CROSS APPLY (SELECT 1 AS b) x",
    "SELECT a FROM t OUTER APPLY (SELECT 1 AS b) x",
    "SELECT a FROM t INNER LOOP JOIN t u ON 1 = 1",
    "SELECT a FROM OPENROWSET('x', 'y', 'z')",
    "SELECT a FROM f(1)",
    "SELECT a FROM other.dbo.t",
    "SELECT a FROM @t",
    "SELECT a FROM t GROUP BY ROLLUP (a)",
    "SELECT a FROM t GROUP BY a WITH ROLLUP",
    "SELECT a FROM t WHERE a = ANY (SELECT 1)",
    "SELECT a FROM t WHERE a > ALL (SELECT 1)",
    "SELECT a FROM t WHERE CONTAINS(a, 'x')",
    "SELECT a FROM t WHERE a IS DISTINCT FROM 1",
    "SELECT 'a' COLLATE Latin1_General_BIN",
    "SELECT GETDATE() AT TIME ZONE 'UTC'",
    "SELECT GETDATE() - 1",
    "SELECT dbo.f(1)",
    "SELECT {fn NOW()}",
    "SELECT FORMAT(1, 'x')",
    "SELECT STRING_AGG(a, ',') FROM t",
    "SELECT TRY_CAST('a' AS int)",
    "SELECT TRY_CONVERT(int, 'a')",
    "SELECT @@CPU_BUSY",
    "SELECT STDEV(a) FROM t",
    "SELECT CONVERT(varchar(30), GETDATE(), 131)",
    "SELECT 1 HAVING 1 = 1",
    "INSERT t EXEC p",
    "INSERT TOP (1) t VALUES (1)",
    "INSERT t OUTPUT inserted.a VALUES (1)",
    "UPDATE TOP (1) t SET a = 1",
    "UPDATE t SET a = 1 FROM t u",
    "UPDATE t SET a += 1",
    "UPDATE t SET a = 1 OUTPUT inserted.a",
    "UPDATE STATISTICS t",
    "DELETE TOP (1) FROM t",
    "DELETE t FROM t u",
    "DELETE FROM t WHERE CURRENT OF c",
    "SET ANSI_NULLS OFF",
    "SET QUOTED_IDENTIFIER OFF",
    "SET ROWCOUNT 5",
    "SET IDENTITY_INSERT t ON",
    "SET STATISTICS IO ON",
    "SET IMPLICIT_TRANSACTIONS ON",
    "SET LANGUAGE Deutsch",
    "SET DATEFIRST 1",
    "SET TEXTSIZE 10",
    "SET NOSUCHOPTION ON",
    "(SELECT 1)",
    "BEGIN DISTRIBUTED TRAN",
};

static void run_pairs(const pair *pairs, size_t count) {
  static script_output script;
  alo_engine *engine = script_engine(":memory:");
  alo_session *session = script_session(engine);
  int wrong = 0;
  for (size_t i = 0; i < count; i++) {
    script_run(&script, session, pairs[i].sql);
    if (strcmp(script.text, pairs[i].wanted) == 0)
      continue;
    fprintf(stderr, "%s\n  wanted %s\n  got    %s (%s)\n", pairs[i].sql, pairs[i].wanted,
            script.text, script.message);
    wrong++;
  }
  alo_session_close(session);
  alo_engine_close(engine);
  assert_int_equal(wrong, 0);
}

#define RUN(pairs) run_pairs(pairs, sizeof(pairs) / sizeof(pairs)[0])

static void test_thin(void **state) {
  (void)state;
  RUN(thin);
}

static void test_statements(void **state) {
  (void)state;
  RUN(statements);
}

static void test_values(void **state) {
  (void)state;
  RUN(values);
}

static void test_tables(void **state) {
  (void)state;
  RUN(tables);
}

static void test_more(void **state) {
  (void)state;
  RUN(more);
}

static void test_errors(void **state) {
  (void)state;
  RUN(errors);
}

/* Error 40510, and its text names something of the statement. */
static void test_missing(void **state) {
  (void)state;
  static script_output script;
  alo_engine *engine = script_engine(":memory:");
  alo_session *session = script_session(engine);
  script_run(&script, session, "CREATE TABLE t(a int)");
  int wrong = 0;
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
    script_run(&script, session, missing[i]);
    if (script.last.number == 40510 && strncmp(script.message, "Statement '", 11) == 0 &&
        script.message[11] != '\'')
      continue;
    fprintf(stderr, "%s: %s (%s)\n", missing[i], script.text, script.message);
    wrong++;
  }
  alo_session_close(session);
  alo_engine_close(engine);
  assert_int_equal(wrong, 0);
}

/* The whole texts of the messages that clients show most. */
static void test_messages(void **state) {
  (void)state;
  static const pair texts[] = {
      {"INSERT fortune VALUES (1, N'again')",
       "Violation of PRIMARY KEY constraint 'PK_fortune'. Cannot insert duplicate key in object "
       "'dbo.fortune'. The duplicate key value is (1)."},
      {"INSERT fortune(id) VALUES (2)",
       "Cannot insert the value NULL into column 'message', table 'test.dbo.fortune'; column does "
       "not allow nulls. INSERT fails."},
      {"UPDATE fortune SET message = NULL",
       "Cannot insert the value NULL into column 'message', table 'test.dbo.fortune'; column does "
       "not allow nulls. UPDATE fails."},
      {"INSERT fortune VALUES (2, N'much too long')",
       "String or binary data would be truncated in table 'test.dbo.fortune', column 'message'. "
       "Truncated value: 'much too l'."},
      {"SELECT * FROM nope", "Invalid object name 'nope'."},
      {"SELECT nope FROM fortune", "Invalid column name 'nope'."},
      {"SELECT f.nope FROM fortune f", "Invalid column name 'nope'."},
      {"SELECT x.id FROM fortune", "The multi-part identifier \"x.id\" could not be bound."},
      {"SELECT 1/0", "Divide by zero error encountered."},
      {"SELEC 1", "Incorrect syntax near 'SELEC'."},
      {"SELECT FROM fortune", "Incorrect syntax near the keyword 'FROM'."},
      {"MERGE fortune USING x ON 1=1",
       "Statement 'MERGE' is not supported in this version of SQL Server: lite has only what "
       "docs/lite.md lists."},
  };
  static script_output script;
  alo_engine *engine = script_engine(":memory:");
  alo_session *session = script_session(engine);
  script_run(&script, session,
             "CREATE TABLE fortune(id int NOT NULL CONSTRAINT PK_fortune PRIMARY KEY, "
             "message nvarchar(10) NOT NULL); INSERT fortune VALUES (1, N'first')");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    alo_event event;
    alo_batch batch = {.text = {texts[i].sql, strlen(texts[i].sql)}};
    assert_int_equal(alo_session_start(session, &batch), ALOFT_OK);
    while (alo_session_step(session, &event) != ALO_EVENT_MESSAGE)
      assert_int_not_equal(event.kind, ALO_EVENT_END);
    char text[512];
    snprintf(text, sizeof text, "%.*s", ALOFT_PRINT(event.message.text));
    assert_string_equal(text, texts[i].wanted);
    while (alo_session_step(session, &event) != ALO_EVENT_END)
      ;
  }
  alo_session_close(session);
  alo_engine_close(engine);
}

static void test_line_numbers(void **state) {
  (void)state;
  static script_output script;
  alo_engine *engine = script_engine(":memory:");
  alo_session *session = script_session(engine);
  script_run(&script, session, "SELECT 1\nSELECT\n  1/0");
  assert_int_equal(script.last.line, 2);
  script_run(&script, session, "SELECT 1\n\nSELEC 1");
  assert_int_equal(script.last.line, 3);
  script_run(&script, session, "/* a\n b */\nSELECT * FROM nope");
  assert_int_equal(script.last.line, 3);
  alo_session_close(session);
  alo_engine_close(engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thin),         cmocka_unit_test(test_statements),
      cmocka_unit_test(test_values),       cmocka_unit_test(test_tables),
      cmocka_unit_test(test_more),         cmocka_unit_test(test_errors),
      cmocka_unit_test(test_missing),      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_line_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
