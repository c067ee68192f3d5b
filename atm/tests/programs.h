/* programs.h - a network process for tests, and programs in processes of their own. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <check.h>
#include <stdbool.h>
#include <sys/types.h>
#include "fore_atm.h"

/* Options of a test's network. The default is the thesis's hosts a, b, c, d at one switch, with the real clock. */
struct network {
    const char *topology; /* text; NULL: the default */
    bool is_virtual;
    unsigned wait_for;    /* programs, before time begins; 0: one */
    bool logs;            /* network_said() can be asked for its log, which is not shown then */
    unsigned descriptors; /* that it may have; 0: as many as the test */
};

/* Hosts a, b, c, d with this profile, and links with `options`. */
#define STAR(profile, options)                                                                                         \
    "host a profile=" profile "\nhost b profile=" profile "\nhost c profile=" profile "\nhost d profile=" profile      \
    "\nswitch s latency=500ns\n"                                                                                       \
    "link a s " options "\nlink b s " options "\nlink c s " options "\nlink d s " options "\n"

/* Starts the network and sets PVM_ATM_SOCKET. network_stop() checks that it ends with success and leaves no files. */
void network_start(const struct network *how);
void network_stop(void);

/* Whether it is alive. */
bool network_lives(void);

/* Whether its log contains the text, now or within seconds. */
bool network_said(const char *text);

/* Starts a program on that host: fn() in a process of its own, which exits with its result (0: success). */
pid_t program_start(const char *host, int (*fn)(void *arg), void *arg);

/* Waits for one or all programs; they must have succeeded. */
void program_wait(pid_t pid);

/* Adds a test that is run so often. Each is a case of its own, so that CK_RUN_CASE can select it. */
void network_test_add(Suite *s, const char *name, const TTest *test, int times);

/* In programs: exits with a message if the condition does not hold. */
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            program_fail(__FILE__, __LINE__, #condition);                                                              \
    } while (0)
void program_fail(const char *file, int line, const char *what) __attribute__((noreturn));

/* A pipe on which programs report figures to their test. */
void tell(int64_t figure);
int64_t told(void);

#endif
