/* target.h - an argument of `add`: the host, how the daemon reaches it, and commands for its shell. */
#ifndef TARGET_H
#define TARGET_H

#include <limits.h>
#include <stdbool.h>
#include "console/line.h"

enum { TARGET_WORDS_MAX = 16 };

struct target {
    struct words words;
    const char *name;   /* as given, without options */
    const char *host;   /* for the launcher: ip= if given, else the name */
    const char *login;  /* lo= or NULL */
    const char *daemon; /* dx=, else PVM_DPATH; NULL: beside this program */
    const char *start;  /* so= or NULL */
};

/* Reads an argument. 0, or -1 with the reason in why[size]. target_free() is due in both cases. */
int target_read(const char *argument, struct target *t, char *why, size_t size);
void target_free(struct target *t);

/*
 * The command with which the daemon reaches the host, if we can run it as well: "ssh", or the value of PVM_RSH. NULL if
 * there is none: the host is this computer, or its daemon is started by hand or with a password.
 */
const char *target_launcher(const struct target *t);

/* Whether the name stands for a loopback address, so that a daemon starts on this computer. */
bool target_is_loopback(const struct target *t);

/* The path of the daemon there. */
void target_daemon_path(const struct target *t, char *path, size_t size);

/* A command line of the launcher. */
struct target_command {
    char *argv[TARGET_WORDS_MAX];
    char text[PATH_MAX]; /* storage of one word */
};

/* Makes the command line that runs `command` on the host. All texts must stay valid. ssh gives up after limit_s. */
void target_command(struct target_command *c, const struct target *t, const char *launcher, int limit_s,
                    const char *command);

#endif
