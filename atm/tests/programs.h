/* programs.h - a network process for tests, and programs that are processes of their own. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <check.h>
#include <stdbool.h>
#include <sys/types.h>
#include "fore_atm.h"

/* How a test's network differs from: the thesis's hosts a, b, c, d at one switch, real clock. */
struct network {
    const char *topology; /* text; NULL: as above */
    bool is_virtual;
    unsigned wait_for; /* programs, before time begins; 0: one */
};

/* The usual hosts and their links, with `options` of the links. */
#define STAR(profile, options)                                                                                         \
    "host a profile=" profile "\nhost b profile=" profile "\nhost c profile=" profile "\nhost d profile=" profile      \
    "\nswitch s latency=500ns\n"                                                                                       \
    "link a s " options "\nlink b s " options "\nlink c s " options "\nlink d s " options "\n"

/* Starts it; PVM_ATM_SOCKET leads there. network_stop() sees that it ends well and leaves nothing. */
void network_start(const struct network *how);
void network_stop(void);

/* Whether it is alive. */
bool network_lives(void);

/* A program on that host: fn() in a process of its own, which ends with its result (0: well). */
pid_t program_start(const char *host, int (*fn)(void *arg), void *arg);

/* Waits for one, or all; they must have ended well. */
void program_wait(pid_t pid);

/* In programs: ends this one with a message if the condition does not hold. */
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            program_fail(__FILE__, __LINE__, #condition);                                                              \
    } while (0)
void program_fail(const char *file, int line, const char *what) __attribute__((noreturn));

/* A pipe by which programs of a test tell it figures. */
void tell(int64_t figure);
int64_t told(void);

#endif
