/*
 * launcher.h - what a launcher is: a way to start a daemon on another host, in one file, NAME.c here, which defines
 * pvmd_launch_NAME. Its row is in launchers.h. doc/adding-a-launcher.md describes how to add one.
 */
#ifndef PVMD_LAUNCHER_H
#define PVMD_LAUNCHER_H

#include <stdbool.h>
#include <string.h>
#include "command.h"

/* What is known of a host when its launcher is chosen. */
struct pvmd_launch_wish {
    const char *start; /* so= of the hostfile, or NULL */
    bool loopback;     /* its name leads to this machine */
    bool answered;     /* the user brings the line of a daemon that was started by hand */
    bool joins;        /* its daemon has called us, and asks to join */
    const char *named; /* filled in from `start` and PVM_LAUNCHER: the launcher that is asked for, or "auto" */
};

/* How the start text reaches the daemon, and its line us. */
enum pvmd_launch_way {
    PVMD_WAY_COMMAND, /* over stdin and stdout of the launcher's command (launch.h) */
    PVMD_WAY_USER,    /* the user copies both */
    PVMD_WAY_HOSTER,  /* a hoster starts the daemon; then the launcher's command is our end of a channel to it */
    PVMD_WAY_ARRIVAL, /* over the connection that the daemon has made to our door (hosts/arrival.h) */
};

/* Whether the new daemon runs on this machine, where other daemons of this user do. */
enum pvmd_launch_where {
    PVMD_WHERE_THERE,
    PVMD_WHERE_HERE,
    PVMD_WHERE_NAMED, /* here if the host's name is a loopback address */
};

struct pvmd_launcher {
    const char *name;   /* in PVM_LAUNCHER and so=; NULL: never asked for by name */
    const char *option; /* its word in so=, if that is another one; NULL: `name` */
    const char *means;  /* what that word means, if it does not say so itself */
    const char *label;  /* in messages, such as "ssh" or "the user" */

    /* Whether it is the one for this host; NULL: if it is asked for by name. */
    bool (*serves)(const struct pvmd_launch_wish *w);

    /* Adds the words of the command that reaches the host, passes on stdin and stdout, and runs `pvmd3 -s` there. */
    void (*command)(const struct pvmd_launch_order *o, struct pvmd_command *c);

    enum pvmd_launch_way way;
    enum pvmd_launch_where where;
    bool travels;   /* its command does the same on any member, which may then run it in the master's place */
    bool asks;      /* its command may ask the user something */
    double limit_s; /* time limit, if PVM_START_TIMEOUT is shorter */
};

/* For `serves`: whether the launcher of this name is asked for; whether none is. */
static inline bool pvmd_launch_is_named(const struct pvmd_launch_wish *w, const char *name)
{
    return name && !strcmp(w->named, name);
}

static inline bool pvmd_launch_is_auto(const struct pvmd_launch_wish *w)
{
    return !strcmp(w->named, "auto");
}

#endif
