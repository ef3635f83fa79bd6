/* The subcommands of aloft. argv[0] is the subcommand's name; each returns an exit status. */
#ifndef ALO_COMMAND_H
#define ALO_COMMAND_H

int alo_command_request(int argc, char **argv);
int alo_command_reply(int argc, char **argv);
int alo_command_pub(int argc, char **argv);
int alo_command_sub(int argc, char **argv);
int alo_command_sql(int argc, char **argv);
int alo_command_gateway(int argc, char **argv);
int alo_command_lite(int argc, char **argv);
int alo_command_bench(int argc, char **argv); /* becomes aloft-bench, when it is there */
int alo_command_version(int argc, char **argv);
int alo_command_help(int argc, char **argv);

#endif
