/*
 * probe.h - calls the API with valid and invalid arguments, and prints one line per call.
 *
 * The same source is compiled with the reference's header and library and with dpvm's; run-api compares the output of
 * both line by line. So nothing that differs between runs is printed: task ids appear by name, buffer ids and contexts
 * only as "id".
 */
#ifndef PROBE_H
#define PROBE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/time.h>
#define NOTMPNAM /* declares pvmtmpnam() */
#include "pvm3.h"

/* "pvm_send(me, 1) = -15 (NoBuf)" */
#define CALL(call) probe_result(#call, (long)(call))
/* The same for a positive result that is some id: "pvm_initsend(0) = id" */
#define ID(call) probe_id(#call, (long)(call))
/* Prints a fact: printf() with an indentation of two spaces. */
#define FACT(...) (printf("  " __VA_ARGS__), printf("\n"))

long probe_result(const char *call, long result);
long probe_id(const char *call, long result);

/* Turns off the library's own error lines, unless PROBE_LOUD is set, which means that these are compared. */
void probe_quiet(void);

/* The name of this task id here: me, parent, host, daemon, child 0 .. n, none, or other. */
const char *probe_name(int tid);

/*
 * Spawns `count` copies of this program in `role` (with up to two arguments) on this host; ends the probe on failure.
 */
void probe_children(const char *role, const char *argument, int count);
extern int probe_child[32];
extern char probe_self[1024]; /* path of this program */

/* Receives a message and prints it: "  message tag=5 from me, 4 bytes: 42". */
int probe_receive(int tid, int tag);

/* Waits this long on an idle machine, up to 6 times as long on a busy one, for events that send no message. */
void probe_wait_ms(int ms);

/* Runs a child's part; the first argument names the role. */
struct probe_role {
    const char *name;
    int (*run)(int argc, char **argv);
};
extern const struct probe_role probe_role_table[];

struct probe_section {
    const char *name;
    void (*run)(void);
};
extern const struct probe_section probe_local_table[];   /* sections_local.c: calls within the library */
extern const struct probe_section probe_pack_table[];    /* sections_pack.c: packing and unpacking */
extern const struct probe_section probe_message_table[]; /* sections_message.c: sending and receiving */
extern const struct probe_section probe_arrival_table[]; /* sections_arrival.c: which arrivals polls see */
extern const struct probe_section probe_machine_table[]; /* sections_machine.c: tasks, hosts, events, mailbox */
extern const struct probe_section
    probe_scenario_table[];                            /* sections_scenario.c: mailbox, handlers, contexts, matching */
extern const struct probe_section probe_group_table[]; /* sections_group.c */
extern const struct probe_section probe_jump_table[];  /* sections_jump.c */

/* Exported by both libraries, declared by no header. */
extern int pvm_errno, pvm_nerr;
extern char *pvm_errlist[];
int pvmsleep(int seconds);
int pvmstrtoi(char *text);
int pvmlogperror(char *text);
int pvmbailout(int code);
void pvmchkuid(int uid);
int pvmputenv(char *text);
int pvmupkstralloc(char **text);
int pvmgetclock(struct timeval *now);
char *pvmnametag(int tag, int *known);
int pvmsettaskname(char *name);
int lpvmerr(const char *function, int code);

#endif
