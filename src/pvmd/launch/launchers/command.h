/* command.h - the command lines that launchers make. */
#ifndef PVMD_COMMAND_H
#define PVMD_COMMAND_H

#include <stdbool.h>

/* What a launcher needs to know. */
struct pvmd_launch_order {
    const char *target;      /* for the launcher: ip= if given, else the host's name */
    const char *login;       /* NULL: the same user */
    const char *daemon_path; /* dx= or PVM_DPATH; NULL: our own path, or the PATH there */
    double connect_s;        /* a command that can tell an unreachable host should say so within this time */
};

/* A command line: copies of its words, and NULL. */
#define PVMD_COMMAND_MAX 24

struct pvmd_command {
    char *argv[PVMD_COMMAND_MAX + 1];
    unsigned count;
    bool failed; /* out of memory, or too long */
};

void pvmd_command_add(struct pvmd_command *c, const char *word);
__attribute__((format(printf, 2, 3))) void pvmd_command_addf(struct pvmd_command *c, const char *format, ...);
void pvmd_command_free(struct pvmd_command *c);

/* The command for a remote host's shell that finds the daemon and starts it; the caller frees it, NULL: no memory. */
char *pvmd_launch_remote_command(const struct pvmd_launch_order *o);

#endif
