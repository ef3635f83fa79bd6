#include "tsql_error.h"

#define S TSQL_ENDS_STATEMENT
#define B TSQL_ENDS_BATCH
#define T TSQL_ENDS_TRANSACTION
#define N "%.*s"

static const tsql_error_kind kinds[] = {
    {TSQL_ERROR_STOPPED, 0, 0, S, "stopped"},
    {TSQL_ERROR_BUSY, 0, 0, S, "busy"},
    {102, 15, 1, B, "Incorrect syntax near '" N "'."},
    {103, 15, 4, B, "The identifier that starts with '" N "' is too long. Maximum length is 128."},
    {104, 15, 1, B,
     "ORDER BY items must appear in the select list if the statement contains a UNION operator."},
    {105, 15, 1, B, "Unclosed quotation mark after the character string '" N "'."},
    {107, 15, 1, B,
     "The column prefix '" N "' does not match with a table name or alias name "
     "used in the query."},
    {108, 16, 1, B,
     "The ORDER BY position number %d is out of range of the number of items in the select list."},
    {109, 15, 1, B,
     "There are more columns in the INSERT statement than values specified in the VALUES clause. "
     "The number of values in the VALUES clause must match the number of columns specified in "
     "the INSERT statement."},
    {110, 15, 1, B,
     "There are fewer columns in the INSERT statement than values specified in the VALUES "
     "clause. The number of values in the VALUES clause must match the number of columns "
     "specified in the INSERT statement."},
    {113, 15, 1, B, "Missing end comment mark '*/'."},
    {116, 16, 1, B,
     "Only one expression can be specified in the select list when the subquery is not "
     "introduced with EXISTS."},
    {120, 15, 1, B,
     "The select list for the INSERT statement contains fewer items than the insert list. The "
     "number of SELECT values must match the number of INSERT columns."},
    {121, 15, 1, B,
     "The select list for the INSERT statement contains more items than the insert list. The "
     "number of SELECT values must match the number of INSERT columns."},
    {127, 15, 1, S, "A TOP N or FETCH rowcount value may not be negative."},
    {128, 15, 1, B,
     "The name \"" N "\" is not permitted in this context. Valid expressions are constants, "
     "constant expressions, and (in some contexts) variables. Column names are not permitted."},
    {130, 16, 1, B,
     "Cannot perform an aggregate function on an expression containing an aggregate or a "
     "subquery."},
    {134, 15, 2, B,
     "The variable name '" N "' has already been declared. Variable names must be unique within "
     "a query batch or stored procedure."},
    {137, 15, 2, B, "Must declare the scalar variable \"" N "\"."},
    {141, 15, 1, B,
     "A SELECT statement that assigns a value to a variable must not be combined with "
     "data-retrieval operations."},
    {144, 15, 1, B,
     "Cannot use an aggregate or a subquery in an expression used for the group by list of a "
     "GROUP BY clause."},
    {145, 15, 1, B,
     "ORDER BY items must appear in the select list if SELECT DISTINCT is specified."},
    {147, 15, 1, B,
     "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a "
     "HAVING clause or a select list, and the column being aggregated is an outer reference."},
    {148, 15, 1, S, "Incorrect time syntax in time string '" N "' used with WAITFOR."},
    {156, 15, 1, B, "Incorrect syntax near the keyword '" N "'."},
    {157, 15, 1, B, "An aggregate may not appear in the set list of an UPDATE statement."},
    {164, 15, 1, B,
     "Each GROUP BY expression must contain at least one column that is not an outer reference."},
    {168, 15, 1, B,
     "The floating point value '" N "' is out of the range of computer "
     "representation (8 bytes)."},
    {174, 15, 1, B, "The " N " function requires %d argument(s)."},
    {189, 15, 1, B, "The " N " function requires %d to %d arguments."},
    {191, 15, 1, B,
     "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up "
     "into smaller queries."},
    {195, 15, 10, B, "'" N "' is not a recognized built-in function name."},
    {205, 16, 1, B,
     "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number "
     "of expressions in their target lists."},
    {206, 16, 2, B, "Operand type clash: " N " is incompatible with " N},
    {207, 16, 1, B, "Invalid column name '" N "'."},
    {208, 16, 1, B, "Invalid object name '" N "'."},
    {209, 16, 1, B, "Ambiguous column name '" N "'."},
    {213, 16, 1, B, "Column name or number of supplied values does not match table definition."},
    {220, 16, 2, S, "Arithmetic overflow error for data type " N ", value = " N "."},
    {232, 16, 3, S, "Arithmetic overflow error for type " N ", value = %f."},
    {241, 16, 1, B, "Conversion failed when converting date and/or time from character string."},
    {242, 16, 3, B,
     "The conversion of a " N " data type to a " N " data type resulted in an out-of-range value."},
    {244, 16, 1, B,
     "The conversion of the " N " value '" N "' overflowed an " N
     " column. Use a larger integer column."},
    {245, 16, 1, B,
     "Conversion failed when converting the " N " value '" N "' to data type " N "."},
    {248, 16, 1, B, "The conversion of the " N " value '" N "' overflowed an int column."},
    {263, 16, 1, B, "Must specify table to select from."},
    {264, 16, 1, B,
     "The column name '" N "' is specified more than once in the SET clause or column list of an "
     "INSERT. A column cannot be assigned more than one value in the same clause. Modify the "
     "clause to make sure that a column is updated only once. If this statement updates or "
     "inserts columns into a view, column aliasing can conceal the duplication in your code."},
    {402, 16, 1, B, "The data types " N " and " N " are incompatible in the " N " operator."},
    {506, 16, 1, B, "The invalid escape character \"" N "\" was specified in a LIKE predicate."},
    {512, 16, 1, S,
     "Subquery returned more than 1 value. This is not permitted when the subquery follows =, "
     "!=, <, <= , >, >= or when the subquery is used as an expression."},
    {515, 16, 2, S,
     "Cannot insert the value NULL into column '" N "', table '" N
     "'; column does not allow nulls. " N " fails."},
    {517, 16, 1, S, "Adding a value to a '" N "' column caused an overflow."},
    {529, 16, 2, B, "Explicit conversion from data type " N " to " N " is not allowed."},
    {535, 16, 0, S,
     "The datediff function resulted in an overflow. The number of dateparts separating two "
     "date/time instances is too large. Try to use datediff with a less precise datepart."},
    {536, 16, 1, S, "Invalid length parameter passed to the " N " function."},
    {537, 16, 2, S, "Invalid length parameter passed to the LEFT or SUBSTRING function."},
    {544, 16, 1, B,
     "Cannot insert explicit value for identity column in table '" N
     "' when IDENTITY_INSERT is set to OFF."},
    {625, 16, 1, S, "The database file reports: " N "."},
    {701, 17, 1, B, "There is insufficient system memory to run this query."},
    {911, 16, 1, B,
     "Database '" N "' does not exist. Make sure that the name is entered correctly."},
    {1007, 15, 1, B,
     "The number '" N "' is out of the range for numeric representation (maximum precision 38)."},
    {1011, 16, 1, B, "The correlation name '" N "' is specified multiple times in a FROM clause."},
    {1013, 16, 1, B,
     "The objects \"" N "\" and \"" N
     "\" in the FROM clause have the same exposed names. Use correlation names to distinguish "
     "them."},
    {1033, 15, 1, B,
     "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and "
     "common table expressions, unless TOP, OFFSET or FOR XML is also specified."},
    {1046, 15, 1, B,
     "Subqueries are not allowed in this context. Only scalar expressions are allowed."},
    {1060, 15, 1, B,
     "The number of rows provided for a TOP or FETCH clauses row count parameter "
     "must be an integer."},
    {1205, 13, 51, T,
     "Transaction (Process ID %d) was deadlocked on lock resources with another process and has "
     "been chosen as the deadlock victim. Rerun the transaction."},
    {1222, 16, 45, S, "Lock request time out period exceeded."},
    {1702, 16, 1, B,
     "CREATE TABLE failed because column '" N "' in table '" N
     "' exceeds the maximum of 1024 columns."},
    {1911, 16, 1, B, "Column name '" N "' does not exist in the target table or view."},
    {1919, 16, 1, B,
     "Column '" N "' in table '" N
     "' is of a type that is invalid for use as a key column in an index."},
    {2627, 14, 1, S,
     "Violation of " N " constraint '" N "'. Cannot insert duplicate key in object '" N
     "'. The duplicate key value is (" N ")."},
    {2628, 16, 1, S,
     "String or binary data would be truncated in table '" N "', column '" N
     "'. Truncated value: '" N "'."},
    {2705, 16, 3, B,
     "Column names in each table must be unique. Column name '" N "' in table '" N
     "' is specified more than once."},
    {2714, 16, 6, B, "There is already an object named '" N "' in the database."},
    {2715, 16, 6, B, "Column, parameter, or variable #%d: Cannot find data type " N "."},
    {2717, 15, 2, B,
     "The size (%d) given to the parameter '" N "' exceeds the maximum allowed (%d)."},
    {2732, 16, 1, B, "Error number %d is invalid. The number must be from 50000 to 2147483647."},
    {2744, 16, 2, B,
     "Multiple identity columns specified for table '" N
     "'. Only one identity column per table is allowed."},
    {2749, 16, 2, B,
     "Identity column '" N
     "' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale "
     "of 0, unencrypted, and constrained to be nonnullable."},
    {2750, 16, 1, B,
     "Column or parameter #%d: Specified column precision %d is greater than the maximum "
     "precision of 38."},
    {2751, 16, 1, B,
     "Column or parameter #%d: Specified column scale %d is greater than the specified precision "
     "of %d."},
    {2754, 16, 1, S,
     "Error severity levels greater than 18 can only be specified by members of the sysadmin "
     "role, using the WITH LOG option."},
    {3621, 0, 0, S, "The statement has been terminated."},
    {3623, 16, 1, S, "An invalid floating point operation occurred."},
    {3701, 11, 5, S,
     "Cannot drop the table '" N "', because it does not exist or you do not have permission."},
    {3902, 16, 1, S, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."},
    {3903, 16, 1, S, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."},
    {4060, 11, 1, B, "Cannot open database \"" N "\" requested by the login. The login failed."},
    {4104, 16, 1, B, "The multi-part identifier \"" N "\" could not be bound."},
    {4145, 15, 1, B,
     "An expression of non-boolean type specified in a context where a condition is expected, "
     "near '" N "'."},
    {4701, 16, 1, B,
     "Cannot find the object \"" N "\" because it does not exist or you do not have permissions."},
    {5701, 0, 2, S, "Changed database context to '" N "'."},
    {5703, 0, 1, S, "Changed language setting to " N "."},
    {6401, 16, 1, S, "Cannot roll back " N ". No transaction or savepoint of that name was found."},
    {8101, 16, 1, B,
     "An explicit value for the identity column in table '" N
     "' can only be specified when a column list is used and IDENTITY_INSERT is ON."},
    {8102, 16, 1, B, "Cannot update identity column '" N "'."},
    {8110, 16, 0, B, "Cannot add multiple PRIMARY KEY constraints to table '" N "'."},
    {8111, 16, 1, B, "Cannot define PRIMARY KEY constraint on nullable column in table '" N "'."},
    {8114, 16, 5, B, "Error converting data type " N " to " N "."},
    {8115, 16, 2, S, "Arithmetic overflow error converting " N " to data type " N "."},
    {8116, 16, 1, B, "Argument data type " N " is invalid for argument %d of " N " function."},
    {8117, 16, 1, B, "Operand data type " N " is invalid for " N " operator."},
    {8120, 16, 1, B,
     "Column '" N "' is invalid in the select list because it is not contained in either an "
     "aggregate function or the GROUP BY clause."},
    {8121, 16, 1, B,
     "Column '" N "' is invalid in the HAVING clause because it is not contained in either an "
     "aggregate function or the GROUP BY clause."},
    {8127, 16, 1, B,
     "Column \"" N "\" is invalid in the ORDER BY clause because it is not contained in either "
     "an aggregate function or the GROUP BY clause."},
    {8133, 16, 1, B,
     "At least one of the result expressions in a CASE specification must be an expression other "
     "than the NULL constant."},
    {8134, 16, 1, S, "Divide by zero error encountered."},
    {8145, 16, 2, B, N " is not a parameter for procedure sp_executesql."},
    {8147, 16, 1, B,
     "Could not create IDENTITY attribute on nullable column '" N "', table '" N "'."},
    {8155, 16, 2, B, "No column name was specified for column %d of '" N "'."},
    {8156, 16, 1, B, "The column '" N "' was specified multiple times for '" N "'."},
    {8158, 16, 1, B, "'" N "' has more columns than were specified in the column list."},
    {8159, 16, 1, B, "'" N "' has fewer columns than were specified in the column list."},
    {8169, 16, 2, B,
     "Conversion failed when converting from a character string to uniqueidentifier."},
    {8170, 16, 2, S, "Insufficient result space to convert uniqueidentifier value to char."},
    {8178, 16, 1, B,
     "The parameterized query expects the parameter '" N "', which was not supplied."},
    {8629, 16, 1, S, "The query processor could not produce a plan: " N "."},
    {8632, 17, 2, B,
     "Internal error: An expression services limit has been reached. Please look for potentially "
     "complex expressions in your query, and try to simplify them."},
    {9810, 16, 1, B,
     "The datepart " N " is not supported by date function " N " for data type " N "."},
    {10709, 16, 1, B,
     "The number of columns for each row in a table value constructor must be the same."},
    {10742, 15, 1, S, "The offset specified in a OFFSET clause may not be negative."},
    {10744, 15, 1, S, "The number of rows provided for a FETCH clause must be greater then zero."},
    {40510, 16, 1, B,
     "Statement '" N "' is not supported in this version of SQL Server: lite "
     "has only what docs/lite.md lists."},
    {50000, 16, 1, S, N},
};

const tsql_error_kind *alo_tsql_error_table(size_t *count) {
  *count = sizeof kinds / sizeof *kinds;
  return kinds;
}

const tsql_error_kind *alo_tsql_error_kind(int number) {
  size_t count = sizeof kinds / sizeof *kinds;
  for (size_t i = 0; i < count; i++)
    if (kinds[i].number == number)
      return &kinds[i];
  return &kinds[count - 1];
}
