/*
 * hostfile.h - host options, as a line of a hostfile or as pvm_addhosts() gives them, and whole hostfiles.
 *
 *   name [option=value ...]     a host to be started, with its options
 *   & name [option=value ...]   options for a host that is added later
 *   * option=value ...          defaults for the lines below, and those of the last such line for hosts added later
 *   # comment
 *
 * A "$" before the name allows several daemons on that machine. Options: lo so dx ep wd sp sl bx ip id at.
 */
#ifndef PVMD_HOSTFILE_H
#define PVMD_HOSTFILE_H

#include <stdbool.h>
#include <stddef.h>

#define PVMD_HOSTFILE_MAX ((size_t)16 << 20) /* bytes of a hostfile */
#define PVMD_OPTION_MAX   8191               /* bytes of one word */

/* An option's text is NULL if it was not given. */
struct pvmd_host_spec {
    char *name;
    bool later;        /* "&" */
    bool overload;     /* "$" */
    char *login;       /* lo= */
    char *start;       /* so=: "pw", "ms", "local", "ssh", "rsh" */
    char *daemon_path; /* dx= */
    char *exec_path;   /* ep= */
    char *working_dir; /* wd= */
    char *debugger;    /* bx= */
    char *ip;          /* ip= */
    char *vmid;        /* id= */
    char *atm_host;    /* at= */
    char *answer;      /* the line of a daemon started by hand, words such as ddpro<...>; only when adding */
    int speed;         /* sp=, 0: not given */
    int slots;         /* sl=, 0: not given */
};

struct pvmd_hostfile {
    struct pvmd_host_spec *hosts;
    size_t count, capacity;
    struct pvmd_host_spec defaults; /* of the last "*" line; its name is NULL */
};

/*
 * Reads one line; `text` need not end in NUL. Returns 0, PVMC_EFORMAT with the fault in why[size], or PVMC_ENOMEM. The
 * caller frees *spec in all cases. A line without words gives a spec without a name.
 */
int pvmd_host_spec_parse(const char *text, size_t length, struct pvmd_host_spec *spec, char *why, size_t size);

/* Copies options that *spec lacks from *defaults. Returns 0 or PVMC_ENOMEM. */
int pvmd_host_spec_default(struct pvmd_host_spec *spec, const struct pvmd_host_spec *defaults);

void pvmd_host_spec_free(struct pvmd_host_spec *spec);

/* Reads the text of a whole hostfile. Logs every fault as "file:line: fault" and returns the code of the first. */
int pvmd_hostfile_parse(const char *file, const char *text, size_t length, struct pvmd_hostfile *out);

/* Reads a hostfile from disk: also PVMC_ESYSTEM if it cannot be read, PVMC_ELIMIT if it is too large. Logged. */
int pvmd_hostfile_read(const char *path, struct pvmd_hostfile *out);

/* The line for this host, or NULL. */
const struct pvmd_host_spec *pvmd_hostfile_find(const struct pvmd_hostfile *f, const char *name);

void pvmd_hostfile_free(struct pvmd_hostfile *f);

/* Whether a text can be a host's name: it must mean nothing else to a shell or a command line. */
bool pvmd_host_name_is_valid(const char *name);

#endif
