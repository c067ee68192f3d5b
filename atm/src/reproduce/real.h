/*
 * real.h - real PVM programs in the papers' experiments: dpvm's examples, run by `atm-sim machine` in processes of
 * their own. Their PVM sends by the transport atm, packets of the Fore API with a reliability layer, or by the daemons.
 */
#ifndef PVMA_REAL_H
#define PVMA_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include "report/report.h"

/* The rows of a paper that programs give (claims apart), and what runs the programs. */
struct real_experiment {
    const struct report_program *programs;
    size_t count;
    void (*run)(struct report *report);
};

extern const struct real_experiment real_four_apis, real_an2, real_tum, real_thesis, real_thesis2;

/*
 * Looks for the programs in `folder` (NULL: "examples" beside atm-sim), and tries to start a machine. False: they are
 * left out; why[size] says so.
 */
bool real_begin(const char *folder, char *why, size_t size);

/* Runs an experiment's programs twice: on a network that takes no time, for the null model, and on the paper's. */
void real_run_both(const struct real_experiment *experiment, struct report *report);

/* Whether the network takes no time now: its links and switches are a thousand times as fast. */
bool real_is_null(void);

/* The costs of PVM's daemons, as in a profile. */
struct real_daemons {
    double fragment_us, byte_us; /* both 0: the profile's */
    unsigned packet_bytes;       /* 0: the profile's */
};

struct real_setup {
    const char *profile; /* of the hosts */
    const char *costs;   /* that differ from it, as in a topology's line "profile"; NULL: none */
    const char *model;   /* of the switch, and its options */
    const char *rate;    /* of the links */
    unsigned hosts;
    double call_us;  /* PVM_ATM_CALL_COST, declared for each packet sent or received */
    bool by_daemons; /* echo's messages go by the daemons, not over a direct link */
    struct real_daemons daemons;
};

/*
 * Runs "NAME ARGUMENTS", charged only for its messages (PVM_ATM_CPU is 0), so that every run is the same; and reads up
 * to size bytes of its standard output into text. Ends atm-sim if it fails, since real_begin() has tried.
 */
void real_run(const struct real_setup *setup, const char *command, char *text, size_t size);

/* The same on a network of one's own, with variables of the environment such as "PVM_ATM_PROTOCOL=sscop". */
void real_run_on(const char *topology, const char *environment, const char *command, char *text, size_t size);

/* Ends atm-sim because of what a program printed. */
_Noreturn void real_fail(const char *command);

/* ---- echo ---- */

enum { REAL_SIZES_MAX = 32, REAL_LONG = 128 << 10 };

struct real_echo {
    unsigned count;
    double bytes[REAL_SIZES_MAX], us[REAL_SIZES_MAX]; /* half the median round trip */
};

/* Echoes between two hosts: 0 B to 128 KB; to 256 KB by the daemons. */
void real_echo(const struct real_setup *setup, struct real_echo *echo);

/* Of one size alone, by a few round trips. */
double real_echo_one_us(const struct real_setup *setup, unsigned bytes);

/* Of one size, which must have been measured. */
double real_echo_us(const struct real_echo *echo, double bytes);

/* 10^6 bytes a second at most; the size that reaches half of that. */
double real_echo_r_max(const struct real_echo *echo);
double real_echo_n_half(const struct real_echo *echo);

/* Sets the cost of a call so that a message of that size takes so long; PVM_ATM_CALL_COST has whole microseconds. */
void real_fit_call(struct real_setup *setup, unsigned bytes, double us);

/* The profile's costs of the daemons, and those with which 1 byte and REAL_LONG bytes take so long. */
struct real_daemons real_daemons_of(const char *profile);
void real_fit_daemons(struct real_setup *setup, double least_us, double most_us);

#endif
