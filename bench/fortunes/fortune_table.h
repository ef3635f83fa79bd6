/* The table of the Fortunes benchmark, on a server that lacks it. */
#ifndef ALO_FORTUNE_TABLE_H
#define ALO_FORTUNE_TABLE_H

/* Both use the connection string of the environment, and end the process when they fail. */

/* Creates and fills the table and prints "created"; or prints "there" and changes nothing. */
int alo_fortune_table_create(void);
int alo_fortune_table_drop(void);

#endif
