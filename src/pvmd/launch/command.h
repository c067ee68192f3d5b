/* command.h - launchers, and the command lines that they make. */
#ifndef PVMD_COMMAND_H
#define PVMD_COMMAND_H

#include <stdbool.h>

/* What a launcher needs to know. */
struct pvmd_launch_order {
    const char *target;      /* for the launcher: ip= if given, else the host's name */
    const char *login;       /* NULL: the same user */
    const char *daemon_path; /* dx= or PVM_DPATH; NULL: our own path, or the PATH there */
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

struct pvmd_launcher {
    const char *name;
    const char *label; /* its command's name in messages */
    /* Adds the words of the command. NULL: the user types one, see newcomer.c. */
    void (*command)(const struct pvmd_launch_order *o, struct pvmd_command *c);
};

extern const struct pvmd_launcher pvmd_launch_local, pvmd_launch_ssh, pvmd_launch_rsh, pvmd_launch_manual;

/*
 * Not found by name: the first for so=pw only, if somebody can be asked; the second while there is a hoster; the third
 * for daemons that join by themselves.
 */
extern const struct pvmd_launcher pvmd_launch_password, pvmd_launch_hoster, pvmd_launch_join;

/* The command for a remote host's shell that finds the daemon and starts it; the caller frees it, NULL: no memory. */
char *pvmd_launch_remote_command(const struct pvmd_launch_order *o);

#endif
